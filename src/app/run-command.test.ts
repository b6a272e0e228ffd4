import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from './run-command.ts';

const limits = { signal: new AbortController().signal, timeoutMs: 10_000, outputBytesMax: 100_000 };
const node = (script: string): string[] => [process.execPath, '-e', script];

async function until(condition: () => boolean): Promise<void> {
  const lastTry = Date.now() + 5000;
  while (!condition() && Date.now() < lastTry) await new Promise((resolve) => setImmediate(resolve));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a program', () => {
  it('gives what it printed, also where it failed', async () => {
    const result = await runCommand(node('console.log("out"); console.error("err"); process.exit(3)'), limits);
    expect(result).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  it('gets its arguments as they are: there is no shell to obey them', async () => {
    const evil = '$(echo obeyed); `id` && rm -rf "x" * ~';
    const { stdout } = await runCommand([...node('console.log(process.argv[1])'), evil], limits);
    expect(stdout).toBe(`${evil}\n`);
  });

  it('has no input to wait for', async () => {
    const { stdout } = await runCommand(
      node('process.stdin.on("data", () => {}).on("end", () => console.log("end"))'),
      limits,
    );
    expect(stdout).toBe('end\n');
  });

  it('speaks the language parsers know, and takes more environment', async () => {
    const { stdout } = await runCommand(node('console.log(process.env.LC_ALL, process.env.EXTRA)'), {
      ...limits,
      env: { EXTRA: 'yes' },
    });
    expect(stdout).toBe('C yes\n');
  });

  it('that is not there is an error with a hint', async () => {
    await expect(runCommand(['bursar-no-such-program'], limits)).rejects.toMatchObject({
      code: 'no-program',
      hint: expect.stringContaining('command_prefix'),
    });
  });

  it.each([
    ['one that hangs', 'setInterval(() => {}, 1000)', { timeoutMs: 300 }, 'timeout'],
    [
      'one that does not listen',
      'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)',
      { timeoutMs: 300 },
      'timeout',
    ],
    [
      'one that never stops talking',
      'const go = () => process.stdout.write("x".repeat(65536), go); go()',
      { outputBytesMax: 1_000_000 },
      'too-large',
    ],
  ])('is ended: %s', async (_, script, limit, code) => {
    await expect(runCommand(node(script), { ...limits, ...limit })).rejects.toMatchObject({ code });
  });

  it('is ended by the signal, with everything it started', async () => {
    const stop = new AbortController();
    const child = `const { spawn } = require('node:child_process');
      const grandchild = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      process.stderr.write(String(grandchild.pid));
      setInterval(() => {}, 1000);`;
    const folder = await mkdtemp(join(tmpdir(), 'bursar-run-'));
    try {
      const file = join(folder, 'pid');
      const script = child.replace(
        'process.stderr.write(',
        `require('node:fs').writeFileSync(${JSON.stringify(file)}, `,
      );
      const running = runCommand(node(script), { ...limits, signal: stop.signal });
      running.catch(() => undefined);
      let pid = 0;
      const lastTry = Date.now() + 5000;
      while (pid === 0 && Date.now() < lastTry) pid = Number(await readFile(file, 'utf8').catch(() => '0'));
      expect(isAlive(pid)).toBe(true);
      stop.abort();
      await expect(running).rejects.toMatchObject({ code: 'stopped' });
      await until(() => !isAlive(pid));
      expect(isAlive(pid)).toBe(false);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is not even waited for when the signal came before', async () => {
    await expect(
      runCommand(node('setInterval(() => {}, 1000)'), { ...limits, signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      code: 'stopped',
    });
  });
});
