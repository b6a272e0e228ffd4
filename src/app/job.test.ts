import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../test/small-fleet.ts';
import type { JobAnswer } from '../report/job-page.ts';
import { jobPage } from '../report/job-page.ts';
import { job } from './job.ts';
import { withReader } from './workspace.ts';

const clock = new Date('2026-11-01T00:00:00Z');

describe('one job', () => {
  let fleet: FleetFolder;
  const ask = (id: string): Promise<JobAnswer> => withReader(fleet.dataDir, (space) => job(space, { id, clock }));
  beforeAll(async () => {
    const twice = (SMALL_FLEET['allocations'] ?? '').split('\n').find((line) => line.includes('101')) ?? '';
    const cpuOnly = 'slurm,900,a1,,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,0,a,nlp,,mchen,Job,prep,';
    const nights = [1, 2, 3, 4, 5, 6].map(
      (night) =>
        `slurm,n${night},a1,,2026-03-0${night + 1}T08:00:00Z,2026-03-0${night + 1}T09:00:00Z,0,a,nlp,,mchen,Job,nightly 3,\n`,
    );
    fleet = await fleetFolder({
      ...SMALL_FLEET,
      allocations: `${SMALL_FLEET['allocations']}${twice.replace('slurm', 'kube').replace('101', '201')}\n${cpuOnly}\n${nights.join('')}`,
    });
  });
  afterAll(() => fleet.remove());

  it('costs what its hours cost, by what became of them', async () => {
    expect(await ask('slurm/103')).toMatchObject({
      usdMicros: 6_500_000n,
      categories: [
        { category: 'computing', usdMicros: 1_625_000n },
        { category: 'idle', usdMicros: 0n },
        { category: 'starved', usdMicros: 0n },
        { category: 'lost', usdMicros: 0n },
        { category: 'unknown', usdMicros: 4_875_000n },
      ],
      basisUsdMicros: { billed: 6_500_000n },
      team: 'nlp',
      user: 'apatel',
      class: 'training',
    });
  });

  it('of two schedulers has to be told apart', async () => {
    await expect(ask('201')).rejects.toMatchObject({
      code: 'ambiguous-job',
      hint: 'Say which: bursar job kube/201, or bursar job slurm/201.',
    });
  });

  it('that nobody knows is answered with the nearest', async () => {
    await expect(ask('104')).rejects.toMatchObject({ code: 'unknown-job', hint: 'Nearest: 101, 102, 103.' });
  });

  const NAMED: Record<string, { id: string; want: object }> = {
    'by the name on every screen is told its id': {
      id: 'render',
      want: {
        message: 'render is the name of 1 job: slurm/201 (from 2026-03-02)',
        hint: 'Ask for one by its id: bursar job slurm/201, or bursar receipt slurm/201.',
      },
    },
    'by a name of many is told the newest five': {
      id: 'nightly 3',
      want: {
        message:
          'nightly 3 is the name of 6 jobs: slurm/n6 (from 2026-03-07), slurm/n5 (from 2026-03-06), slurm/n4 (from 2026-03-05), slurm/n3 (from 2026-03-04), slurm/n2 (from 2026-03-03), …',
        hint: 'Ask for one by its id: bursar job slurm/n6, or bursar receipt slurm/n6.',
      },
    },
    'like no id is told of none': {
      id: 'nobody-knows-39',
      want: { message: 'no job nobody-knows-39 is known', hint: 'bursar spend --by job lists those that cost most.' },
    },
  };
  it.each(Object.entries(NAMED))('asked for %s', async (_, { id, want }) => {
    await expect(ask(id)).rejects.toMatchObject({ code: 'unknown-job', ...want });
  });

  it('on CPUs only has no GPU money', async () => {
    expect(jobPage(await ask('900')).join('\n')).toContain('It held no GPU');
  });
});
