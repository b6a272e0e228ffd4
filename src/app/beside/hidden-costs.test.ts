import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { hiddenCostsJson, hiddenCostsPage } from '../../report/hidden-costs-page.ts';
import type { HiddenCosts } from '../../report/hidden-costs-page.ts';
import { jobPage } from '../../report/job-page.ts';
import { parseDimensions, parseFilters } from '../filter.ts';
import { job } from '../job.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { hiddenCosts, sharedBeside } from './hidden-costs.ts';

const DAY = '2026-03-02';
const now = new Date('2026-03-03T00:00:00Z');
const GPU_HOUR_UNITS = 63_000n * 3600n;

const ask = (fleet: FleetFolder, filter = ''): Promise<HiddenCosts> =>
  withReader(fleet.dataDir, (space) => hiddenCosts(space, parseFilters([filter]), ledgerWindow(DAY, now, space.scope)));

/** Who waits, one line each: id, since, until, GPUs, model, why, cluster. Job 101's GPU is idle from 09:00 to 10:00. */
const waiting = (...lines: string[]): Record<string, string> => ({
  waiting: csv(
    [
      'source|allocation_id|submitted_at|waited_until|observed_at|gpu_count|model|held_back_by|cluster',
      ...lines.map((line) => {
        const [id, from, until, ...rest] = line.split('|').map((cell) => cell.trim());
        return [
          'slurm',
          id,
          `${DAY}T${from}:00Z`,
          until === '' ? '' : `${DAY}T${until}:00Z`,
          `${DAY}T12:00:00Z`,
          ...rest,
        ].join('|');
      }),
    ].join('\n'),
  ),
});

describe('a fleet of which nobody says who waited', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
  });
  afterAll(() => fleet.remove());

  test('its parts are the bill’s: 26 + 1 stranded, owned at 2 × $2, an L4 at 2 × $0.805; tax and credit apart', async () => {
    const costs = await ask(fleet);
    expect(costs.parts).toEqual([
      { part: 'gpu', usdMicros: 32_610_000n },
      { part: 'storage', usdMicros: 500_000n },
      { part: 'tax', usdMicros: 1_200_000n },
      { part: 'credit', usdMicros: -250_000n },
    ]);
    expect(costs.usdMicros).toBe(34_060_000n);
    expect(costs.unpricedUnits).toBe(2n * GPU_HOUR_UNITS);
  });

  test('whatever the scope, its parts add up to what spend says of it', async () => {
    for (const filter of ['', 'team=nlp', 'team=', 'cluster=a', 'job=103', 'category=beside', 'component=other']) {
      const sum = (await ask(fleet, filter)).parts.reduce((total, { usdMicros }) => total + (usdMicros ?? 0n), 0n);
      const whole = await withReader(fleet.dataDir, (space) =>
        spend(space, {
          by: parseDimensions('team'),
          filters: parseFilters([filter]),
          window: ledgerWindow(DAY, now, space.scope),
        }),
      );
      expect(sum, filter).toBe(whole.totalUsdMicros ?? 0n);
    }
  });

  test('the waiting is not known, and that is what it says', async () => {
    const costs = await ask(fleet, 'team=nlp');
    expect(costs.waiting).toBeUndefined();
    expect(hiddenCostsPage(costs, [])).toContain(
      'Waiting meanwhile: not known, no scheduler says who waited and since when.',
    );
    expect(hiddenCostsJson(costs, [])).toMatchObject({ waiting: null, parts: { gpu: 9_750_000n } });
  });

  test('the bucket nobody owns is listed as shared', async () => {
    const shared = await withReader(fleet.dataDir, (space) => sharedBeside(space, ledgerWindow(DAY, now, space.scope)));
    expect(shared).toEqual([
      {
        component: 'storage',
        usdMicros: 500_000n,
        resources: 1,
        dearest: [{ resourceId: 'bucket-1', usdMicros: 500_000n }],
      },
    ]);
    expect(hiddenCostsPage(await ask(fleet), shared).slice(-2)).toEqual([
      'Shared, nobody’s: storage $0.50 in 1 resource (bucket-1 $0.50).',
      '  bursar rules suggest shows the rules that would give it to somebody.',
    ]);
  });

  test('a scope without money says so', async () => {
    expect(hiddenCostsPage(await ask(fleet, 'team=nobody'), [])[0]).toContain('Nothing was paid: team=nobody');
  });
});

describe('the waiting that job 101’s idle hour could have served', () => {
  const cases: Record<string, { files: Record<string, string>; wantHours: number; wantUsd: number }> = {
    'half an hour of it': { files: waiting('9|09:15|09:45|1|||a'), wantHours: 0.5, wantUsd: 0.8125 },
    'all of it, though two wait': {
      files: waiting('9|08:00|12:00|1|H100||a', '10|09:00|10:00|1|||'),
      wantHours: 1,
      wantUsd: 1.625,
    },
    'until it was last seen': { files: waiting('9|09:30||1|||a'), wantHours: 0.5, wantUsd: 0.8125 },
    'none of it: it waits for a day, not for a GPU': {
      files: waiting('9|09:00|10:00|1||BeginTime|a'),
      wantHours: 0,
      wantUsd: 0,
    },
    'none of it: two GPUs are asked for': { files: waiting('9|09:00|10:00|2|||a'), wantHours: 0, wantUsd: 0 },
    'by a holding that says when it was asked for': {
      files: {
        'allocations 2': csv(`
          source|allocation_id|attempt|node_id|device_id|submitted_at|held_from|held_until|gpu_count|cluster
          slurm|301|0|a1|a1-0|${DAY}T09:30:00Z|${DAY}T10:00:00Z|${DAY}T11:00:00Z|1|a
          slurm|301|1|a1|a1-0|${DAY}T09:30:00Z|${DAY}T11:00:00Z|${DAY}T12:00:00Z|1|a`),
        // The same job as its scheduler told it: one waiting, not two.
        ...waiting('301|09:30|10:00|1|||a'),
      },
      wantHours: 0.5,
      wantUsd: 0.8125,
    },
    'by one that waited and then began, without a word of when it was asked for': {
      files: {
        'allocations 2': csv(`
          source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster
          slurm|301|a1|a1-0|${DAY}T10:00:00Z|${DAY}T11:00:00Z|1|a`),
        ...waiting('301|09:30||1|||a'),
      },
      wantHours: 0.5,
      wantUsd: 0.8125,
    },
  };
  // One folder: each case replaces who waited before, and the last two bring holdings of their own.
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
  });
  afterAll(() => fleet.remove());

  test.each(Object.entries(cases))('%s', async (_, { files, wantHours, wantUsd }) => {
    await fleet.import(files);
    const { waiting: served } = await ask(fleet, 'job=101');
    expect(served).toMatchObject({
      servedUnits: BigInt(wantHours * 10) * (GPU_HOUR_UNITS / 10n),
      usdMicros: BigInt(wantUsd * 1_000_000),
      idleUnits: GPU_HOUR_UNITS,
    });
  });

  test('stands on the job’s page', async () => {
    await fleet.import(waiting('9|09:15|09:45|1|||a'));
    const answer = await withReader(fleet.dataDir, (space) => job(space, { id: 'slurm/101', clock: now }));
    expect(answer.beside.parts).toEqual([{ part: 'gpu', usdMicros: 3_250_000n }]);
    expect(jobPage(answer)).toContain(
      'Waiting meanwhile: 0.5 GPU-hours that its idle GPUs could have served ($0.81; 1.0 GPU-hours were idle).',
    );
  });
});
