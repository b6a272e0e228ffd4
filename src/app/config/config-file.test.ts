import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { findConfig, readConfig } from './config-file.ts';

function problemsOf(text: string): string {
  try {
    readConfig(text);
  } catch (failure) {
    if (failure instanceof OperationError) return failure.message;
    throw failure;
  }
  return 'fine';
}

describe('what bursar.yaml says', () => {
  const source = (form: string): string => `sources:\n  - name: a\n    ${form}\n`;
  const a = { name: 'a' };

  it.each([
    [
      'a Prometheus by its address',
      source('prometheus: http://p:9090'),
      { ...a, kind: 'prometheus', url: 'http://p:9090' },
    ],
    [
      'one behind a proxy, with a token from the environment',
      source(
        'prometheus: {url: "https://p/mimir", headers: {Authorization: {env: TOKEN, prefix: "Bearer "}, X-Scope-OrgID: ml}, node_label: host, parallel: 4, matchers: cluster="a"}',
      ),
      {
        ...a,
        kind: 'prometheus',
        url: 'https://p/mimir',
        headers: { Authorization: { env: 'TOKEN', prefix: 'Bearer ' }, 'X-Scope-OrgID': 'ml' },
        nodeLabel: 'host',
        parallel: 4,
        matchers: 'cluster="a"',
      },
    ],
    [
      'how often and how far back',
      `${source('prometheus: http://p:9090')}    every: 5m\n    backfill: 30d\n`,
      { ...a, kind: 'prometheus', url: 'http://p:9090', everyS: 300, backfillS: 2_592_000 },
    ],
    [
      'exporters by address',
      source('scrape: ["http://g1:9400/metrics", "http://g2:9400/metrics"]'),
      { ...a, kind: 'scrape', targets: [{ url: 'http://g1:9400/metrics' }, { url: 'http://g2:9400/metrics' }] },
    ],
    [
      'exporters with the machine they run on',
      source('scrape: {targets: [{url: "http://g1:9400/metrics", node: gpu-1}], pods: true}'),
      { ...a, kind: 'scrape', targets: [{ url: 'http://g1:9400/metrics', nodeId: 'gpu-1' }], pods: true },
    ],
    ['this machine, with nothing more to say', source('local:'), { ...a, kind: 'local' }],
    [
      'another machine by ssh, in words',
      source('local: {command_prefix: ssh -o BatchMode=yes box1, node: box1}'),
      { ...a, kind: 'local', commandPrefix: ['ssh', '-o', 'BatchMode=yes', 'box1'], node: 'box1' },
    ],
    ['the current kube context', source('kubernetes: {}'), { ...a, kind: 'kubernetes' }],
    [
      'a kube context of a file',
      source('kubernetes: {kubeconfig: ./kube.yaml, context: prod, cluster: eu}'),
      { ...a, kind: 'kubernetes', kubeconfig: './kube.yaml', context: 'prod', cluster: 'eu' },
    ],
    [
      'Slurm on a login node',
      source('slurm: {command_prefix: [ssh, login1], zone: Europe/Berlin}'),
      { ...a, kind: 'slurm', commandPrefix: ['ssh', 'login1'], zone: 'Europe/Berlin' },
    ],
    [
      'slurmrestd on a socket',
      source('slurm: {rest: {url: "unix:///run/slurmrestd.sock", user: bursar, token: {file: token}}}'),
      {
        ...a,
        kind: 'slurm',
        rest: { url: 'unix:///run/slurmrestd.sock', user: 'bursar', token: { file: 'token' } },
      },
    ],
    [
      'AWS in two regions',
      source('aws: {regions: [us-east-1, eu-west-1], profile: ro}'),
      { ...a, kind: 'aws', regions: ['us-east-1', 'eu-west-1'], profile: 'ro' },
    ],
    ['machines of Google Cloud', source('gcp: {file: gcp.json}'), { ...a, kind: 'gcp', file: 'gcp.json' }],
    ['machines of Azure', source('azure: {file: az.json}'), { ...a, kind: 'azure', file: 'az.json' }],
  ])('%s', (_, text, want) => {
    expect(readConfig(text).sources).toEqual([want]);
  });

  it('rates, exact to nine decimals, and the folder', () => {
    const text = `data: ./fleet
rates:
  - {model: H100, usd_per_gpu_hour: 1.95, from: 2026-01-01}
  - {node: a1, usd_per_gpu_hour: 0.0000001, from: 2026-01-01T00:00:00Z, until: 2026-06-01}
  - {usd_per_gpu_hour: 2}
`;
    expect(readConfig(text)).toMatchObject({
      baseDir: '.',
      data: './fleet',
      sources: [],
      rates: [
        { model: 'H100', usdPerGpuHour: '1.95', from: new Date('2026-01-01') },
        { node: 'a1', usdPerGpuHour: '0.0000001', from: new Date('2026-01-01'), until: new Date('2026-06-01') },
        { usdPerGpuHour: '2' },
      ],
    });
  });
});

describe('teams and statements', () => {
  it('are read as docs/STATEMENTS.md writes them', async () => {
    const page = await readFile(new URL('../../../docs/STATEMENTS.md', import.meta.url), 'utf8');
    const [, text = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    expect(readConfig(text).statements).toEqual({
      kind: 'chargeback',
      issuer: 'Larkfield ML platform',
      teams: new Map([
        ['nlp', { costCentre: '4711', accountCode: '6200-100', lead: 'Mei Chen' }],
        ['vision', { costCentre: '4712', accountCode: '6200-100', lead: null }],
      ]),
    });
  });

  it('that nobody wrote are not there', () => {
    expect(readConfig('data: x').statements).toBeUndefined();
  });
});

describe('what is wrong with bursar.yaml is told with its place', () => {
  it.each([
    [
      'a cost centre that YAML would take for a number',
      'teams:\n  nlp: {cost_centre: 0471}',
      'bursar.yaml:2:22: teams.nlp.cost_centre: ',
    ],
    [
      'a field misspelt',
      'sources:\n  - name: a\n    promethius: http://p',
      'bursar.yaml:3:5: sources[0].promethius: is not known here; nearest: prometheus',
    ],
    [
      'a field of another kind',
      'sources:\n  - name: a\n    aws: {region: x}',
      'bursar.yaml:3:11: sources[0].aws.region: is not known here; nearest: regions',
    ],
    [
      'no kind',
      'sources:\n  - name: a',
      'bursar.yaml:2:5: sources[0]: must have exactly one of prometheus, kubernetes, slurm, local, scrape, aws, gcp, azure, but has none',
    ],
    ['two kinds', 'sources:\n  - name: a\n    slurm: {}\n    local: {}', 'but has slurm and local'],
    [
      'the same name twice',
      'sources:\n  - {name: a, local: {}}\n  - {name: a, slurm: {}}',
      'bursar.yaml:3:12: sources[1].name: another source is called a too',
    ],
    [
      'a name that cannot be part of a batch',
      'sources:\n  - {name: a/b, local: {}}',
      'must be at most 63 letters, digits, dots, dashes and underscores, but is "a/b"',
    ],
    ['no name', 'sources:\n  - local: {}', 'sources[0].name: is missing'],
    [
      'a length without unit',
      'sources:\n  - {name: a, local: {}, every: 60}',
      'bursar.yaml:2:33: sources[0].every: must be text, but is 60; How often',
    ],
    [
      'a list where a map belongs',
      'sources:\n  - {name: a, slurm: [x]}',
      'sources[0].slurm: must be a map of fields, but is a list of 1',
    ],
    [
      'a number where an address belongs',
      'sources:\n  - {name: a, prometheus: 9090}',
      'sources[0].prometheus: must be one of text, a map of fields',
    ],
    [
      'an address without scheme',
      'sources:\n  - {name: a, prometheus: "p:9090"}',
      'must be an address such as http://prometheus:9090',
    ],
    [
      'a map without its address',
      'sources:\n  - name: a\n    prometheus: {headers: {}}',
      'sources[0].prometheus.url: is missing',
    ],
    [
      'a misspelt field inside a form',
      'sources:\n  - name: a\n    prometheus: {url: "http://p", node_lable: x}',
      'sources[0].prometheus.node_lable: is not known here; nearest: node_label',
    ],
    [
      'a rate that is no number',
      'rates:\n  - {model: H100, usd_per_gpu_hour: cheap}',
      'bursar.yaml:2:37: rates[0].usd_per_gpu_hour: must be a number, but is "cheap"; Dollars for one GPU',
    ],
    [
      'a day that does not exist',
      'rates:\n  - {model: H100, usd_per_gpu_hour: 1, from: 2026-02-30}',
      'rates[0].from: "2026-02-30" is not a date',
    ],
    [
      'an end before its beginning',
      'rates:\n  - {usd_per_gpu_hour: 1, from: 2026-02-03, until: 2026-02-01}',
      'rates[0].until: must be after from',
    ],
    [
      'neither env nor file',
      'sources:\n  - {name: a, slurm: {rest: {url: "http://s", token: {prefix: x}}}}',
      'slurm.rest.token: must have either env or file',
    ],
    ['no YAML', 'sources: [', 'not YAML'],
    ['an empty file', '', 'bursar.yaml:1:1: the file is empty'],
    [
      'a list',
      '- a',
      'bursar.yaml is a map of data, sources, rates, rules, aliases, shared, teams, statements, but this is a list',
    ],
  ])('%s', (_, text, want) => {
    expect(problemsOf(text)).toContain(want);
  });

  it('every problem at once', () => {
    const text = 'dat: x\nsources:\n  - {name: a, local: {}, evry: 60s}\nrates: [{modell: H100}]\n';
    expect(problemsOf(text).split('\n')).toHaveLength(4);
  });
});

describe('a secret in bursar.yaml is refused and never repeated', () => {
  const header = (line: string): string =>
    `sources:\n  - name: a\n    prometheus:\n      url: http://p\n      headers: {${line}}\n`;
  const SECRET = 'hunter2hunter2hunter2';

  it.each([
    ['a token in the open', header(`Authorization: Bearer ${SECRET}`)],
    ['a key by its name', header(`X-Api-Key: ${SECRET}`)],
    ['a cookie', header(`Cookie: a=${SECRET}`)],
    ['a long word of letters and digits under any name', header(`X-Thing: ${SECRET}`)],
    ['a token as a list', header(`Authorization: [${SECRET}]`)],
    ['a password in the address', `sources:\n  - name: a\n    prometheus: http://kim:${SECRET}@p:9090\n`],
    ['a password in the address of a map', `sources:\n  - name: a\n    prometheus: {url: "http://kim:${SECRET}@p"}\n`],
    ['a password in a broken address', `sources:\n  - name: a\n    prometheus: "ftp://kim:${SECRET}@p"\n`],
    ['a token in a query', `sources:\n  - name: a\n    scrape: ["http://g1:9400/metrics?token=${SECRET}"]\n`],
    ['a token of slurmrestd', `sources:\n  - name: a\n    slurm: {rest: {url: "http://s", token: ${SECRET}}}\n`],
  ])('%s', (_, text) => {
    const told = problemsOf(text);
    expect(told).not.toBe('fine');
    expect(told).not.toContain(SECRET);
  });

  it.each([
    ['a tenant, even one that looks like a key', header('X-Scope-OrgID: 1f9ad2c4b5e64a7d8c9e')],
    ['an ordinary word', header('X-Team: ml-platform')],
    ['an address with a path', 'sources:\n  - name: a\n    prometheus: https://p/prometheus/team-a\n'],
  ])('but not %s', (_, text) => {
    expect(problemsOf(text)).toBe('fine');
  });
});

describe('where bursar.yaml is', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-config-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('in this folder, or nowhere, which is fine', async () => {
    expect(await findConfig(undefined, folder)).toBeUndefined();
    await writeFile(join(folder, 'bursar.yaml'), 'data: ./x\nsources: [{name: a, gcp: {file: gcp.json}}]\n');
    expect(await findConfig(undefined, folder)).toMatchObject({
      path: join(folder, 'bursar.yaml'),
      baseDir: folder,
      data: join(folder, 'x'),
      sources: [{ kind: 'gcp', file: join(folder, 'gcp.json') }],
    });
  });

  it('where the user says, which must be there', async () => {
    await expect(findConfig(join(folder, 'mine.yaml'))).rejects.toMatchObject({ code: 'no-config' });
  });
});
