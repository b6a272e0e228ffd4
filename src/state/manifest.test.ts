import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Batch, DerivedUnit, LakeFile } from '../facts/manifest.ts';
import { loadSqlite } from './database.ts';
import type { OpenManifest } from './manifest.ts';
import { openManifest } from './manifest.ts';

let dataDir: string;
let now: Date;
const clock = () => now;
const opened: OpenManifest[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'bursar-manifest-'));
  now = new Date('2026-11-14T10:00:00Z');
});
afterEach(() => {
  for (const manifest of opened.splice(0)) manifest.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function open(readOnly = false): Promise<OpenManifest> {
  const manifest = await openManifest(dataDir, { readOnly, now: clock });
  opened.push(manifest);
  return manifest;
}

const file = (path: string, contentHash = `hash of ${path}`): LakeFile => ({
  path,
  table: 'gpu_sample',
  partition: '2026-11-01',
  rows: 120_000,
  bytes: 1_500_000,
  contentHash,
});

const batch = (name: string, files: readonly LakeFile[]): Batch => ({
  table: 'gpu_sample',
  name,
  origin: name,
  importedFrom: `${name}.csv`,
  priority: 10,
  observedAt: '2026-11-01T23:59:30Z',
  firstAt: '2026-11-01T00:00:00Z',
  newestAt: '2026-11-01T23:59:30Z',
  files,
});

const derived = (unit: string, lakeFile: LakeFile | null): DerivedUnit => ({
  table: 'held',
  unit,
  inputHash: `inputs of ${unit}`,
  file: lakeFile,
});

describe('what was committed is read back', () => {
  it('a new manifest is empty, of generation 0', async () => {
    const manifest = await open();
    expect(manifest.snapshot()).toEqual({
      generation: 0,
      committedAt: '2026-11-14T10:00:00.000Z',
      batches: [],
      derived: [],
    });
  });

  it('every field of a batch, a bill and a derived unit, by another connection', async () => {
    const range = {
      keyMin: 'GPU-0',
      keyMax: 'GPU-9',
      timeMin: '2026-11-01T00:00:00Z',
      timeMax: '2026-11-01T23:59:30Z',
    };
    const samples = { ...batch('a', [{ ...file('s/2'), range }, file('s/1')]), firstAt: null, newestAt: null };
    const bill: Batch = {
      ...batch('AWS|1|2026-10', [file('c/1')]),
      table: 'charge',
      origin: 'october.csv',
      clusters: ['train-a', null],
      bill: {
        billId: 'AWS|1|2026-10',
        provider: 'AWS',
        billingAccount: '1',
        currency: 'USD',
        periodStart: '2026-10-01T00:00:00Z',
        periodEnd: '2026-11-01T00:00:00Z',
        coveredUntil: null,
        firstDay: '2026-10-01',
        lastDay: '2026-10-31',
      },
    };
    const units: DerivedUnit[] = [
      { ...derived('AWS|1|2026-10', file('d/1')), dayHashes: { '2026-10-01': 'x', '2026-10-02': 'y' } },
      derived('2026-11-01', null),
    ];
    expect((await open()).commit({ addBatches: [samples, bill], setDerived: units })).toBe(1);
    expect((await open(true)).snapshot()).toEqual({
      generation: 1,
      committedAt: '2026-11-14T10:00:00.000Z',
      batches: [bill, samples],
      derived: [units[1], units[0]],
    });
  });

  it('a batch of the same name is replaced whole', async () => {
    const manifest = await open();
    manifest.commit({ addBatches: [batch('a', [file('s/1'), file('s/2')]), batch('b', [file('s/3')])] });
    manifest.commit({ addBatches: [batch('a', [file('s/4')])] });
    const paths = manifest.snapshot().batches.map((each) => each.files.map((lakeFile) => lakeFile.path));
    expect(paths).toEqual([['s/4'], ['s/3']]);
  });

  it('batches and units are dropped by name; what is not there is not missed', async () => {
    const manifest = await open();
    manifest.commit({ addBatches: [batch('a', [file('s/1')])], setDerived: [derived('2026-11-01', file('d/1'))] });
    manifest.commit({
      dropBatches: [
        { table: 'gpu_sample', name: 'a' },
        { table: 'gpu_sample', name: 'z' },
      ],
      dropDerived: [{ table: 'held', unit: '2026-11-01' }],
    });
    expect(manifest.snapshot()).toMatchObject({ generation: 2, batches: [], derived: [] });
  });

  it('a derived file that keeps its path has its new content', async () => {
    const manifest = await open();
    manifest.commit({ setDerived: [derived('2026-11-01', file('d/1', 'old'))] });
    manifest.commit({ setDerived: [derived('2026-11-01', file('d/1', 'new'))] });
    expect(manifest.snapshot().derived[0]?.file?.contentHash).toBe('new');
    expect(manifest.takeDeadFiles(0)).toEqual([]);
  });

  it('a change that fails half way changes nothing', async () => {
    const manifest = await open();
    manifest.commit({ addBatches: [batch('a', [file('s/1')])] });
    const before = manifest.snapshot();
    const twice = batch('b', [file('s/2'), file('s/2')]);
    const change = { dropBatches: [{ table: 'gpu_sample', name: 'a' }], addBatches: [twice] };
    expect(() => manifest.commit(change)).toThrow('UNIQUE');
    expect(manifest.snapshot()).toEqual(before);
    expect(manifest.takeDeadFiles(0)).toEqual([]);
  });
});

describe('dead files', () => {
  it('are handed out once, after their time', async () => {
    const manifest = await open();
    manifest.commit({ addBatches: [batch('a', [file('s/1'), file('s/2')])], setDerived: [derived('1', file('d/1'))] });
    now = new Date('2026-11-14T10:01:00Z');
    manifest.commit({ addBatches: [batch('a', [file('s/2')])], dropDerived: [{ table: 'held', unit: '1' }] });
    now = new Date('2026-11-14T10:10:59Z');
    expect(manifest.takeDeadFiles(600)).toEqual([]);
    expect([...manifest.keptFiles()].toSorted()).toEqual(['d/1', 's/1', 's/2']);
    now = new Date('2026-11-14T10:11:00Z');
    expect(manifest.takeDeadFiles(600)).toEqual(['d/1', 's/1']);
    expect(manifest.takeDeadFiles(600)).toEqual([]);
    expect([...manifest.keptFiles()]).toEqual(['s/2']);
  });

  it('a file that another batch still lists is alive', async () => {
    const manifest = await open();
    manifest.commit({ addBatches: [batch('a', [file('s/1')]), batch('b', [file('s/1')])] });
    manifest.commit({ dropBatches: [{ table: 'gpu_sample', name: 'a' }] });
    expect(manifest.takeDeadFiles(0)).toEqual([]);
    manifest.commit({ dropBatches: [{ table: 'gpu_sample', name: 'b' }] });
    expect(manifest.takeDeadFiles(0)).toEqual(['s/1']);
  });

  it('a file that is listed again before it was swept is alive, and dies anew', async () => {
    const manifest = await open();
    const drop = { dropBatches: [{ table: 'gpu_sample', name: 'a' }] };
    manifest.commit({ addBatches: [batch('a', [file('s/1')])] });
    manifest.commit(drop);
    now = new Date('2026-11-14T11:00:00Z');
    manifest.commit({ addBatches: [batch('a', [file('s/1')])] });
    expect(manifest.takeDeadFiles(0)).toEqual([]);
    manifest.commit(drop);
    expect(manifest.takeDeadFiles(600)).toEqual([]);
    expect(manifest.takeDeadFiles(0)).toEqual(['s/1']);
  });
});

describe('steps of a commit', () => {
  it('are told in order, with the state each would leave behind', async () => {
    const reader = async () => (await open(true)).snapshot().generation;
    const steps: string[] = [];
    await open();
    const live = await open(true);
    const manifest = await openManifest(dataDir, {
      readOnly: false,
      now: clock,
      onStep: (step) => steps.push(`${step}: ${live.snapshot().generation}`),
    });
    opened.push(manifest);
    manifest.commit({ addBatches: [batch('a', [file('s/1')])] });
    expect(steps).toEqual(['manifest: before begin: 0', 'manifest: before commit: 0', 'manifest: after commit: 1']);
    expect(await reader()).toBe(1);
  });
});

describe('a folder that cannot be used says why', () => {
  it('no folder yet', async () => {
    rmSync(dataDir, { recursive: true });
    await expect(open(true)).rejects.toMatchObject({
      code: 'no-data',
      hint: expect.stringMatching(/bursar import.*bursar demo/),
    });
  });

  it('a state file that its first writer never got to fill', async () => {
    writeFileSync(join(dataDir, 'state.sqlite'), '');
    await expect(open(true)).rejects.toMatchObject({ code: 'no-data' });
  });

  it.each([true, false])('a file that is not SQLite (read-only: %s)', async (readOnly) => {
    writeFileSync(join(dataDir, 'state.sqlite'), 'gpu,cost\n'.repeat(1000));
    await expect(open(readOnly)).rejects.toMatchObject({ code: 'not-a-data-folder' });
  });

  it.each([true, false])('a SQLite file of someone else (read-only: %s)', async (readOnly) => {
    const other = (await loadSqlite())(join(dataDir, 'state.sqlite'), { mode: 'write', busyTimeoutMs: 0 });
    other.exec('CREATE TABLE bookmark (url TEXT)');
    other.close();
    await expect(open(readOnly)).rejects.toMatchObject({ code: 'not-a-data-folder' });
  });

  it.each([true, false])('a newer format (read-only: %s)', async (readOnly) => {
    await open();
    const newer = (await loadSqlite())(join(dataDir, 'state.sqlite'), { mode: 'write', busyTimeoutMs: 0 });
    newer.exec('UPDATE meta SET format_version = 2');
    newer.close();
    await expect(open(readOnly)).rejects.toMatchObject({
      code: 'newer-format',
      message: `${dataDir} was written by a newer bursar: its format is 2, this one knows up to 1`,
    });
  });

  it('a file where the folder should be', async () => {
    const taken = join(dataDir, 'taken');
    writeFileSync(taken, '');
    await expect(openManifest(taken, { readOnly: false, now: clock })).rejects.toMatchObject({
      code: 'not-a-data-folder',
    });
  });

  it('a reader that is asked to write is a mistake of ours', async () => {
    await open();
    const reader = await open(true);
    expect(() => reader.commit({})).toThrow('opened for reading');
    expect(() => reader.takeDeadFiles(0)).toThrow('opened for reading');
  });
});

describe('speed', () => {
  it('a snapshot of 5,000 files takes milliseconds', async () => {
    const manifest = await open();
    const day = (index: number) => new Date(Date.UTC(2026, 7, 1 + index)).toISOString().slice(0, 10);
    const hash = 'f'.repeat(64);
    manifest.commit({
      addBatches: Array.from({ length: 90 }, (_, index) =>
        batch(
          `samples ${day(index)}`,
          Array.from({ length: 46 }, (__, part) => file(`gpu_sample/day=${day(index)}/part-${part}.parquet`, hash)),
        ),
      ),
      setDerived: Array.from({ length: 900 }, (_, index) =>
        derived(day(index), file(`held/day=${day(index)}/${hash}.parquet`, hash)),
      ),
    });
    const cpuMs = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage();
      const snapshot = manifest.snapshot();
      const { user, system } = process.cpuUsage(before);
      expect(snapshot.batches.length + snapshot.derived.length).toBe(990);
      return (user + system) / 1000;
    });
    // CPU time, and the best of five: the promise is about the work, not about what else the machine does.
    expect(Math.min(...cpuMs)).toBeLessThan(20);
  });
});
