import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../facts/operation-error.ts';
import { dispatch, type CommandEntry } from './dispatch.ts';

/** A command line of five commands; `loaded` tells which of their modules were imported. */
function commandLine() {
  const loaded: string[] = [];
  const entry = (name: string, command: () => Command): CommandEntry => ({
    name,
    summary: `about ${name}`,
    load: () => {
      loaded.push(name);
      return Promise.resolve({ command });
    },
  });
  const commands = [
    entry('look', () =>
      new Command('look')
        .option('--json', 'as JSON')
        .option('--fail-on <what>')
        .argument('[window]')
        .action((_window, options: { failOn?: string }) => {
          if (options.failOn !== undefined) process.exitCode = 2;
        }),
    ),
    entry('import', () =>
      new Command('import').option('--json').action(() => {
        throw new OperationError('no-file', 'samples.csv is not there', { hint: 'give the path of a file' });
      }),
    ),
    entry('spend', () =>
      new Command('spend').option('--json').action(() => {
        throw new OperationError('unknown-team', 'no team \u001b]0;owned\u0007x\n  is known', {
          hint: 'Known: \u001b[2J\u009b31mred, abc\u202etxt.exe\nDid you mean re\u200bd?',
        });
      }),
    ),
    entry('derive', () =>
      new Command('derive').option('--json').action(() => {
        throw new TypeError('x is undefined\nsecond line', { cause: new Error('the root of it') });
      }),
    ),
    entry('ledger', () =>
      new Command('ledger').addCommand(new Command('check').option('--json').action(() => undefined)),
    ),
  ];
  return { commands, loaded };
}

async function run(...argv: string[]) {
  const { commands, loaded } = commandLine();
  let out = '';
  let err = '';
  const exitCode = await dispatch(argv, '1.2.3', commands, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  process.exitCode = undefined; // A command's verdict must not become vitest's.
  return { exitCode, out, err, loaded };
}

const cases: Record<string, { argv: string[]; want: Partial<Awaited<ReturnType<typeof run>>> }> = {
  'a command that ends well is 0 and imports only itself': {
    argv: ['look', '7d'],
    want: { exitCode: 0, out: '', err: '', loaded: ['look'] },
  },
  'a command may answer with 2': { argv: ['look', '--fail-on', 'idle'], want: { exitCode: 2 } },
  'the version': { argv: ['--version'], want: { exitCode: 0, out: '1.2.3\n', loaded: [] } },
  'an error of the outside world is a line and a hint': {
    argv: ['import'],
    want: { exitCode: 1, out: '', err: 'bursar: samples.csv is not there\nhint: give the path of a file\n' },
  },
  'and an object for programs': {
    argv: ['import', '--json'],
    want: {
      exitCode: 1,
      out: '{"error":{"code":"no-file","message":"samples.csv is not there","hint":"give the path of a file"}}\n',
      err: '',
    },
  },
  'wherever the word stands': {
    argv: ['--json', 'import'],
    want: { exitCode: 1, err: '', loaded: ['import'] },
  },
  'names in a message and its hint are shown and not obeyed, line by line': {
    argv: ['spend'],
    want: {
      exitCode: 1,
      err: 'bursar: no team x\n  is known\nhint: Known: red, abctxt.exe\nDid you mean red?\n',
    },
  },
  'an unexpected error is one line that names --debug': {
    argv: ['derive'],
    want: {
      exitCode: 1,
      err: 'bursar: x is undefined\nhint: this was not expected; --debug shows where it happened\n',
    },
  },
  'a mistyped command names the nearest': {
    argv: ['lok'],
    want: { exitCode: 1, err: "bursar: unknown command 'lok'\nhint: Did you mean look?\n", loaded: [] },
  },
  'a command nothing is near to points at the list': {
    argv: ['xyzzy'],
    want: { exitCode: 1, err: "bursar: unknown command 'xyzzy'\nhint: see bursar --help\n" },
  },
  'a mistyped subcommand too': {
    argv: ['ledger', 'chek'],
    want: { exitCode: 1, err: "bursar: unknown command 'chek'\nhint: Did you mean check?\n" },
  },
  'an unknown option as JSON has the same shape': {
    argv: ['look', '--json', '--colour'],
    want: {
      exitCode: 1,
      out: '{"error":{"code":"usage","message":"unknown option \'--colour\'","hint":"see bursar look --help"}}\n',
      err: '',
    },
  },
  'an option without its value': {
    argv: ['look', '--fail-on'],
    want: {
      exitCode: 1,
      err: "bursar: option '--fail-on <what>' argument missing\nhint: see bursar look --help\n",
    },
  },
};

describe('the command line', () => {
  for (const [name, { argv, want }] of Object.entries(cases)) {
    it(name, async () => expect(await run(...argv)).toMatchObject(want));
  }

  it('lists every command without importing one', async () => {
    for (const argv of [[], ['--help'], ['help']]) {
      const { exitCode, out, loaded } = await run(...argv);
      expect({ exitCode, loaded }).toEqual({ exitCode: 0, loaded: [] });
      for (const name of ['look', 'import', 'derive', 'ledger']) expect(out).toContain(`about ${name}`);
    }
  });

  it('explains one command, in either order of the words', async () => {
    const { out, loaded } = await run('help', 'look');
    expect(out).toContain('bursar look [options] [window]');
    expect(loaded).toEqual(['look']);
    expect((await run('look', '--help')).out).toBe(out);
  });

  it('shows the stack and its cause only with --debug, and keeps stdout clean', async () => {
    const { err, out } = await run('derive', '--debug');
    expect(err).toMatch(/TypeError: x is undefined[\s\S]+at [\s\S]+caused by: Error: the root of it/);
    expect(out).toBe('');
  });

  it('and what the stack quotes is not obeyed either', async () => {
    const { err } = await run('spend', '--debug');
    expect(err).toMatch(/no team x\n {2}is known\n\s+at /);
    expect(err.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u200b\u202e]/u);
  });

  it('a group of commands says what it holds, and fails', async () => {
    const { exitCode, err } = await run('ledger');
    expect(exitCode).toBe(1);
    expect(err).toContain('check');
  });
});
