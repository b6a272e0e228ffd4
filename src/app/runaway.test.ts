import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import type { RunawayAnswer } from '../report/runaway-list.ts';
import { runawayJson, runawayList, runawaySlack } from '../report/runaway-list.ts';
import { decideNow } from './now.ts';
import { runaway } from './runaway.ts';
import { ledgerWindow } from './window.ts';
import { withReader } from './workspace.ts';

const at = (hours: number): string =>
  new Date(Date.UTC(2026, 2, 2) + hours * 3_600_000).toISOString().replace('.000', '');

/** Forty runs of an hour, twenty on the first day and twenty on the third, two at a time, then one of eighty hours on four GPUs whose name would like to be a command. */
const HOSTILE = 'train-11';
const ALLOCATIONS = [
  'source,allocation_id,held_from,held_until,gpu_count,cluster,account,user_name,workload_kind,workload_name,outcome',
  ...Array.from(
    { length: 10 },
    (_, n) => `slurm,${100 + n},${at(n)},${at(n + 1)},1,a,nlp,ada,Job,train-${n},completed`,
  ),
  `slurm,'; rm -rf / #,${at(10)},,4,a,<!channel> \u001b[31mnlp,ada,Job,${HOSTILE},running`,
  `slurm,200,${at(10)},,1,a,<!channel> \u001b[31mnlp,ada,Job,other-1,running`,
  ...Array.from(
    { length: 40 },
    (_, n) =>
      `slurm,${300 + n},${at((n % 10) + (n < 20 ? 0 : 60))},${at((n % 10) + (n < 20 ? 1 : 61))},1,a,<!channel> \u001b[31mnlp,ada,Job,train-${20 + n},completed`,
  ),
  `slurm,400,${at(89)},${at(90)},1,a,nlp,bo,Job,end,completed`,
].join('\n');

let fleet: FleetFolder;
let answer: RunawayAnswer;
const ask = (asOf?: Date, window = '90d'): Promise<RunawayAnswer> =>
  withReader(fleet.dataDir, (space) => {
    const now = decideNow(asOf, space.scope?.horizon, new Date('2026-11-01T00:00:00Z'));
    return runaway(space, now, ledgerWindow(window, now.at, space.scope));
  });
beforeAll(async () => {
  fleet = await fleetFolder({ allocations: `${ALLOCATIONS}\n`, rates: 'model,usd_per_gpu_hour\n*,6.00\n' });
  answer = await ask();
});
afterAll(() => fleet.remove());

describe('a job that has left its kind behind', () => {
  test('is told with what it costs, what it is compared with, and the command that stops it', () => {
    expect(answer).toMatchObject({ liveJobs: 2, comparedJobs: 1, finishedJobs: 40 });
    expect(answer.runaways).toHaveLength(1);
    expect(answer.runaways[0]).toMatchObject({
      name: HOSTILE,
      user: 'ada',
      shareUnits: 252_000n,
      heldSeconds: 80 * 3600,
      usdMicrosSoFar: 1_920_000_000n,
      usdMicrosPerHour: 24_000_000n,
      by: ['hours', 'cost', 'gpus'],
      stop: `scancel ''\\''; rm -rf / #'   # cluster=a`,
    });
    expect(runawayList(answer)[0]).toBe(
      '1 job spends far above its own kind, $24.00/h together; as of 2026-03-05 18:00 UTC, the newest fact',
    );
    expect(runawayList(answer).at(-2)).toContain(
      '1 job could not be compared: fewer than 20 of the kind have finished.',
    );
  });

  test('has cost what it has since it began, however short the window', async () => {
    const short = await ask(undefined, '2d');
    expect(short.finishedJobs).toBe(20);
    expect(short.runaways.map(({ usdMicrosSoFar, by }) => [usdMicrosSoFar, by])).toEqual([
      [1_920_000_000n, ['hours', 'cost', 'gpus']],
    ]);
  });

  test('has a name that is shown and never obeyed', () => {
    for (const line of [...runawayList(answer), ...runawaySlack(answer, 'bursar runaway')])
      expect(line).not.toContain('\u001b');
    const slack = runawaySlack(answer, 'bursar runaway').join('\n');
    expect(slack).not.toContain('<!channel>');
    expect(slack).toContain('&lt;!channel&gt; nlp / ada');
  });

  test('is pasted with what it rests on: GPUs, how it is priced, how much is known, and the command', () => {
    expect(runawaySlack(answer, 'bursar runaway').at(-1)).toMatch(
      /^\d+ GPUs?; 1 running job compared with 40 finished ones of \d+ days; by stated rates; \d+ % of held GPU time known; `bursar runaway`$/,
    );
  });

  test('is JSON with money as it is in the ledger', () => {
    expect(runawayJson(answer)).toMatchObject({
      asOf: '2026-03-05T18:00:00Z',
      runaways: [
        { gpus: 4, usdMicrosSoFar: 1_920_000_000n, kind: { jobs: 40, medianGpus: 1, mostGpus: 1, mostSeconds: 3600 } },
      ],
    });
  });
});

test('before it left its kind behind nothing is said, but against what it was compared', async () => {
  const lines = runawayList(await ask(new Date(at(10))));
  expect(lines).toEqual([
    'No job spends far above its own kind; as of 2026-03-02 10:00 UTC',
    'Compared: 0 running jobs with 0 finished ones of the same name (and user, where there are 20) of the last 1 day; far above is more than any of them, more than twice the 99th of a hundred, and three times the middle one.',
  ]);
});

test('somebody who looks back sees what it had cost by then', async () => {
  const [job] = (await ask(new Date(at(12)))).runaways;
  expect(job).toMatchObject({ heldSeconds: 2 * 3600, usdMicrosSoFar: 48_000_000n, usdMicrosPerHour: 24_000_000n });
});

test('long after the newest fact nothing is known', async () => {
  expect(runawayList(await ask(new Date(at(300))))[0]).toBe(
    'Nothing is known of 2026-03-14 12:00 UTC: the newest fact is of 2026-03-05 18:00 UTC',
  );
});
