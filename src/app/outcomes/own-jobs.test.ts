import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { meetWork } from './meet-work.ts';
import type { Achieved } from './meet-work.ts';
import { outcomeRows } from './outcome-rows.ts';
import type { OutcomeBy } from './outcome-rows.ts';
import { findOwnJobs, ownWork } from './own-jobs.ts';
import { paidHoldings, subjectsOnNodes } from './paid-holdings.ts';
import { countWork, otherWork } from './work-done.ts';

const NOW = new Date('2026-03-04T00:00:00Z');
const at = (day: number, hour: number): string => `2026-03-0${day}T${String(hour).padStart(2, '0')}:00:00Z`;

const NAMES = ['train-1', 'train-2', 'train-3', 'probe', 'sweep-1', 'sweep-2', 'chat', 'twice', 'twice', 'on-a-box'];
const job = (name: string, place: number): string => {
  const source = name === 'twice' && place % 2 === 0 ? 'kube' : 'slurm';
  const id = name === 'twice' ? 'both' : `id-${place}`;
  const [kind, labels] = name === 'chat' ? ['Deployment', '{"class": "inference"}'] : ['Job', '{"class": "training"}'];
  return `${source}|${id}|0|n${place}|${at(2, place)}|${at(3, 6)}|1|c|${name === 'chat' ? 'serving' : 'lab'}|${place % 2 === 0 ? 'nlp' : 'asr'}|u|${kind}|${name}|${labels}`;
};
/** From midnight to ten and on from noon to six, so that a job may be there twice. */
const [MORNING, EVENING] = [`${at(2, 0)}|${at(2, 10)}`, `${at(2, 12)}|${at(2, 18)}`];
const TRAINS = 'u|Job|same|{"class": "training"}';
const SERVES = 'u|Deployment|serve|{"class": "inference"}';
/** Jobs of which one thing only says that their money may be that of other work too. */
const NEARLY_OWN = `
  slurm|two-sources|0|m0|${MORNING}|1|c|lab|nlp|${TRAINS}
  kube|two-sources|0|m1|${MORNING}|1|c|lab|nlp|${TRAINS}
  kube|replica-1|0|m2|${MORNING}|1|c|api|nlp|${SERVES}
  kube|replica-2|0|m3|${MORNING}|1|c|api|nlp|${SERVES}
  slurm|two-teams|0|m4|${MORNING}|1|c|lab|nlp|${TRAINS}
  slurm|two-teams|1|m4|${EVENING}|1|c|lab|asr|${TRAINS}`;
const work = (id: string, unit: string, quantity: number, more = '||||'): string =>
  `w|${id} ${unit}|${unit}|${at(2, 12)}|${at(2, 18)}|${quantity}|${more}`;

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder({
    nodes: csv(`node_id|present_from|present_until|cluster|gpu_count|model
      ${NAMES.map((_, place) => `n${place}|${at(2, 0)}|${at(3, 12)}|c|1|H100`).join('\n')}
      ${[0, 1, 2, 3, 4].map((place) => `m${place}|${at(2, 0)}|${at(2, 18)}|c|1|H100`).join('\n')}
      box|${at(2, 0)}|${at(3, 0)}|c|1|H100
      box|${at(3, 0)}|${at(3, 12)}|nobody-asks|1|H100`),
    rates: csv(`model|from|usd_per_gpu_hour|source\nH100|${at(1, 0)}|2.00|contract`),
    allocations:
      csv(`source|allocation_id|attempt|node_id|held_from|held_until|gpu_count|cluster|namespace|account|user_name|workload_kind|workload_name|labels
      ${NAMES.map(job).join('\n')}${NEARLY_OWN}`),
    work: csv(`source|work_id|unit|window_from|window_until|quantity|allocation_id|run|namespace|pod|node_id
      ${work('train-1', 'step', 100, 'id-0|train-1|||')}
      ${work('train-1', 'sample', 0, 'id-0|train-1|||')}
      ${work('train-2', 'step', 250, 'id-1|train-2|||')}
      ${work('train-3', 'step', 40, 'slurm/id-2|train-3|||')}
      ${work('probe a', 'step', 7, 'id-3|probe-a|||')}
      ${work('probe b', 'step', 3, 'id-3|probe-b|||')}
      ${work('sweep 1', 'step', 20, 'id-4|sweep-1|||')}
      ${work('sweep 2', 'step', 30, '|sweep-2|||')}
      ${work('chat', 'request', 900, '||serving|chat-7f-x|')}
      ${work('twice', 'step', 11, 'both|twice|||')}
      ${work('box', 'step', 5, '||||n9')}
      ${work('two sources', 'step', 11, 'two-sources|in two sources|||')}
      ${work('replica', 'request', 12, 'replica-1|of a service|||')}
      ${work('two teams', 'step', 13, 'two-teams|of two teams|||')}
      ${work('loose', 'step', 14, '||||box')}
      ${work('gone', 'step', 8, 'id-99|gone|||')}`),
  });
}, 120_000);
afterAll(() => fleet.remove());

describe('work that jobs count themselves', () => {
  it.each(['model', 'team', 'run', 'unit'] satisfies OutcomeBy[])(
    'comes out by %s as if each had met its work by itself',
    async (by) => {
      await withReader(fleet.dataDir, async (space) => {
        const window = ledgerWindow('2026-03-02', NOW, space.scope);
        await countWork(space, window.from, window.until);
        await findOwnJobs(space, window, by);
        const own = await ownWork(space, window, window.until);
        const rest = async (): Promise<readonly Achieved[]> =>
          meetWork(
            await otherWork(space),
            await paidHoldings(space, window, window.until),
            await subjectsOnNodes(space, window, ['n9']),
          ).achieved;
        const together = outcomeRows(by, [...own, ...(await rest())], []);
        await space.make('own_job', { tables: [], sql: 'SELECT * FROM own_job WHERE FALSE' });
        await space.make('met_life', { tables: [], sql: 'SELECT subject FROM held_job' });
        expect(together).toEqual(outcomeRows(by, await rest(), []));
      });
    },
  );

  it('is only that of jobs whose work is theirs alone', async () => {
    await withReader(fleet.dataDir, async (space) => {
      const window = ledgerWindow('2026-03-02', NOW, space.scope);
      await countWork(space, window.from, window.until);
      await findOwnJobs(space, window, 'run');
      const own = await space.ask<{ id: string }>({
        tables: [],
        sql: 'SELECT DISTINCT allocation_id AS id FROM own_job ORDER BY allocation_id',
      });
      // Of a job with two names, in two sources, on a machine that counts or of a name that another counter knows nobody can say so much.
      expect(own.map(({ id }) => id)).toEqual(['id-0', 'id-1', 'id-4']);
    });
  });

  it.each([
    {
      name: 'whose id two schedulers have',
      run: 'in two sources',
      lives: ['kube/two-sources/0', 'slurm/two-sources/0'],
      want: 40n,
    },
    {
      name: 'that serves beside another',
      run: 'of a service',
      lives: ['kube/replica-1/0', 'kube/replica-2/0'],
      want: 40n,
    },
    { name: 'of two teams', run: 'of two teams', lives: ['slurm/two-teams/0', 'slurm/two-teams/1'], want: 32n },
  ])('a job $name meets its work one by one, and its money counts once', async ({ run, lives, want }) => {
    await withReader(fleet.dataDir, async (space) => {
      const window = ledgerWindow('2026-03-02', NOW, space.scope);
      await countWork(space, window.from, window.until);
      await findOwnJobs(space, window, 'run');
      const met = await space.ask<{ subject: string }>({ tables: [], sql: 'SELECT subject FROM met_life' });
      const subjects = lives.map((life) => `job ${life}`);
      expect(met.map(({ subject }) => subject)).toEqual(expect.arrayContaining(subjects));
      const rest = meetWork(await otherWork(space), await paidHoldings(space, window, window.until), []);
      const achieved = [...(await ownWork(space, window, window.until)), ...rest.achieved];
      const paid = achieved.filter((each) => each.run === run).map((each) => each.paid?.usdMicros);
      expect(paid).toEqual([want * 1_000_000n]);
      expect(rest.uncounted.map(({ name }) => name)).not.toContain('serve');
    });
  });

  it('of a machine is paid for while it was held by nobody knows whom, and not while it was free', async () => {
    await withReader(fleet.dataDir, async (space) => {
      const window = ledgerWindow('2026-03-02/2026-03-04', NOW, space.scope);
      await countWork(space, window.from, window.until);
      await findOwnJobs(space, window, 'run');
      const box = (await paidHoldings(space, window, window.until)).find(({ subject }) => subject === 'node box');
      // Free all day in a cluster whose scheduler speaks, then for half a day in one of which nobody does.
      expect(box).toMatchObject({ usdMicros: 24_000_000n, unknownUsdMicros: 24_000_000n });
    });
  });
});
