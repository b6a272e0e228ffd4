import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { EC2Client, RunInstancesCommand, StopInstancesCommand, TerminateInstancesCommand } from '@aws-sdk/client-ec2';
import type { _InstanceType } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectOnce } from '../../src/app/collect/collect.ts';
import { withReader } from '../../src/app/workspace.ts';
import { awsSource } from '../../src/sources/cloud/aws-source.ts';
import type { AwsLikeServer } from '../aws-like-server.ts';
import { awsRecorder } from '../aws-like-server.ts';
import { labPart } from '../lab.ts';

const lab = labPart('aws');
const POLICY = fileURLToPath(new URL('../../docs/sources/aws-policy.json', import.meta.url));
/** Every image moto knows may be started on any type. */
const IMAGE = 'ami-12c6146b';
const REGIONS = ['us-east-1', 'eu-north-1'];

describe.skipIf(!lab.installed)('a fleet in something that speaks like AWS', () => {
  const saved = { ...process.env };
  let folder = '';
  let recorder: AwsLikeServer;
  let upstream = '';
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-lab-aws-'));
    const variables = await lab.start(join(folder, 'lab'));
    upstream = variables['AWS_ENDPOINT_URL'] ?? '';
    // The recorder stands before it, and nothing else may be asked.
    const { AWS_ENDPOINT_URL: _, ...keys } = variables;
    Object.assign(process.env, keys);
    delete process.env['AWS_PROFILE'];
    recorder = await awsRecorder(upstream);
    ids['train'] = await launch('us-east-1', 'p4d.24xlarge', { Name: 'train', Owner: 'mchen', Team: 'nlp' });
    ids['notebook'] = await launch('eu-north-1', 'g5.xlarge', { Name: 'notebook' }, 'apatel');
    await launch('us-east-1', 't3.micro', { Name: 'web' });
  });
  afterAll(async () => {
    await recorder?.close();
    await lab.stop(join(folder, 'lab'));
    process.env = saved;
    await rm(folder, { recursive: true, force: true });
  });

  const ec2 = (region: string) => new EC2Client({ region, endpoint: upstream });

  async function launch(region: string, type: string, tags: Record<string, string>, key?: string): Promise<string> {
    const { Instances: instances = [] } = await ec2(region).send(
      new RunInstancesCommand({
        ImageId: IMAGE,
        InstanceType: type as _InstanceType,
        MinCount: 1,
        MaxCount: 1,
        ...(key !== undefined && { KeyName: key }),
        TagSpecifications: [
          { ResourceType: 'instance', Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) },
        ],
      }),
    );
    return instances[0]?.InstanceId ?? '';
  }

  const source = (regions: readonly string[] = REGIONS) =>
    awsSource({ name: 'aws', endpoint: recorder.endpoint, regions });
  const collect = (now: Date) =>
    collectOnce({
      dataDir: join(folder, 'data'),
      sources: [source()],
      now: () => now,
      since: new Date(now.getTime() - 3_600_000),
      signal: new AbortController().signal,
      progress: () => undefined,
    });
  const ask = <Row>(table: string, sql: string) =>
    withReader(join(folder, 'data'), (space) => space.ask<Row>({ tables: [{ table }], sql }));

  it('is collected: machines, holders, and what CloudWatch knows of the GPUs', async () => {
    const now = new Date();
    const minute = new Date(Math.floor(now.getTime() / 60_000) * 60_000 - 20 * 60_000);
    await new CloudWatchClient({ region: 'us-east-1', endpoint: upstream }).send(
      new PutMetricDataCommand({
        Namespace: 'CWAgent',
        MetricData: [0, 1].flatMap((index) =>
          [0, 1, 2].map((step) => ({
            MetricName: 'nvidia_smi_utilization_gpu',
            Dimensions: [
              { Name: 'InstanceId', Value: ids['train'] },
              { Name: 'index', Value: String(index) },
            ],
            Timestamp: new Date(minute.getTime() + step * 60_000),
            Value: index === 0 ? 90 + step : 0,
          })),
        ),
      }),
    );
    const report = await collect(now);
    expect(report.sources.map(({ state }) => state)).toEqual(['ok']);
    const nodes = await ask<Record<string, unknown>>(
      'node',
      'SELECT node_id, region, model, gpu_count, vcpu, provider, instance_type FROM node ORDER BY gpu_count DESC',
    );
    expect(nodes).toEqual([
      {
        node_id: ids['train'],
        region: 'us-east-1',
        model: 'A100',
        gpu_count: 8n,
        vcpu: 96n,
        provider: 'aws',
        instance_type: 'p4d.24xlarge',
      },
      {
        node_id: ids['notebook'],
        region: 'eu-north-1',
        model: 'A10G',
        gpu_count: 1n,
        vcpu: 4n,
        provider: 'aws',
        instance_type: 'g5.xlarge',
      },
    ]);
    const holders = await ask<Record<string, unknown>>(
      'allocation',
      `SELECT user_name, workload_name, labels['team'] AS team, held_until FROM allocation ORDER BY gpu_count DESC`,
    );
    expect(holders).toEqual([
      { user_name: 'mchen', workload_name: 'train', team: 'nlp', held_until: null },
      { user_name: 'apatel', workload_name: 'notebook', team: null, held_until: null },
    ]);
    const samples = await ask<Record<string, unknown>>(
      'gpu_sample',
      'SELECT device_id, count(*) AS n, max(util_permille) AS most, max(step_s) AS step_s FROM gpu_sample GROUP BY 1 ORDER BY 1',
    );
    expect(samples).toEqual([
      { device_id: `${ids['train']}/gpu0`, n: 3n, most: 920, step_s: 60 },
      { device_id: `${ids['train']}/gpu1`, n: 3n, most: 0, step_s: 60 },
    ]);
  });

  it('a box that was stopped and one that was terminated have ended; collecting again changes nothing', async () => {
    await ec2('us-east-1').send(new StopInstancesCommand({ InstanceIds: [ids['train'] ?? ''] }));
    await ec2('eu-north-1').send(new TerminateInstancesCommand({ InstanceIds: [ids['notebook'] ?? ''] }));
    const ended = 'SELECT allocation_id, held_from, held_until FROM allocation ORDER BY allocation_id';
    const now = new Date(Date.now() + 60_000);
    await collect(now);
    const once = await ask<{ held_until: string | null }>('allocation', ended);
    expect(once.map(({ held_until: until }) => until === null)).toEqual([false, false]);
    await collect(new Date(now.getTime() + 60_000));
    expect(await ask('allocation', ended)).toEqual(once);
    expect(await ask('node', 'SELECT count(*) AS n FROM node WHERE present_until IS NULL')).toEqual([{ n: 0n }]);
  });

  it('only what the documented policy allows was ever asked', async () => {
    await source([]).check(new AbortController().signal);
    const { Statement: statements } = JSON.parse(readFileSync(POLICY, 'utf8')) as { Statement: { Action: string[] }[] };
    const allowed = new Set(statements.flatMap(({ Action: actions }) => actions));
    const asked = new Set(recorder.asked.map(({ action }) => action));
    expect([...asked].filter((action) => !allowed.has(action))).toEqual([]);
    expect(asked.size).toBe(allowed.size);
  });
});
