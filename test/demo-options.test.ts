import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { printWorld } from '../src/demo/world/print-world.ts';
import { PRESETS } from '../src/demo/world/presets.ts';
import type { World } from '../src/demo/world/world-schema.ts';
import { acquireWriterLock } from '../src/state/writer-lock.ts';
import { bursar, hashOf, printed } from './demo/bursar-command.ts';
import { schemaOffences } from './demo/json-schema.ts';

const TINY = ['--gpus', '6', '--days', '1', '--step', '1h'];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-demo-options-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A file of the folder with this text. */
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

describe('a demo that cannot be made', () => {
  const changed = (change: (world: World) => void): string => {
    const world = structuredClone(PRESETS.unmanaged);
    change(world);
    return printWorld(world);
  };
  /** What is typed after `bursar demo`, with the text of a world file if there is one, and what has to be said. */
  const cases: Record<string, { typed: string[]; world?: () => string; says: RegExp }> = {
    'no GPUs': { typed: ['--gpus', '0'], says: /--gpus 0 is not a whole number from 1 to 200000\nhint: A fleet needs/ },
    'GPUs that are owed': { typed: ['--gpus', '-5'], says: /--gpus -5 is not a whole number/ },
    'half a GPU': { typed: ['--gpus', '2.5'], says: /--gpus 2\.5 is not a whole number/ },
    'a billion GPUs': { typed: ['--gpus', '1e9'], says: /--gpus 1e9 is not a whole number from 1 to 200000/ },
    'more than anyone tried': { typed: ['--gpus', '200001'], says: /--gpus 200001 is not a whole number from 1/ },
    'no days': { typed: ['--days', '0'], says: /--days 0 is not a whole number from 1 to 366/ },
    'a step that leaves a rest': { typed: ['--step', '7m'], says: /--step 7m is not a step.*\nhint: From 10s to 1h/ },
    'a step of nothing': { typed: ['--step', '0m'], says: /--step 0m is not a step/ },
    'a step that is no length': { typed: ['--step', 'x'], says: /--step x is not a step/ },
    'a month too many': { typed: ['--until', '2026-13-01'], says: /--until 2026-13-01 is not a day/ },
    'a day too many': { typed: ['--until', '2026-02-29'], says: /--until 2026-02-29 is not a day/ },
    'a day in words': { typed: ['--until', 'tomorrow'], says: /--until tomorrow is not a day.*\nhint: .*midnight/ },
    'days before any that can be taken in': {
      typed: ['--until', '2000-03-01'],
      says: /--until 2000-03-01 is not a day from 2000-03-02 to 2099-12-01\nhint: .*midnight/,
    },
    'days after any that can be taken in': {
      typed: ['--until', '2099-12-02'],
      says: /--until 2099-12-02 is not a day from 2000-03-02 to 2099-12-01/,
    },
    'a seed below nothing': { typed: ['--seed', '-1'], says: /--seed -1 is not a whole number from 0 to 4294967295/ },
    'a world nobody has': {
      typed: ['--world', 'nosuch'],
      says: /no world nosuch, neither a file nor one of unmanaged/,
    },
    'a world misspelt': { typed: ['--world', 'wellrun'], says: /no world wellrun.*\(nearest: well-run\)/ },
    'a world that is a folder': { typed: ['--world', tmpdir()], says: /the world .* is a folder, not a file/ },
    'an empty world': { typed: [], world: () => '', says: /world\.yaml:1:1: the file is empty/ },
    'a world with a wrong number': {
      typed: [],
      world: () =>
        printWorld(PRESETS.unmanaged).replace('weekend_submissions_percent: ', 'weekend_submissions_percent: 7'),
      says: /world\.yaml:\d+:\d+: calendar\.weekend_submissions_percent: .*; Submissions on a weekend day/,
    },
    'a world with more jobs than anyone could run': {
      typed: [],
      world: () =>
        changed(({ habits }) =>
          Object.assign(
            habits.find(({ kind }) => kind === 'training')!,
            { load_percent: 500 },
          ),
        ),
      says: /world\.yaml:\d+:\d+: habits\[\d+\]\.load_percent: more jobs than anyone could run/,
    },
    'a fleet smaller than any machine': {
      typed: ['--gpus', '3'],
      world: () => changed(({ pools }) => pools.forEach((pool) => (pool.gpus_per_node = 8))),
      says: /a fleet of 3 has no machine: the smallest has 8 GPUs\nhint: .*--gpus 8/,
    },
  };

  it.each(Object.entries(cases))('%s: says why and leaves nothing behind', async (_, { typed, world, says }) => {
    const out = join(folder, 'never');
    const worldFlags = world === undefined ? [] : ['--world', file('world.yaml', world())];
    const said = await bursar('demo', '--out', out, ...TINY, ...typed, ...worldFlags);
    expect(said).toMatchObject({ exitCode: 1, out: '' });
    expect(said.err).toMatch(says);
    expect(said.err).toMatch(/^bursar: .*\n(.*\n)*hint: .*\n$/);
    expect(existsSync(out)).toBe(false);
  });
});

describe('somebody else’s folder is left alone', () => {
  it('where the data is not a demo’s', async () => {
    const data = join(folder, 'real');
    const samples = file('real.csv', 'device_id,ts,step_s,util_permille\nGPU-1,2026-10-01T00:00:00Z,60,500\n');
    await printed('import', 'samples', samples, '--data', data);
    const before = await hashOf(data);
    for (const flags of [[], ['--only-files']]) {
      const said = await bursar('demo', '--out', data, ...TINY, ...flags);
      expect(said).toMatchObject({ exitCode: 1, out: '' });
      expect(said.err).toContain(`${data} holds data that is not a demo's\nhint: Give the demo a folder of its own`);
      expect(existsSync(join(data, 'files'))).toBe(false);
    }
    expect(await hashOf(data)).toBe(before);
  });

  const files: Record<string, { names: string[]; says: string }> = {
    'where `files` holds something else': { names: ['notes.txt'], says: 'it holds notes.txt' },
    'where something was put beside a demo’s files': {
      names: ['world.yaml', 'truth.csv', 'my.ipynb'],
      says: 'it holds my.ipynb',
    },
    'where only the names are alike': { names: ['nodes.csv', 'devices.csv'], says: 'it holds no world.yaml' },
    'where only a world was kept': { names: ['world.yaml'], says: 'it holds no truth.csv' },
  };
  it.each(Object.entries(files))('%s', async (name, { names, says }) => {
    for (const flags of [[], ['--only-files']]) {
      const out = mkdtempSync(join(folder, 'theirs-'));
      mkdirSync(join(out, 'files'));
      for (const each of names) writeFileSync(join(out, 'files', each), name);
      const said = await bursar('demo', '--out', out, ...TINY, ...flags);
      expect(said).toMatchObject({ exitCode: 1, out: '' });
      expect(said.err).toContain(`${join(out, 'files')} is there and is not a demo's: ${says}`);
      expect(readdirSync(out)).toEqual(['files']);
      for (const each of names) expect(readFileSync(join(out, 'files', each), 'utf8')).toBe(name);
    }
  });

  it('where the folder is a file', async () => {
    for (const flags of [[], ['--only-files']]) {
      const said = await bursar('demo', '--out', file('plain', ''), ...TINY, ...flags);
      expect(said).toMatchObject({ exitCode: 1, out: '' });
      expect(said.err).toContain(`${join(folder, 'plain')} is not a folder\nhint: Choose another folder with --out.\n`);
    }
  });

  it.each([['at'], ['below']])('where it would be %s a link to nowhere', async (where) => {
    // Making folders one in the other says ENOENT here, as it does on a disk that is read-only.
    const link = join(mkdtempSync(join(folder, 'link-')), 'link');
    symlinkSync(join(folder, 'nowhere/deep'), link);
    const out = where === 'at' ? link : join(link, 'demo');
    for (const flags of [[], ['--only-files']]) {
      const said = await bursar('demo', '--out', out, ...TINY, ...flags);
      expect(said).toMatchObject({ exitCode: 1, out: '' });
      expect(said.err).toContain(`bursar: ${out} is not a folder\nhint: Choose another folder with --out.\n`);
    }
  });

  it('where somebody else is just writing', async () => {
    const out = join(folder, 'busy');
    const lock = await acquireWriterLock(out, { command: 'demo', pid: 7, now: () => new Date() });
    try {
      for (const flags of [[], ['--only-files']]) {
        const said = await bursar('demo', '--out', out, ...TINY, ...flags);
        expect(said).toMatchObject({ exitCode: 1, out: '' });
        expect(said.err).toMatch(/another bursar is writing to .* \(pid 7, `demo`.*\nhint: Wait .* with --out\. /);
        expect(existsSync(join(out, 'files'))).toBe(false);
      }
    } finally {
      lock.release();
    }
    await printed('demo', '--out', out, ...TINY, '--only-files');
    expect(readdirSync(out)).toEqual(['files']);
  });
});

describe('a folder of files', () => {
  it('is made anew, also after one that was never finished, and dated by the world’s clock', async () => {
    const out = join(folder, 'it’s a demo');
    mkdirSync(join(out, 'files.unfinished'), { recursive: true });
    writeFileSync(join(out, 'files.unfinished/world.yaml'), '');
    await printed('demo', '--out', out, ...TINY, '--only-files', '--days', '2');
    const commands = await printed('demo', '--out', out, ...TINY, '--only-files');
    expect(readdirSync(out)).toEqual(['files']);
    const names = readdirSync(join(out, 'files'));
    expect(names.filter((name) => name.startsWith('samples-'))).toEqual(['samples-2026-10-31.csv']);
    for (const name of names) {
      expect(statSync(join(out, 'files', name)).mtime).toEqual(new Date('2026-11-01T00:00:00Z'));
    }
    expect(commands).toContain(`bursar import nodes '${join(out, 'files/nodes.csv')}' --data '${out}'   # `);
    expect(commands).toContain(`bursar import samples '${join(out, 'files/samples-')}'*.csv`);
    expect(commands.trimEnd().split('\n').at(-1)).toBe(`bursar derive --data '${out}' && bursar look --data '${out}'`);
  });

  it('beside the ledger of a demo is made anew and leaves it whole', async () => {
    const out = join(folder, 'twice');
    await printed('demo', '--out', out, ...TINY);
    const [names, hash] = [readdirSync(out), await hashOf(out)];
    await printed('demo', '--out', out, ...TINY, '--only-files', '--seed', '2');
    expect(readdirSync(out)).toEqual(names);
    expect(await hashOf(out)).toBe(hash);
  });

  it('whose parts a killed demo left behind is made anew', async () => {
    const out = join(folder, 'killed');
    await printed('demo', '--out', out, ...TINY, '--only-files');
    rmSync(join(out, 'files/truth.csv'));
    rmSync(join(out, 'files/world.yaml'));
    for (const left of ['files.unfinished', 'files.replaced']) {
      mkdirSync(join(out, left));
      writeFileSync(join(out, left, 'nodes.csv'), '');
    }
    await printed('demo', '--out', out, ...TINY, '--only-files');
    expect(readdirSync(out)).toEqual(['files']);
    expect(readdirSync(join(out, 'files'))).toContain('truth.csv');
  });

  it('says which pools have no machine', async () => {
    const said = await bursar('demo', '--out', join(folder, 'few'), ...TINY, '--only-files');
    expect(said.err).toMatch(
      /\n {2}With 6 GPUs there is no .*reserved-h100.*: their machines are larger than their part\n/,
    );
  });
});

it('says to programs what was made', async () => {
  const said = JSON.parse(await printed('demo', '--out', join(folder, 'json'), ...TINY, '--only-files', '--json')) as {
    readonly files: readonly { readonly table: string | null; readonly path: string; readonly rows: number }[];
  };
  expect(said).toMatchObject({ folder: join(folder, 'json/files'), billedUsdMicros: expect.stringMatching(/^\d+$/) });
  for (const { path, rows } of said.files) {
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(rows + 2);
  }
  expect(said.files.filter(({ table }) => table === null).map(({ path }) => path)).toEqual([
    join(folder, 'json/files/truth.csv'),
  ]);
});

describe('a printed world', () => {
  it('is what the JSON Schema describes, and the schema sees what is wrong', async () => {
    const schema = JSON.parse(await printed('demo', '--print-schema')) as unknown;
    for (const name of Object.keys(PRESETS)) {
      const world = parse(await printed('demo', '--print-world', '--world', name)) as World;
      expect(schemaOffences(schema, world)).toEqual([]);
      Object.assign(world.pools[0]!, { gpus_per_node: 0, colour: 'red' });
      Object.assign(world.habits[0]!, { kind: 'dance' });
      expect(schemaOffences(schema, world)).toEqual([
        '$.pools[0].gpus_per_node: is below 1',
        '$.pools[0].colour: nobody knows it',
        '$.habits[0]: fits 0 of 5 choices',
      ]);
    }
  });

  it('makes the same demo as the one it was printed from, byte for byte', async () => {
    const world = file('printed.yaml', await printed('demo', '--print-world', '--world', 'well-run'));
    const [before, after] = [join(folder, 'preset'), join(folder, 'printed')];
    await printed('demo', '--only-files', ...TINY, '--out', before, '--world', 'well-run');
    await printed('demo', '--only-files', ...TINY, '--out', after, '--world', world);
    const names = readdirSync(join(before, 'files'));
    expect(readdirSync(join(after, 'files'))).toEqual(names);
    for (const name of names) {
      const [was, is] = [before, after].map((out) => readFileSync(join(out, 'files', name), 'utf8'));
      expect(is === was, name).toBe(true);
    }
  });
});
