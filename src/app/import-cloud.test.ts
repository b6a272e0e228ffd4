import { copyFile, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloudImportReport } from '../report/cloud-import-report.ts';
import { takeCloudList } from './import-cloud.ts';
import { deriveLedger, withReader, withWriter } from './workspace.ts';

const samples = fileURLToPath(new URL('../sources/cloud/lists/samples/', import.meta.url));
const WRITTEN = new Date('2026-11-16T00:00:00Z');

let folder = '';
let dataDir = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-cloud-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function listOf(name: string): Promise<string> {
  const file = join(folder, name);
  await copyFile(join(samples, name), file);
  await utimes(file, WRITTEN, WRITTEN);
  return file;
}

interface HeldSeconds {
  readonly user_name: string | null;
  readonly model: string;
  readonly seconds: bigint;
  readonly unknown_s: bigint;
}

const heldSeconds = (): Promise<HeldSeconds[]> =>
  withReader(dataDir, (space) =>
    space.ask<HeldSeconds>({
      tables: [{ table: 'gpu_hour' }, { table: 'presence' }, { table: 'holding' }],
      sql: `
        WITH whose AS (SELECT DISTINCT allocation_id, user_name FROM holding),
             what AS (SELECT DISTINCT root_device_id, model FROM presence)
        SELECT w.user_name, p.model, CAST(sum(g.held_s) AS BIGINT) AS seconds,
               CAST(sum(CASE WHEN g.computing_units + g.idle_units = 0 THEN g.held_s ELSE 0 END) AS BIGINT) AS unknown_s
        FROM gpu_hour g JOIN whose w ON g.allocation_id = w.allocation_id JOIN what p ON g.root_device_id = p.root_device_id
        WHERE g.disposition = 'held' GROUP BY w.user_name, p.model ORDER BY seconds DESC`,
    }),
  );

describe('bursar import gcloud and az', () => {
  it('says what became of every machine of the list', async () => {
    const report = await takeCloudList({ dataDir, tool: 'gcloud', files: [await listOf('gcloud-instances.json')] });
    expect(cloudImportReport(report, ' --data x')).toEqual([
      'gcloud: 4 GPU machines with 15 GPUs of 6 listed, as of 2026-11-16T00:00Z',
      '  left out 1: no GPU, e.g. bastion (e2-medium)',
      '  left out 1: a machine type with GPUs nobody here knows, e.g. from-the-future (a9-hypergpu-8g)',
      "  1 of 4 machines say nobody's name: label them, e.g. gcloud compute instances add-labels vision-big --labels=owner=NAME,team=TEAM",
      'nodes: 4 rows taken (batch gcloud/gcloud-instances.json)',
      expect.stringMatching(/^allocations: 4 rows taken; 1\d{3}\.\d+ GPU-hours/) as string,
      'Next: bursar look --data x',
    ]);
  });

  it('the ledger holds each GPU for its owner up to when the list was written, and calls what nobody measured unknown', async () => {
    await takeCloudList({ dataDir, tool: 'gcloud', files: [await listOf('gcloud-instances.json')] });
    await withWriter(dataDir, 'test', async (space) => void (await deriveLedger(space)));
    const hour = 3600n;
    expect(await heldSeconds()).toEqual([
      { user_name: 'rosa', model: 'H100', seconds: 8n * 150n * hour, unknown_s: 8n * 150n * hour },
      { user_name: 'kenji', model: 'T4', seconds: 2n * (134n * hour - 9n), unknown_s: 2n * (134n * hour - 9n) },
      { user_name: null, model: 'TPU v5e', seconds: 4n * (55n * hour - 5n), unknown_s: 4n * (55n * hour - 5n) },
      { user_name: null, model: 'L4', seconds: (13n * hour) / 2n, unknown_s: (13n * hour) / 2n },
    ]);
  });

  it('az: from a pipe, twice, is the same list', async () => {
    const text = await readFile(join(samples, 'az-vm-list-d.json'));
    const once = () =>
      takeCloudList({ dataDir, tool: 'az', files: ['-'], stdin: Readable.from([text]), now: () => WRITTEN });
    expect(await once()).toMatchObject({ machines: 3, gpus: 10, listed: 6 });
    const again = await once();
    expect(again.tables.map(({ rowsTaken, rowsReplaced }) => [rowsTaken, rowsReplaced])).toEqual([
      [3, 3],
      [3, 3],
    ]);
  });

  it('a dry run into a folder that is not there leaves it so', async () => {
    const file = await listOf('az-vm-list-d.json');
    expect(await takeCloudList({ dataDir, tool: 'az', files: [file], dryRun: true })).toMatchObject({ machines: 3 });
    expect(existsSync(dataDir)).toBe(false);
  });

  it('a list without GPU machines is no error, and says what there is', async () => {
    const file = join(folder, 'none.json');
    await writeFile(file, '[]');
    expect(await takeCloudList({ dataDir, tool: 'gcloud', files: [file] })).toMatchObject({ listed: 0, machines: 0 });
  });

  it('lists of two projects in one command tell machines of one name apart', async () => {
    const file = await listOf('gcloud-instances.json');
    const other = join(folder, 'other.json');
    await writeFile(
      other,
      (await readFile(file, 'utf8')).replaceAll('heron-research', 'egret').replaceAll('"48102', '"58102'),
    );
    const { machines } = await takeCloudList({ dataDir, tool: 'gcloud', files: [file, other] });
    const nodes = await withReader(dataDir, (space) =>
      space.ask<{ nodes: bigint }>({
        tables: [{ table: 'node' }],
        sql: 'SELECT count(DISTINCT node_id) AS nodes FROM node',
      }),
    );
    expect([machines, nodes[0]?.nodes]).toEqual([8, 8n]);
  });

  it.each([
    ['missing.json', 'no-such-file', 'gcloud compute instances list --format=json > '],
    ['', 'unreadable-file', 'Check that it is a file'],
  ])('a file that cannot be read: %s', async (name, code, hint) => {
    const failure = takeCloudList({ dataDir, tool: 'gcloud', files: [join(folder, name)] });
    await expect(failure).rejects.toMatchObject({ code, hint: expect.stringContaining(hint) as string });
  });
});
