import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askRoute } from '../../../test/ask-route.ts';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { sourcesRoute } from '../../api/routes/sources/list-sources.ts';
import type { SourcesReply } from '../../api/routes/sources/list-sources.ts';
import { DEMO_BATCH } from '../../app/demo/demo-mark.ts';
import { importFiles } from '../../app/import.ts';
import { withWriter } from '../../app/workspace.ts';
import { dispatch } from '../dispatch.ts';

/** Newer than any clock this runs by, as a demo may be. */
const ASKED = new Date('2097-03-02T09:00:00Z');
const RECORD = {
  name: 'rack',
  kind: 'scrape',
  reads: 'what exporters measure',
  pollS: 60,
  firstTriedAt: ASKED,
  lastTriedAt: ASKED,
  lastOkAt: ASKED,
  coveredUntil: ASKED,
  rows: { gpu_sample: 12_840 },
  skipped: [],
  gaps: [],
} as const;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-sources-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A folder with one node and one source; the node came under this name. */
async function folderOf(batch: string): Promise<string> {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const file = join(folder, 'nodes.csv');
  await writeFile(file, 'node_id,present_from,present_until\na1,2097-03-02T08:00:00Z,2097-03-02T09:00:00Z\n');
  await withWriter(dataDir, 'test', async (space) => {
    await importFiles({ ...space, table: 'nodes', files: [file], batch });
    space.sources.save({ record: RECORD });
  });
  return dataDir;
}

async function sources(dataDir: string, ...flags: string[]): Promise<string> {
  let said = '';
  const entry = { name: 'sources', summary: '', load: () => import('./sources.ts') };
  const exitCode = await dispatch(['sources', '--data', dataDir, ...flags], '0', [entry], {
    stdout: { write: (text) => (said += text) },
    stderr: { write: (text) => (said += text) },
  });
  expect(exitCode, said).toBe(0);
  return said;
}

test('a demo says so on every line, and is asked as of its own end', async () => {
  const dataDir = await folderOf(`${DEMO_BATCH}nodes.csv`);
  expect((await sources(dataDir)).trimEnd().split('\n')).toEqual([
    'DEMO  SOURCE  KIND    STATE                    READ TO  GAPS  ROWS',
    'DEMO  rack    scrape  not asked since 2 h ago  2 h ago  none  12,840 samples',
    '',
    'DEMO  TABLE  ROWS  PARTS  FROM              TO',
    'DEMO  node      1      1  2097-03-02 08:00  2097-03-02 09:00',
  ]);
  expect(JSON.parse(await sources(dataDir, '--json'))).toMatchObject({ sources: [{ name: 'rack', state: 'late' }] });
});

test('of what was imported: what is in the folder, how much of it was measured, and the same for programs', async () => {
  const fleet = await fleetFolder(SMALL_FLEET);
  const said = await sources(fleet.dataDir);
  expect(said).toMatch(
    /^nothing is collected here: what is below was imported \(bursar init finds sources\)\n\nCLUSTER/,
  );
  expect(said).toContain('Held GPU time that was measured in the 48 hours to 2026-03-02 12:00 UTC');
  expect(said).toMatch(/\na +4 +25 % +2026-03-02 10:00 +\$11\.38\n/);
  expect(said).toMatch(/\ngpu_sample +36 +1 +2026-03-02 08:00 +2026-03-02 10:00\n/);
  const page = await askRoute<SourcesReply>(fleet.dataDir, sourcesRoute);
  const { asOf: _, ...json } = page;
  expect(JSON.parse(await sources(fleet.dataDir, '--json'))).toMatchObject(json);
  await fleet.remove();
});

test('a folder with nothing in it says how to begin', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  await withWriter(dataDir, 'test', async () => undefined);
  expect((await sources(dataDir)).split('\n')[1]).toBe('bursar init finds your sources, bursar collect reads them');
});

test('what people run carries no mark', async () => {
  const said = await sources(await folderOf('nodes.csv'));
  expect(said).toMatch(/^SOURCE +KIND/);
  expect(said).not.toContain('DEMO');
});
