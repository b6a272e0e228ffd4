import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { dispatch } from '../dispatch.ts';
import type { CommandEntry } from '../dispatch.ts';

const COMMANDS: readonly CommandEntry[] = [
  { name: 'look', summary: '', load: () => import('./look.ts') },
  { name: 'doctor', summary: '', load: () => import('./doctor.ts') },
  { name: 'init', summary: '', load: () => import('./init.ts') },
];

const gpu = (index: number, util: number): string =>
  `DCGM_FI_DEV_GPU_UTIL{gpu="${index}",UUID="GPU-${index}",modelName="NVIDIA H100 80GB HBM3",Hostname="box<b>1"} ${util}
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="${index}",UUID="GPU-${index}",modelName="NVIDIA H100 80GB HBM3",Hostname="box<b>1"} ${util / 100}
DCGM_FI_DEV_POWER_USAGE{gpu="${index}",UUID="GPU-${index}",modelName="NVIDIA H100 80GB HBM3",Hostname="box<b>1"} ${util > 0 ? 600 : 70}
`;

let folder: string;
let exporter: Server;
let config: string;
let data: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-look-cli-'));
  exporter = createServer((_, response) => response.end(gpu(0, 90) + gpu(1, 0)));
  await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
  config = join(folder, 'mine.yaml');
  data = join(folder, 'data');
  const { port } = exporter.address() as AddressInfo;
  await writeFile(config, `sources:\n  - name: box\n    scrape: ["http://127.0.0.1:${port}/metrics"]\n`);
});
afterAll(async () => {
  exporter.closeAllConnections();
  exporter.close();
  await rm(folder, { recursive: true, force: true });
});

async function bursar(...args: string[]): Promise<{ exitCode: number; data: string; talk: string }> {
  let [out, talk] = ['', ''];
  const exitCode = await dispatch(args, '0', COMMANDS, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (talk += text) },
  });
  process.exitCode = undefined;
  return { exitCode, data: out, talk };
}

describe('bursar look on an exporter', () => {
  test('says what it will read, reads it, shows it and writes the page', async () => {
    const html = join(folder, 'look.html');
    const { exitCode, data: screen, talk } = await bursar('look', '--config', config, '--data', data, '--html', html);
    expect(exitCode).toBe(0);
    expect(talk).toMatch(/^Reads, at most seven days in at most a minute:\n {2}box: what exporters measure/);
    expect(talk).toContain('Only reads: nothing is changed there, nothing is sent anywhere.');
    expect(screen).toMatch(/^(Paid|GPU-hours), last 7 days/);
    expect(screen).toContain('Prices assumed: H100 $6.88/h');
    expect(screen).toContain('bursar init && bursar collect');
    const page = await readFile(html, 'utf8');
    expect(page).toContain('bursar look --window 7d');
    expect(page).not.toContain('<script');
  });

  test('again shows the folder, with the age of what is in it', async () => {
    const { data: screen, talk } = await bursar('look', '--config', config, '--data', data);
    expect(talk).toBe('');
    expect(screen).toContain('Collected up to: box just now');
  });

  test('for programs, as one object', async () => {
    const { data: text } = await bursar('look', '--config', config, '--data', join(folder, 'json'), '--json');
    expect(JSON.parse(text)).toMatchObject({
      paidUsdMicros: expect.any(String),
      firstLook: { sources: [{ name: 'box', state: 'ok' }], prices: [{ by: 'list', usdPerGpuHour: '6.88' }] },
    });
  });

  test('refuses to mix with imports, when asked to read', async () => {
    const fleet = await fleetFolder(SMALL_FLEET);
    try {
      const { exitCode, talk } = await bursar('look', '--prometheus', 'http://127.0.0.1:1', '--data', fleet.dataDir);
      expect([exitCode, talk]).toEqual([1, expect.stringContaining('holds data that was imported or made up')]);
      expect((await bursar('look', '--data', fleet.dataDir, '--rate', 'H100=2')).exitCode).toBe(1);
      expect((await bursar('look', '--data', fleet.dataDir, '--as-of', '2026-03-03')).exitCode).toBe(0);
    } finally {
      await fleet.remove();
    }
  });

  test.each([
    ['H100', 'is not MODEL=USD'],
    ['H100=cheap', 'is not MODEL=USD'],
    ['=2', 'is not MODEL=USD'],
  ])('--rate %s', async (rate, want) => {
    const { exitCode, talk } = await bursar('look', '--rate', rate);
    expect([exitCode, talk]).toEqual([1, expect.stringContaining(want)]);
  });
});

describe('bursar look on a machine with nothing', () => {
  const before = { ...process.env };
  afterAll(() => {
    process.env = before;
  });

  test.each([
    ['nothing was found', {}, 'Nothing on this machine knows about GPUs.'],
    [
      'AWS credentials that lead nowhere',
      { AWS_PROFILE: 'bursar-no-such-profile' },
      'Nothing to show yet: no source answers.',
    ],
  ])('%s: says so, with the commands, and ends with 1', async (_, env, want) => {
    const kept = Object.entries(before).filter(([name]) => !/^(AWS_|KUBE|PROMETHEUS)/.test(name));
    process.env = {
      ...Object.fromEntries(kept),
      PATH: folder,
      HOME: folder,
      PROMETHEUS_URL: 'http://127.0.0.1:1',
      ...env,
    };
    const { exitCode, data: screen } = await bursar('look', '--data', join(folder, 'nothing'));
    expect(exitCode).toBe(1);
    expect(screen.startsWith(want)).toBe(true);
    expect(screen).toContain('bursar look --prometheus http://HOST:9090');
    expect(screen).toContain('bursar demo');
  });
});

describe('bursar doctor', () => {
  test('ends with 0 while anything works', async () => {
    const mixed = join(folder, 'mixed.yaml');
    const { port } = exporter.address() as AddressInfo;
    await writeFile(
      mixed,
      `sources:
  - {name: box, scrape: ["http://127.0.0.1:${port}/metrics"]}
  - {name: gone, scrape: ["http://127.0.0.1:1/metrics"]}
  - name: secretive
    prometheus: {url: "http://127.0.0.1:1", headers: {Authorization: {env: BURSAR_TEST_NO_SUCH_TOKEN}}}
`,
    );
    const { exitCode, data: page } = await bursar('doctor', '--config', mixed, '--data', data);
    expect(exitCode).toBe(0);
    expect(page).toMatch(/^3 sources: 2 down/);
    expect(page).toContain(
      'secretive: the secret in the environment variable BURSAR_TEST_NO_SUCH_TOKEN is missing or empty',
    );
    expect(page).toContain('→ export BURSAR_TEST_NO_SUCH_TOKEN=…');
    expect(page).toMatch(/data folder: .*newest fact/);
    expect(page).toMatch(/disk: .*GiB free/);
  });

  test('and with 1 when nothing does', async () => {
    const gone = join(folder, 'gone.yaml');
    await writeFile(gone, 'sources:\n  - {name: gone, scrape: ["http://127.0.0.1:1/metrics"]}\n');
    const { exitCode, data: text } = await bursar('doctor', '--config', gone, '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(text)).toMatchObject({ sources: [{ name: 'gone', state: 'down' }] });
  });
});

describe('bursar init', () => {
  test('keeps what is named, and does it once', async () => {
    const path = join(folder, 'kept.yaml');
    const first = await bursar('init', '--prometheus', 'http://prometheus:9090', '--slurm', '--config', path);
    expect([first.exitCode, first.data]).toEqual([0, expect.stringContaining('Next: bursar collect')]);
    expect(await readFile(path, 'utf8')).toContain('prometheus: http://prometheus:9090');
    const second = await bursar('init', '--local', '--config', path);
    expect([second.exitCode, second.talk]).toEqual([1, expect.stringContaining('stays as it is')]);
  });

  test('prints its schema', async () => {
    const { data: schema } = await bursar('init', '--print-schema');
    expect(JSON.parse(schema)).toMatchObject({ title: 'bursar.yaml' });
  });
});
