import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { telemetryReport } from '../report/telemetry-report.ts';
import { takeTelemetry } from './import-telemetry.ts';
import type { TelemetryFileReport } from './import-telemetry.ts';
import { withReader } from './workspace.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-telemetry-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const WRITTEN = new Date('2026-11-16T10:00:00Z');
async function file(name: string, text: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await utimes(path, WRITTEN, WRITTEN);
  return path;
}
const rowsInto = (report: TelemetryFileReport) =>
  Object.fromEntries(report.tables.map(({ table, rowsTaken }) => [table, rowsTaken]));

const SCRAPE = `# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",modelName="H100"} 97
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",Hostname="n1",modelName="H100"} 2147483632
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",Hostname="n1",modelName="H100"} 61
DCGM_FI_DEV_POWER_USAGE 1

oops{
vllm:prompt_tokens_total{model_name="m"} 5
`;
const QUERY_CSV = `timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB], power.draw [W]
2026/11/16 10:00:00.123, 0, GPU-a, NVIDIA H100, 97 %, 61440 MiB, 612.40 W
2026/11/16 10:00:30.123, 0, GPU-a, NVIDIA H100, [N/A], 61440 MiB, [Unknown Error]
`;

describe('what is taken', () => {
  it('can be asked for, and replaces itself', async () => {
    const dataDir = join(folder, 'data');
    const files = [await file('n1.prom', SCRAPE), await file('box.csv', QUERY_CSV)];
    const first = await takeTelemetry({ dataDir, files });
    const again = await takeTelemetry({ dataDir, files });
    expect(first.files.map(rowsInto)).toEqual([
      { samples: 1, devices: 1, nodes: 1 },
      { samples: 2, devices: 1, nodes: 1 },
    ]);
    expect(again.files[0]?.tables.map(({ rowsReplaced }) => rowsReplaced)).toEqual([1, 1, 1]);
    await withReader(dataDir, async (space) => {
      const rows = await space.ask<object>({
        tables: [{ table: 'gpu_sample' }],
        sql: 'SELECT device_id, ts, util_permille, power_w FROM gpu_sample ORDER BY ts, device_id',
        params: {},
      });
      expect(rows).toMatchObject([
        { device_id: 'GPU-a', util_permille: 970 },
        { device_id: 'GPU-a', util_permille: null },
      ]);
    });
    const page = telemetryReport(again).join('\n');
    expect(page).toContain('8 lines: 1 read, 5 skipped, 1 comments, 1 blank');
    expect(page).toContain('1 row (replacing 1) into samples');
  });

  it('stdin, packed files, folders, and files of the same name', async () => {
    const piped = { stdin: Readable.from([SCRAPE.slice(0, 30), SCRAPE.slice(30)]), now: () => WRITTEN };
    const { files } = await takeTelemetry({ dataDir: join(folder, 'dry'), files: ['-'], dryRun: true, ...piped });
    expect(files).toMatchObject([{ file: 'stdin', gpus: 1 }]);
    await mkdir(join(folder, 'inner'), { recursive: true });
    await file('inner/packed.prom.gz', gzipSync(SCRAPE));
    const inside = await takeTelemetry({ dataDir: join(folder, 'dry'), files: [join(folder, 'inner')], dryRun: true });
    expect(inside.files).toMatchObject([{ gpus: 1, nodes: ['n1'], total: 8 }]);
    const twice = [await file('same.prom', SCRAPE), join(folder, 'same.prom')];
    await expect(takeTelemetry({ dataDir: join(folder, 'dry'), files: twice, dryRun: true })).rejects.toMatchObject({
      code: 'same-batch',
    });
  });

  it.each([
    ['a file that is not there', 'no-such-file', 'nowhere.prom', undefined],
    ['a gzip that was cut off', 'truncated-file', 'cut.gz', gzipSync(SCRAPE).subarray(0, 40)],
  ])('%s', async (_, code, name, text) => {
    const path = text === undefined ? join(folder, name) : await file(name, text);
    await expect(takeTelemetry({ dataDir: join(folder, 'dry'), files: [path], dryRun: true })).rejects.toMatchObject({
      code,
      hint: expect.any(String),
    });
  });
});

describe('counters of a model server', () => {
  const served = (tokens: number): string =>
    `# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total{model_name="chat-8b"} ${tokens}\n`;
  const scrapedAt = async (name: string, tokens: number, time: string): Promise<string> => {
    const path = await file(name, served(tokens));
    await utimes(path, new Date(time), new Date(time));
    return path;
  };

  it('in two scrapes of one target give what was done in between, once', async () => {
    const dataDir = join(folder, 'served');
    const files = [
      await scrapedAt('after.txt', 1700, '2026-11-16T11:00:00Z'),
      await scrapedAt('before.txt', 500, '2026-11-16T10:00:00Z'),
    ];
    for (let round = 0; round < 2; round += 1) {
      const { files: told } = await takeTelemetry({ dataDir, files, node: 'gpu-1' });
      expect(told.map(rowsInto)).toEqual([{}, { work: 1 }]);
    }
    await withReader(dataDir, async (space) => {
      const sql = 'SELECT model_name, node_id, CAST(quantity AS BIGINT) AS n, window_from, window_until FROM work';
      expect(await space.ask({ tables: [{ table: 'work' }], sql })).toEqual([
        {
          model_name: 'chat-8b',
          node_id: 'gpu-1',
          n: 1200n,
          window_from: '2026-11-16 10:00:00',
          window_until: '2026-11-16 11:00:00',
        },
      ]);
    });
  });

  it('in one scrape say nothing, and that is said', async () => {
    const one = await scrapedAt('alone.txt', 5, '2026-11-16T10:00:00Z');
    const { files: told } = await takeTelemetry({ dataDir: join(folder, 'alone'), files: [one], node: 'gpu-1' });
    expect(told).toMatchObject([{ tables: [], notes: expect.arrayContaining([expect.stringMatching(/two scrapes/)]) }]);
  });
});
