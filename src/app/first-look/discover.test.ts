import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printConfig } from '../config/print-config.ts';
import { readConfig } from '../config/config-file.ts';
import { discover } from './discover.ts';
import type { Discovery, SourceFlags } from './discover.ts';

let home: string;
let servers: Server[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'bursar-home-'));
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
  await rm(home, { recursive: true, force: true });
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const asPrometheus: RequestListener = (request, response) => {
  const isQuery = request.url?.endsWith('/api/v1/query?query=vector(1)') ?? false;
  response.writeHead(isQuery ? 200 : 404).end(isQuery ? '{"status":"success","data":{}}' : 'no');
};

async function program(name: string): Promise<void> {
  await mkdir(join(home, 'bin'), { recursive: true });
  await writeFile(join(home, 'bin', name), '#!/bin/sh\n');
  await chmod(join(home, 'bin', name), 0o755);
}

async function file(path: string, text: string): Promise<string> {
  const full = join(home, path);
  await mkdir(join(full, '..'), { recursive: true });
  await writeFile(full, text);
  return full;
}

interface Machine {
  readonly env?: Record<string, string>;
  readonly flags?: SourceFlags;
  readonly prometheus?: string;
}

function look({ env = {}, flags = {}, prometheus = 'http://127.0.0.1:1' }: Machine = {}): Promise<Discovery> {
  return discover(flags, {
    env: { PATH: join(home, 'bin'), ...env },
    homeDir: home,
    usualPrometheusUrls: [prometheus],
    serviceAccountDir: join(home, 'account'),
    fetch,
  });
}

const kinds = ({ found }: Discovery): string[] => found.map(({ config }) => config.kind);
const commandFor = ({ missing }: Discovery, kind: string): string | undefined =>
  missing.find((each) => each.kind === kind)?.command;

describe('a machine with nothing on it', () => {
  it('has nothing found, and a command for each source', async () => {
    const discovery = await look();
    expect(discovery.found).toEqual([]);
    expect(discovery.missing.map(({ kind }) => kind)).toEqual([
      'prometheus',
      'kubernetes',
      'slurm',
      'local',
      'aws',
      'gcp',
      'azure',
    ]);
    expect(discovery.missing.every(({ command, says }) => command !== '' && says !== '')).toBe(true);
  });
});

describe('a Prometheus', () => {
  it('is found where it usually is', async () => {
    const prometheus = await serve(asPrometheus);
    const { found } = await look({ prometheus });
    expect(found).toEqual([{ config: { kind: 'prometheus', name: 'prometheus', url: prometheus }, by: 'answers' }]);
  });

  it('is found under the path of PROMETHEUS_URL, which goes before the usual place', async () => {
    const usual = await serve(asPrometheus);
    const url = `${await serve(asPrometheus)}/team/prom/`;
    const { found } = await look({ prometheus: usual, env: { PROMETHEUS_URL: url } });
    expect(found).toEqual([{ config: { kind: 'prometheus', name: 'prometheus', url }, by: 'PROMETHEUS_URL' }]);
  });

  it('is not what answers with a web page', async () => {
    const prometheus = await serve((_, response) => response.end('<html>Cockpit</html>'));
    expect(kinds(await look({ prometheus }))).toEqual([]);
  });

  it('is not what never answers: after two seconds the others go on', async () => {
    const prometheus = await serve(() => undefined);
    const begun = performance.now();
    expect(kinds(await look({ prometheus }))).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it('is not what answers without end', async () => {
    const prometheus = await serve((_, response) => {
      // Once nobody listens the write is answered at once: going on would never leave the tick.
      const go = (): void => void response.write('x'.repeat(65_536), (failure) => (failure ? undefined : go()));
      go();
    });
    expect(kinds(await look({ prometheus }))).toEqual([]);
  });

  it('with a password in PROMETHEUS_URL does not tell it', async () => {
    const { missing } = await look({ env: { PROMETHEUS_URL: 'http://kim:hunter2@127.0.0.1:1' } });
    expect(JSON.stringify(missing)).not.toContain('hunter2');
  });
});

const KUBE = 'apiVersion: v1\nkind: Config\ncurrent-context: prod\nclusters: []\n';

describe('a kube context', () => {
  it.each([
    ['in the usual file', {}, '.kube/config', { context: 'prod' }],
    ['in the file of KUBECONFIG', { KUBECONFIG: 'mine' }, 'mine', { context: 'prod', kubeconfig: 'mine' }],
  ])('%s', async (_, env, path, want) => {
    const full = await file(path, KUBE);
    const at = Object.fromEntries(Object.keys(env).map((name) => [name, full]));
    const { found } = await look({ env: at });
    const kubeconfig = 'kubeconfig' in want ? { kubeconfig: full } : {};
    expect(found.map(({ config }) => config)).toEqual([
      { kind: 'kubernetes', name: 'kubernetes', context: want.context, ...kubeconfig },
    ]);
  });

  it('is none where the file names none, is broken, or is not YAML', async () => {
    for (const text of ['apiVersion: v1\n', 'current-context: ""\n', '{{{', '- a\n- b\n', '\u0000\u0001']) {
      await file('.kube/config', text);
      expect(kinds(await look())).toEqual([]);
    }
  });

  it('is the service account inside a pod', async () => {
    await file('account/token', 'x');
    const { found } = await look({ env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } });
    expect(found[0]?.config).toEqual({ kind: 'kubernetes', name: 'kubernetes', inCluster: true });
  });

  it('makes the way to a Prometheus inside it one command', async () => {
    await file('.kube/config', KUBE);
    expect(commandFor(await look(), 'prometheus')).toContain('kubectl -n monitoring port-forward');
  });
});

describe('programs in PATH', () => {
  it.each([
    ['all of Slurm', ['sinfo', 'squeue', 'sacct'], ['slurm']],
    ['Slurm without accounting commands', ['sinfo'], []],
    ['nvidia-smi', ['nvidia-smi'], ['local']],
    ['rocm-smi', ['rocm-smi'], ['local']],
  ])('%s', async (_, programs, want) => {
    for (const name of programs) await program(name);
    expect(kinds(await look())).toEqual(want);
  });

  it('do not count where they may not be run', async () => {
    await program('nvidia-smi');
    await chmod(join(home, 'bin', 'nvidia-smi'), 0o644);
    expect(kinds(await look())).toEqual([]);
  });
});

describe('AWS credentials', () => {
  it.each([
    ['a profile', { AWS_PROFILE: 'ro' }, { kind: 'aws', name: 'aws', profile: 'ro' }],
    ['keys in the environment', { AWS_ACCESS_KEY_ID: 'AKIA' }, { kind: 'aws', name: 'aws' }],
  ])('%s', async (_, env, want) => {
    const { found } = await look({ env });
    expect(found.map(({ config }) => config)).toEqual([want]);
  });

  it.each([
    ['keys in ~/.aws/credentials', '.aws/credentials', '[default]\naws_access_key_id = AKIA\n', ['aws']],
    ['a sign-in in ~/.aws/config', '.aws/config', '[profile x]\nsso_session = y\n', ['aws']],
    ['only a region in ~/.aws/config', '.aws/config', '[default]\nregion = us-east-1\n', []],
  ])('%s', async (_, path, text, want) => {
    await file(path, text);
    expect(kinds(await look())).toEqual(want);
  });
});

describe('with a flag nothing else is read', () => {
  it('two Prometheus and Slurm, as named', async () => {
    await program('nvidia-smi');
    await file('.kube/config', KUBE);
    const discovery = await look({ flags: { prometheus: ['http://a', 'http://b'], slurm: true } });
    expect(discovery.found.map(({ config }) => config)).toEqual([
      { kind: 'prometheus', name: 'prometheus', url: 'http://a' },
      { kind: 'prometheus', name: 'prometheus-2', url: 'http://b' },
      { kind: 'slurm', name: 'slurm' },
    ]);
    expect(commandFor(discovery, 'local')).toBe('bursar look --local');
    expect(commandFor(discovery, 'kubernetes')).toBe(`bursar look --kubeconfig ${join(home, '.kube/config')}`);
  });
});

it('what was found is kept as a bursar.yaml that says the same', async () => {
  const prometheus = await serve(asPrometheus);
  for (const name of ['sinfo', 'squeue', 'sacct', 'nvidia-smi']) await program(name);
  await file('.kube/config', KUBE.replace('prod', '"kim@prod: #1"'));
  const { found } = await look({ prometheus, env: { AWS_PROFILE: 'ro' } });
  expect(found).toHaveLength(5);
  const text = printConfig(found, './bursar-data');
  expect(readConfig(text).sources).toEqual(found.map(({ config }) => config));
});
