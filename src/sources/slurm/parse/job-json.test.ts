import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { accountedJob, jsonList, queuedJob } from './job-json.ts';
import { scontrolBlocks, scontrolJob } from './scontrol-text.ts';
import type { SlurmJob } from './slurm-job.ts';
import { nodeFromJson } from './slurm-node.ts';
import { slurmClock } from './slurm-time.ts';

const recorded = (name: string) => readFileSync(new URL(`recorded/${name}`, import.meta.url), 'utf8');
const jobs = (name: string, read: typeof accountedJob) =>
  jsonList(recorded(name), 'jobs', name).map((job) => read(job) as SlurmJob);
const byId = (all: readonly SlurmJob[], id: string) => all.filter(({ jobId }) => jobId === id);

describe.each(['22.05', '24.11'])('what Slurm %s says in JSON', (version) => {
  const accounted = jobs(`sacct-${version}.json`, accountedJob);
  const queued = jobs(`squeue-${version}.json`, queuedJob);

  it('has every life of a requeued job, each with its own end', () => {
    const lives = byId(accounted, '14');
    expect(lives.map(({ state }) => state)).toEqual(['REQUEUED', 'COMPLETED']);
    for (const { start = 0, end = 0, elapsedS } of lives) expect(end - start).toBe(elapsedS);
    expect(byId(accounted, '7').map(({ state }) => state)).toEqual(['PREEMPTED', 'COMPLETED']);
  });
  it('holds for as long as it ran and was suspended', () => {
    const [job] = byId(accounted, '15');
    expect(job?.suspendedS).toBeGreaterThan(0);
    expect((job?.end ?? 0) - (job?.start ?? 0)).toBe((job?.elapsedS ?? 0) + (job?.suspendedS ?? 0));
  });
  it('counts GPUs once, whatever their types', () => {
    expect(byId(accounted, '3')[0]?.allocated).toMatchObject({ gpus: 4, cpus: 2, memoryBytes: 2000 * 1024 ** 2 });
  });
  it('names tasks and parts as people see them', () => {
    const ids = accounted.map(({ jobId }) => jobId);
    expect(ids).toEqual(expect.arrayContaining(['4_0', '4_1', '4_2', '4_3', '18+1']));
  });
  it('knows that a job never started', () => {
    expect(byId(accounted, '12')[0]).toMatchObject({ state: 'CANCELLED', nodes: [] });
    expect(byId(accounted, '12')[0]).not.toHaveProperty('start');
  });
  it('knows whose it is', () => {
    expect(byId(accounted, '3')[0]).toMatchObject({ user: 'u3', account: 'vision', qos: 'high', cluster: 'train' });
  });
  it('tells which GPUs a running job has on each machine', () => {
    expect(byId(queued, '3')[0]).toMatchObject({
      state: 'RUNNING',
      nodes: ['node-h01', 'node-h02'],
      perNode: [
        { node: 'node-h01', items: [{ type: 'h100', count: 2, indices: [0, 1] }] },
        { node: 'node-h02', items: [{ type: 'h100', count: 2, indices: [0, 1] }] },
      ],
    });
  });
  it('takes neither the planned end of a running job nor the planned start of a waiting one for true', () => {
    expect(byId(queued, '3')[0]).not.toHaveProperty('end');
    expect(byId(queued, '12')[0]).toMatchObject({ state: 'PENDING', reason: 'AssocGrpGRES', requested: { gpus: 12 } });
    expect(byId(queued, '12')[0]).not.toHaveProperty('start');
  });
  it('says the same as scontrol', () => {
    const clock = slurmClock('UTC');
    for (const block of scontrolBlocks(recorded(`scontrol-job-${version}.txt`), 'JobId')) {
      const text = scontrolJob(block, clock) as SlurmJob;
      const [json] = byId(queued, text.jobId);
      expect(json, text.jobId).toBeDefined();
      const facts = ({
        jobId,
        state,
        start,
        submit,
        nodes,
        allocated,
        perNode,
        user,
        account,
        restarts,
      }: SlurmJob) => ({
        jobId,
        state,
        start,
        submit,
        nodes,
        allocated,
        perNode,
        user,
        account,
        restarts,
      });
      expect(facts(text)).toEqual(facts(json as SlurmJob));
    }
  });
  it('knows machines by their GPUs', () => {
    const nodes = jsonList(recorded(`nodes-${version}.json`), 'nodes', 'nodes').map((node) => nodeFromJson(node));
    expect(nodes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'node-h01', gpus: 8, models: ['h100'], cpus: 96, memoryMib: 1_000_000 }),
      ]),
    );
  });
});

it('says what is wrong with something that is no reply of Slurm’s', () => {
  expect(() => jsonList('{"jobs": [', 'jobs', 'the reply')).toThrow('not whole JSON');
  expect(() => jsonList('{"items": []}', 'jobs', 'the reply')).toThrow('no list "jobs"');
  expect(accountedJob('x')).toHaveProperty('leftOut');
  expect(queuedJob({ job_id: 5 })).toHaveProperty('leftOut');
});
