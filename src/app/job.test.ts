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
    fleet = await fleetFolder({
      ...SMALL_FLEET,
      allocations: `${SMALL_FLEET['allocations']}${twice.replace('slurm', 'kube').replace('101', '201')}\n${cpuOnly}\n`,
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

  it('on CPUs only has no GPU money', async () => {
    expect(jobPage(await ask('900')).join('\n')).toContain('It held no GPU');
  });
});
