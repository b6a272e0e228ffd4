import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AwsLikeServer, AwsQuestion, AwsReply } from '../../../test/aws-like-server.ts';
import { awsLikeServer, cloudWatchRefusal, ec2Refusal, ec2Reply } from '../../../test/aws-like-server.ts';
import type { Haul, PullRequest } from '../../facts/source.ts';
import { awsSource } from './aws-source.ts';

const NOW = new Date('2026-11-16T10:00:30Z');
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'not-a-secret', AWS_REGION: 'us-east-1' };
/** What must not lead to anybody's real account. */
const CLEARED = ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_DEFAULT_REGION', 'AWS_ENDPOINT_URL'];
const policy = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../docs/sources/aws-policy.json', import.meta.url)), 'utf8'),
) as { Statement: { Effect: string; Action: string[] }[] };
const allowed = policy.Statement.flatMap(({ Action: actions }) => actions);

const saved = { ...process.env };
let home = '';
let server: AwsLikeServer | undefined;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bursar-aws-'));
  process.env['AWS_CONFIG_FILE'] = join(home, 'config');
  process.env['AWS_SHARED_CREDENTIALS_FILE'] = join(home, 'credentials');
  process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
  for (const name of CLEARED) delete process.env[name];
  Object.assign(process.env, KEYS);
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  Object.assign(process.env, KEYS);
});
afterAll(async () => {
  process.env = saved;
  await rm(home, { recursive: true, force: true });
});

interface Box {
  readonly id: string;
  readonly type?: string;
  readonly launched?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly more?: string;
}

const boxXml = ({
  id,
  type = 'g5.xlarge',
  launched = '2026-11-14T09:00:00.000Z',
  state = 'running',
  reason = '',
  more = '',
}: Box) =>
  `<item><reservationId>r-1</reservationId><ownerId>210987654321</ownerId><instancesSet><item><instanceId>${id}</instanceId>
   <instanceType>${type}</instanceType><launchTime>${launched}</launchTime><instanceState><code>16</code><name>${state}</name></instanceState>
   <reason>${reason}</reason><placement><availabilityZone>us-east-1b</availabilityZone></placement>${more}</item></instancesSet></item>`;

/** An AWS of two regions, of which one has these boxes; CloudWatch knows nothing, unless it is told otherwise. */
function fleet(
  boxes: readonly Box[],
  other: (question: AwsQuestion) => AwsReply | 'silent' | undefined = () => undefined,
) {
  return awsLikeServer((question) => {
    const special = other(question);
    if (special !== undefined) return special === 'silent' ? undefined : special;
    const { action, region } = question;
    const reply = (fields: string): AwsReply => ec2Reply(action, fields);
    if (action === 'ec2:DescribeRegions') {
      const names = ['us-east-1', 'eu-north-1'];
      return reply(
        `<regionInfo>${names.map((name) => `<item><regionName>${name}</regionName></item>`).join('')}</regionInfo>`,
      );
    }
    if (action === 'ec2:DescribeInstances') {
      return reply(`<reservationSet>${region === 'us-east-1' ? boxes.map(boxXml).join('') : ''}</reservationSet>`);
    }
    if (action === 'ec2:DescribeInstanceTypes') return reply('<instanceTypeSet/>');
    const empty = action === 'cloudwatch:ListMetrics' ? { Metrics: [] } : { MetricDataResults: [] };
    return { type: 'application/x-amz-json-1.0', body: JSON.stringify(empty) };
  });
}

async function hauls(cursor?: unknown, more: Partial<PullRequest> = {}): Promise<Haul[]> {
  const source = awsSource({ name: 'aws', endpoint: server?.endpoint ?? '' });
  const request = { now: NOW, signal: new AbortController().signal, progress: () => undefined, ...more };
  const given: Haul[] = [];
  for await (const haul of source.pull(cursor, request)) given.push(haul);
  return given;
}

const rowsOf = (haul: Haul | undefined, batch: string) =>
  haul?.facts.find((facts) => facts.batch === batch)?.rows ?? [];
const metric = (name: string, dimensions: Record<string, string>) => ({
  Namespace: 'CWAgent',
  MetricName: name,
  Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
});

describe('AWS by read-only credentials', () => {
  it('asks for exactly what the documented policy allows', async () => {
    server = await fleet([{ id: 'i-0a' }], ({ action }) =>
      action === 'cloudwatch:ListMetrics'
        ? {
            type: 'application/x-amz-json-1.0',
            body: JSON.stringify({
              Metrics: [metric('nvidia_smi_utilization_gpu', { InstanceId: 'i-0a', index: '0' })],
            }),
          }
        : undefined,
    );
    await hauls();
    await awsSource({ name: 'aws', endpoint: server.endpoint }).check(new AbortController().signal);
    expect([...new Set(server.asked.map(({ action }) => action))].sort()).toEqual([...allowed].sort());
  });

  it('a box is a node, and held by whoever launched it', async () => {
    const tags = `<keyName>mchen-laptop</keyName><tagSet><item><key>Name</key><value>sft</value></item></tagSet>`;
    server = await fleet([{ id: 'i-0a', type: 'g5.12xlarge', more: tags }]);
    const [first] = await hauls();
    expect(rowsOf(first, 'nodes/open')[0]).toMatchObject({
      node_id: 'i-0a',
      resource_id: 'i-0a',
      provider: 'aws',
      billing_account: '210987654321',
      region: 'us-east-1',
      zone: 'us-east-1b',
      instance_type: 'g5.12xlarge',
      purchase: 'on-demand',
      gpu_count: 4,
      model: 'A10G',
      present_from: new Date('2026-11-14T09:00:00Z'),
      cluster: 'aws',
    });
    expect(rowsOf(first, 'open')[0]).toMatchObject({
      source: 'aws',
      allocation_id: 'i-0a',
      user_name: 'mchen-laptop',
      workload_name: 'sft',
      observed_at: new Date('2026-11-16T10:00:30Z'),
      poll_s: 300,
      labels: { 'bursar:user-from': 'key name (assumed)' },
    });
    expect(first?.gpus).toEqual({ seen: 4, notRead: 0 });
  });

  it('a region that refuses is told, the others go on, and what ran there is neither seen nor ended', async () => {
    server = await fleet([{ id: 'i-0a' }]);
    const [before] = await hauls();
    await server.close();
    server = await fleet([], ({ action, region }) =>
      action === 'ec2:DescribeInstances' && region === 'us-east-1' ? ec2Refusal('UnauthorizedOperation') : undefined,
    );
    const [after] = await hauls(before?.cursor, { now: new Date('2026-11-16T11:00:00Z') });
    expect(rowsOf(after, 'open').map((row) => [row['allocation_id'], row['observed_at']])).toEqual([
      ['i-0a', new Date('2026-11-16T10:00:30Z')],
    ]);
    expect(after?.gaps).toEqual([
      {
        from: new Date('2026-11-16T10:00:30Z'),
        until: new Date('2026-11-16T11:00:00Z'),
        reason: 'ec2:DescribeInstances in us-east-1: not allowed for these credentials',
      },
    ]);
  });

  it('a box that AWS has forgotten ends when it was last seen', async () => {
    server = await fleet([{ id: 'i-0a' }]);
    const [before] = await hauls();
    await server.close();
    server = await fleet([]);
    const [after] = await hauls(before?.cursor, { now: new Date('2026-11-17T10:00:00Z') });
    expect(rowsOf(after, 'open')).toEqual([]);
    expect(rowsOf(after, 'ended/2026-11-16')[0]).toMatchObject({ held_until: new Date('2026-11-16T10:00:30Z') });
    expect(after?.skipped).toContainEqual({
      reason: 'gone without a word on when: taken to have ended when last seen',
      count: 1,
      example: 'i-0a',
    });
  });

  it('CloudWatch’s GPU metrics become samples and devices; a repeated pull begins where the last one ended', async () => {
    const metrics = ['0', '1', '2', '3'].map((index) =>
      metric('nvidia_smi_utilization_gpu', { InstanceId: 'i-0a', index, name: 'A10G', arch: 'Ampere' }),
    );
    server = await fleet([{ id: 'i-0a', type: 'g5.12xlarge' }], ({ action, body }) => {
      if (action === 'cloudwatch:ListMetrics') {
        const listed = body.includes('utilization_gpu') ? metrics : [];
        return { type: 'application/x-amz-json-1.0', body: JSON.stringify({ Metrics: listed }) };
      }
      if (action !== 'cloudwatch:GetMetricData') return undefined;
      const { StartTime: start } = JSON.parse(body) as { StartTime: number };
      const results = [
        { Id: 'm0', StatusCode: 'Complete', Timestamps: [start, start + 60], Values: [97.5, 0] },
        { Id: 'm3', StatusCode: 'Complete', Timestamps: [start], Values: [3] },
      ];
      return { type: 'application/x-amz-json-1.0', body: JSON.stringify({ MetricDataResults: results }) };
    });
    const given = await hauls(undefined, { since: new Date('2026-11-15T22:00:00Z') });
    expect(given.map(({ samples }) => samples?.map(({ batch, rows }) => [batch, rows]))).toEqual([
      undefined,
      [['samples/2026-11-15', 3]],
      [['samples/2026-11-16', 3]],
    ]);
    const block = given[1]?.samples?.[0];
    expect([...(block?.metrics.get('util_permille') ?? [])]).toEqual([975, 0, 30]);
    expect([...(block?.deviceIndex ?? [])].map((place) => block?.devices[place])).toEqual([
      'i-0a/gpu0',
      'i-0a/gpu0',
      'i-0a/gpu3',
    ]);
    expect(block?.stepS).toBe(60);
    expect(rowsOf(given[1], 'devices').map((row) => row['device_id'])).toEqual([0, 1, 2, 3].map((n) => `i-0a/gpu${n}`));
    const soon = await hauls(given.at(-1)?.cursor, { now: new Date('2026-11-16T10:05:00Z') });
    expect(soon).toHaveLength(1);
    const later = await hauls(given.at(-1)?.cursor, { now: new Date('2026-11-16T10:20:00Z') });
    expect(later[1]?.samples?.[0]?.tsSeconds[0]).toBe(Date.parse('2026-11-16T09:57:00Z') / 1000);
    expect(later[1]?.facts.flatMap(({ rows }) => rows)).toEqual([]);
  });

  it('a first look reads newest first into batches of its own and leaves the true samples to be read', async () => {
    server = await fleet([{ id: 'i-0a' }], ({ action }) =>
      action === 'cloudwatch:ListMetrics'
        ? {
            type: 'application/x-amz-json-1.0',
            body: JSON.stringify({
              Metrics: [metric('nvidia_smi_utilization_gpu', { InstanceId: 'i-0a', index: '0' })],
            }),
          }
        : action === 'cloudwatch:GetMetricData'
          ? {
              type: 'application/x-amz-json-1.0',
              body: JSON.stringify({ MetricDataResults: [{ Id: 'm0', Timestamps: [1_794_700_800], Values: [5] }] }),
            }
          : undefined,
    );
    const look = await hauls(undefined, { lookStepS: 300, since: new Date('2026-11-14T10:00:00Z') });
    expect(look.slice(1).map(({ samples }) => [samples?.[0]?.batch, samples?.[0]?.stepS])).toEqual([
      ['look/samples/2026-11-16', 300],
      ['look/samples/2026-11-15', 300],
      ['look/samples/2026-11-14', 300],
    ]);
    const after = await hauls(look.at(-1)?.cursor, { since: new Date('2026-11-14T10:00:00Z') });
    expect(after[1]?.samples?.[0]?.batch).toBe('samples/2026-11-14');
  });

  it('may not ask CloudWatch: the boxes are there, their activity is unknown, and the line that allows it is said', async () => {
    server = await fleet([{ id: 'i-0a', type: 'p5.48xlarge' }], ({ action }) =>
      action.startsWith('cloudwatch') ? cloudWatchRefusal('AccessDenied') : undefined,
    );
    const given = await hauls(undefined, { since: new Date('2026-11-16T09:00:00Z') });
    expect(rowsOf(given[0], 'open')).toHaveLength(1);
    expect(given[1]?.skipped?.[0]).toEqual({
      reason: 'cloudwatch:ListMetrics in us-east-1: not allowed for these credentials: GPU activity stays unknown',
      count: 8,
      example: 'i-0a',
    });
    const health = await awsSource({ name: 'aws', endpoint: server.endpoint }).check(new AbortController().signal);
    expect(health.state).toBe('partial');
    expect(health.todo).toBe(
      'Add to their policy: {"Effect": "Allow", "Action": "cloudwatch:ListMetrics", "Resource": "*"}',
    );
  });

  it('a sample of a large fleet says how many GPUs were not read', async () => {
    server = await fleet(Array.from({ length: 40 }, (_, n) => ({ id: `i-${n}`, type: 'g5.xlarge' })));
    const [look] = await hauls(undefined, { gpusMax: 10 });
    expect(rowsOf(look, 'open')).toHaveLength(10);
    expect(look?.gpus).toEqual({ seen: 40, notRead: 30 });
  });
});

describe('how AWS is', () => {
  const check = (signal = new AbortController().signal) =>
    awsSource({ name: 'aws', endpoint: server?.endpoint ?? '' }).check(signal);

  it('counts, and says what would make unknown GPUs known, with what EC2 itself saw as no more than a reason to look', async () => {
    server = await fleet([{ id: 'i-0a', type: 'p5.48xlarge' }], ({ action }) =>
      action === 'cloudwatch:GetMetricData'
        ? {
            type: 'application/x-amz-json-1.0',
            body: JSON.stringify({
              MetricDataResults: [
                { Id: 'm0', Timestamps: [1, 2], Values: [0.5, 0.3] },
                { Id: 'm1', Timestamps: [1], Values: [9e6] },
                { Id: 'm2', Timestamps: [1], Values: [3e6] },
              ],
            }),
          }
        : undefined,
    );
    const health = await check();
    expect(health).toMatchObject({
      state: 'ok',
      says: '1 running GPU instances with 8 GPUs in 2 of 2 regions; CloudWatch knows the GPUs of 0',
      gpus: 8,
    });
    expect(health.advice[0]?.missing).toBe(
      '1 GPU instances without GPU metrics, so unknown, not idle: i-0a (8×H100): CPU 0.4 %, network 12 MB in 24 h',
    );
    expect(health.advice[0]?.todo).toContain('"nvidia_gpu"');
    expect(health.advice[1]?.todo).toBe(
      'aws ec2 create-tags --resources i-0a --tags Key=owner,Value=NAME Key=team,Value=TEAM',
    );
  });

  const refusals: Record<string, { reply: AwsReply | 'silent'; says: RegExp; todo: RegExp }> = {
    'keys nobody knows': {
      reply: ec2Refusal('AuthFailure', 401),
      says: /not accepted \(AuthFailure\)/,
      todo: /get-caller-identity/,
    },
    'a session that has ended': {
      reply: ec2Refusal('RequestExpired', 400),
      says: /have expired/,
      todo: /aws sso login/,
    },
    'a sign-in page instead of AWS': {
      reply: { type: 'text/html', body: '<html><p>Sign in</html>' },
      says: /does not speak like AWS/,
      todo: /proxy/,
    },
  };
  it.each(Object.entries(refusals))('%s', async (_, { reply, says, todo }) => {
    server = await fleet([], () => reply);
    const health = await check();
    expect(health).toMatchObject({
      state: 'down',
      says: expect.stringMatching(says) as string,
      todo: expect.stringMatching(todo) as string,
    });
    expect(JSON.stringify(health)).not.toContain(KEYS.AWS_SECRET_ACCESS_KEY);
  });

  it('nobody has signed in: said soon, not after the metadata service of another machine', async () => {
    server = await fleet([]);
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
    delete process.env['AWS_EC2_METADATA_DISABLED'];
    const begun = Date.now();
    const health = await check();
    process.env['AWS_EC2_METADATA_DISABLED'] = 'true';
    expect(health).toMatchObject({ state: 'down', says: expect.stringMatching(/^no AWS credentials/) as string });
    expect(Date.now() - begun).toBeLessThan(8_000);
    expect(server.asked).toEqual([]);
  });

  it('may not list regions: the one that is set is read, and the missing line is said', async () => {
    server = await fleet([{ id: 'i-0a' }], ({ action }) =>
      action === 'ec2:DescribeRegions' ? ec2Refusal('UnauthorizedOperation') : undefined,
    );
    const health = await check();
    expect(health).toMatchObject({
      state: 'partial',
      gpus: 1,
      todo: expect.stringContaining('"ec2:DescribeRegions"') as string,
    });
  });

  it('a region that is slow does not hide the others', async () => {
    server = await fleet([{ id: 'i-0a' }], ({ action, region }) =>
      action === 'ec2:DescribeInstances' && region === 'eu-north-1' ? 'silent' : undefined,
    );
    const health = await check();
    expect(health).toMatchObject({
      state: 'partial',
      says: expect.stringContaining('1 running GPU instances with 1 GPUs in 1 of 2 regions') as string,
      todo: expect.stringContaining('regions: [us-east-1]') as string,
    });
  });

  it('a server that never answers is left when the caller has waited long enough', async () => {
    server = await fleet([], () => 'silent');
    const health = await check(AbortSignal.timeout(300));
    expect(health.state).toBe('down');
  });
});
