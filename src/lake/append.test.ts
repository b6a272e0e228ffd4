import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { factTableByName } from '../facts/fact-table.ts';
import type { IncomingPart } from '../facts/incoming.ts';
import type { Batch, Manifest, ManifestChange } from '../facts/manifest.ts';
import { append } from './append.ts';
import type { AppendReport } from './append-report.ts';
import { hoursText } from './append-report.ts';
import type { Engine } from './engine.ts';
import { openEngine } from './engine.ts';

const table = factTableByName('rate');

/** A part as any source hands it over: a SELECT, here over values. */
function part(usd: string): IncomingPart {
  return {
    label: 'stated',
    select: `SELECT 'H100' AS model, '' AS node_id, TIMESTAMP '2026-10-01 00:00:00' AS valid_from, CAST(NULL AS TIMESTAMP) AS valid_until,
      CAST(${usd} AS DECIMAL(38,18)) AS usd_per_gpu_hour, CAST(NULL AS VARCHAR) AS rate_source, CAST(NULL AS TIMESTAMP) AS observed_at,
      CAST(NULL AS VARCHAR) AS problem, false AS carried`,
    rereadable: false,
    clean: true,
    known: new Set(),
    inRange: new Set(),
    given: new Set(['model', 'usd_per_gpu_hour']),
    origins: new Map(),
    place: (row) => Promise.resolve(`row ${row}`),
    explain: (failure) => Promise.resolve(failure),
  };
}

/** A manifest in memory, which can be told to refuse. */
class KeptInMemory implements Manifest {
  batches: Batch[] = [];
  refuses = false;
  snapshot = () => ({ generation: 1, committedAt: '', batches: this.batches, derived: [] });
  commit = ({ addBatches = [], dropBatches = [] }: ManifestChange): number => {
    if (this.refuses) throw new Error('the commit failed');
    const isDropped = ({ name }: Batch): boolean => dropBatches.some((dropped) => dropped.name === name);
    this.batches = [...this.batches.filter((batch) => !isDropped(batch)), ...addBatches];
    return 2;
  };
  takeDeadFiles = () => [];
}

let dataDir: string;
let engine: Engine;
let manifest: KeptInMemory;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bursar-append-'));
  engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
  manifest = new KeptInMemory();
});
afterEach(async () => {
  engine.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function take(usd: string, onStep?: (step: string) => void): Promise<AppendReport> {
  const workDir = join(dataDir, 'tmp');
  await mkdir(workDir, { recursive: true });
  try {
    return await append(engine, dataDir, manifest, {
      table,
      batches: [{ name: 'stated', importedFrom: 'here', priority: 0, parts: [part(usd)] }],
      workDir,
      dryRun: false,
      ...(onStep !== undefined && { onStep }),
    });
  } finally {
    await rm(workDir, { recursive: true });
  }
}

async function filesOnDisk(): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1));
}

describe('append', () => {
  it('goes by write, fsync, rename, commit', async () => {
    const steps: string[] = [];
    await take('1.95', (step) => steps.push(step));
    expect(steps).toEqual(['write', 'fsync', 'rename', 'settled', 'commit']);
    const [batch] = manifest.batches;
    expect(batch).toMatchObject({ name: 'stated', observedAt: '2026-10-01 00:00:00', firstAt: null, newestAt: null });
    expect(await filesOnDisk()).toEqual(batch?.files.map(({ path }) => path));
    expect(batch?.files[0]?.path).toMatch(/^rate\/day=2026-10-01\/[0-9a-f]{16}\.parquet$/);
  });

  it('replaces a batch of the same name, and leaves the old file to the manifest', async () => {
    await take('1.95');
    expect(await take('2.05')).toMatchObject({ rowsTaken: 1, rowsReplaced: 1 });
    expect(manifest.batches).toHaveLength(1);
    expect(await filesOnDisk()).toHaveLength(2);
  });

  it.each(['fsync', 'rename', 'commit'])('takes its files back when %s fails', async (failing) => {
    const failure = take('1.95', (step) => {
      if (step === failing) throw new Error(`no ${step}`);
    });
    await expect(failure).rejects.toThrow(`no ${failing}`);
    expect(await filesOnDisk()).toEqual([]);
  });

  it('leaves whole files to the sweep when the manifest fails: it alone knows whether they were listed', async () => {
    manifest.refuses = true;
    await expect(take('1.95')).rejects.toThrow('the commit failed');
    expect(await filesOnDisk()).toEqual([expect.stringMatching(/\.parquet$/)]);
  });
});

describe('hoursText', () => {
  it.each([
    [0n, 1n, '0'],
    [3600n, 1n, '1'],
    [360_000n, 1n, '100'],
    [1_824_886n, 1n, '506.9128'],
    [1n, 1n, '0.0003'],
    [63_000n * 1800n, 63_000n, '0.5'],
  ])('%d unit-seconds of %d are %s hours', (seconds, units, want) => {
    expect(hoursText(seconds, units)).toBe(want);
  });
});
