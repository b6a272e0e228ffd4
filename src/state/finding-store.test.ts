import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFindingWriter } from './finding-store.ts';
import type { OpenManifest } from './manifest.ts';
import { openManifest } from './manifest.ts';
import { acquireWriterLock } from './writer-lock.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const now = (): Date => new Date('2026-03-02T10:00:00Z');

let folder: string;
let dataDir: string;
let manifest: OpenManifest;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-findings-'));
  dataDir = join(folder, 'data');
  manifest = await openManifest(dataDir, { readOnly: false, now });
});
afterEach(() => {
  manifest.close();
  rmSync(folder, { recursive: true, force: true });
});

const claim = (key: string) => ({ key, what: `thing ${key}`, subjects: [], isTold: true });
const look = (at: string, keys: readonly string[]) => ({ at, claimed: keys.map(claim), silentKeys: new Set<string>() });

it('numbers are given in order of rank, and never twice', async () => {
  const writer = await openFindingWriter(dataDir);
  const numbers = (keys: readonly string[], at: string): Record<string, number> =>
    Object.fromEntries(writer.look(look(at, keys)).map(({ key, number }) => [key, number]));
  expect(numbers(['b', 'a'], '2026-03-02T10:00:00Z')).toEqual({ b: 1, a: 2 });
  expect(numbers(['c', 'a'], '2026-03-02T11:00:00Z')).toEqual({ b: 1, a: 2, c: 3 });
  expect(writer.records().map(({ state }) => state)).toEqual(['fixed', 'open', 'open']);
  writer.close();
});

it('what is too small to be told gets no number, and keeps the one it has', async () => {
  const writer = await openFindingWriter(dataDir);
  const small = { ...look('2026-03-02T11:00:00Z', []), claimed: [{ ...claim('a'), isTold: false }] };
  expect(writer.look(small)).toEqual([]);
  writer.look(look('2026-03-02T11:00:00Z', ['a']));
  expect(writer.look({ ...small, at: '2026-03-02T12:00:00Z' })).toMatchObject([{ number: 1, state: 'open' }]);
  writer.close();
});

it.each([
  ['that claims it in other words', ['a'], 'thing a', 'open'],
  ['that claims what is fixed since', [], 'thing a', 'fixed'],
])('a look at older facts %s changes nothing of what newer ones said', async (_, newest, what, state) => {
  const writer = await openFindingWriter(dataDir);
  writer.look(look('2026-03-02T11:00:00Z', ['a']));
  const kept = writer.look(look('2026-03-02T12:00:00Z', newest));
  const older = { ...look('2026-03-01T00:00:00Z', []), claimed: [{ ...claim('a'), what: 'as it was' }] };
  expect(writer.look(older)).toEqual(kept);
  expect(kept).toMatchObject([{ what, state }]);
  writer.close();
});

it('what changes nothing leaves no line in the history', async () => {
  const writer = await openFindingWriter(dataDir);
  writer.look(look('2026-03-02T11:00:00Z', ['a']));
  const wish = { at: '2026-03-02T12:00:00Z', change: 'reopen', detail: 'again', until: null, by: 'kim' } as const;
  expect(writer.change(1, wish)).toMatchObject({ isKept: true, record: { state: 'open', by: null } });
  expect(writer.history(1).map(({ change }) => change)).toEqual(['found']);
  writer.close();
});

describe('of two who saw the same', () => {
  const wish = { at: '2026-03-02T12:00:00Z', change: 'accept', detail: null, until: null } as const;

  it('the first assigns it, and the other is told who has it now', async () => {
    const [one, two] = [await openFindingWriter(dataDir), await openFindingWriter(dataDir)];
    one.look(look('2026-03-02T11:00:00Z', ['a']));
    const assign = { ...wish, change: 'assign', seen: 'open', seenAssignedTo: null } as const;
    expect(one.change(1, { ...assign, by: 'kim', detail: 'kim' })).toMatchObject({ isKept: true });
    expect(two.change(1, { ...assign, by: 'lee', detail: 'lee' })).toMatchObject({
      isKept: false,
      record: { state: 'open', assignedTo: 'kim' },
    });
    const again = { ...assign, by: 'lee', detail: 'lee', seenAssignedTo: 'kim' };
    expect(two.change(1, again)).toMatchObject({ isKept: true, record: { assignedTo: 'lee' } });
    for (const writer of [one, two]) writer.close();
  });

  it('the first decides, and the other is told what it is now', async () => {
    const [one, two] = [await openFindingWriter(dataDir), await openFindingWriter(dataDir)];
    one.look(look('2026-03-02T11:00:00Z', ['a']));
    expect(one.change(1, { ...wish, by: 'kim', seen: 'open' })).toMatchObject({ isKept: true });
    expect(two.change(1, { ...wish, by: 'lee', seen: 'open' })).toMatchObject({
      isKept: false,
      record: { state: 'accepted', by: 'kim' },
    });
    expect(two.history(1).map(({ by }) => by)).toEqual([null, 'kim']);
    for (const writer of [one, two]) writer.close();
  });

  it('back is what a look that writes nothing shows of one that is kept as fixed', async () => {
    const writer = await openFindingWriter(dataDir);
    writer.look(look('2026-03-02T11:00:00Z', ['a']));
    writer.look(look('2026-03-02T12:00:00Z', []));
    expect(writer.change(1, { ...wish, by: 'kim', seen: 'open' })).toMatchObject({ isKept: false });
    expect(writer.change(1, { ...wish, by: 'kim', seen: 'back' })).toMatchObject({ isKept: true });
    writer.close();
  });
});

it('a collector that holds the lake is not in the way, and a reader sees the numbers', async () => {
  const lock = await acquireWriterLock(dataDir, { command: 'collect', pid: process.pid, now });
  const reader = await openManifest(dataDir, { readOnly: true, now });
  expect(reader.findings.records()).toEqual([]);
  const writer = await openFindingWriter(dataDir);
  writer.look(look('2026-03-02T11:00:00Z', ['a']));
  writer.close();
  expect(reader.findings.records()).toMatchObject([{ number: 1, key: 'a' }]);
  expect(reader.findings.history(1)).toMatchObject([{ change: 'found', by: null }]);
  reader.close();
  lock.release({ leavesMess: false });
});

it('processes that look at once give each thing one number', async () => {
  const program = join(folder, 'program.ts');
  writeFileSync(
    program,
    `import { openFindingWriter } from ${JSON.stringify(join(repository, 'src/state/finding-store.ts'))};
    const claimed = Array.from({ length: 200 }, (_, n) => ({ key: 'k' + n, what: 'w', subjects: [], isTold: true }));
    const writer = await openFindingWriter(${JSON.stringify(dataDir)});
    for (let n = 1; n <= 200; n += 20)
      writer.look({ at: '2026-03-02T11:00:00Z', claimed: claimed.slice(0, n), silentKeys: new Set() });
    writer.close();`,
  );
  const start = `
    import { runnerImport } from 'vite';
    await runnerImport(${JSON.stringify(program)}, { configFile: false, logLevel: 'silent' });`;
  const children = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module', '--eval', start], { cwd: repository, stdio: 'inherit' }),
  );
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number));
  expect(codes).toEqual([0, 0, 0]);
  const writer = await openFindingWriter(dataDir);
  const records = writer.records();
  expect(records.map(({ key }) => key)).toEqual(Array.from({ length: 181 }, (_, n) => `k${n}`));
  expect(records.map(({ number }) => number)).toEqual(Array.from({ length: 181 }, (_, n) => n + 1));
  expect(records.map(({ number }) => writer.history(number).length)).toEqual(records.map(() => 1));
  writer.close();
});
