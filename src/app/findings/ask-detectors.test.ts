import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { DETECTORS } from '../../waste/detectors.ts';
import { decideNow } from '../now.ts';
import { ledgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { withReader } from '../workspace.ts';
import { evidenceOf, judgedSpan, keepShared } from './ask-detectors.ts';
import type { JudgedSpan } from './ask-detectors.ts';

const samples = (device: string, day: string, permille: number): string =>
  Array.from(
    { length: 24 },
    (_, hour) => `${device}|${day}T${String(hour).padStart(2, '0')}:00:00Z|3600|${hour < 6 ? 700 : permille}`,
  ).join('\n');

/** Two GPUs, a notebook and a job that fails, over two days. */
const FLEET = {
  nodes: csv(`
    node_id|present_from|provider|region|resource_id|purchase|cluster|gpu_count|model
    k1|2026-03-02T00:00:00Z|AWS|us-east-1|i-k1|on-demand|a|2|H100`),
  devices: csv(`
    device_id|node_id|model
    k1-0|k1|H100
    k1-1|k1|H100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|namespace|user_name|workload_kind|workload_name|outcome
    kubernetes|u1|k1|k1-0|2026-03-02T00:00:00Z||1|a|nlp|mchen|Notebook|notes|
    kubernetes|u2|k1|k1-1|2026-03-02T00:00:00Z|2026-03-03T20:00:00Z|1|a|vision|lopez|PyTorchJob|train|failed`),
  rates: csv(`
    model|usd_per_gpu_hour
    H100|3.00`),
  samples: csv(`
    device_id|ts|step_s|engine_permille
    ${samples('k1-0', '2026-03-02', 0)}
    ${samples('k1-0', '2026-03-03', 0)}
    ${samples('k1-1', '2026-03-02', 900)}
    ${samples('k1-1', '2026-03-03', 900)}`),
};

describe('what is kept in memory for many questions', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder(FLEET);
  });
  afterAll(() => fleet.remove());

  const reading = <Result>(work: (space: ReadSpace, span: JudgedSpan) => Promise<Result>): Promise<Result> =>
    withReader(fleet.dataDir, (space) => {
      const { at } = decideNow(undefined, space.scope?.horizon, new Date('2026-03-04T00:00:00Z'));
      return work(space, judgedSpan(ledgerWindow('all', at, space.scope), at));
    });

  it('answers every question of every detector as the files do', async () => {
    const queries = DETECTORS.flatMap((each) => Object.values(each.ask(each.options.parse({}))));
    await reading(async (space, span) => {
      const answers = async (): Promise<string[][]> => {
        const all: string[][] = [];
        for (const query of queries) all.push((await evidenceOf(space, query, span)).map(written).toSorted());
        return all;
      };
      const ofFiles = await answers();
      await keepShared(space, DETECTORS, span);
      expect(await answers()).toEqual(ofFiles);
      expect(ofFiles.filter((rows) => rows.length > 0).length).toBeGreaterThan(3);
    });
  });

  it.each([
    { name: 'a day of it', sql: 'SELECT held_s FROM stint_day', first: '2026-03-03', last: '2026-03-03', want: 1 },
    {
      name: 'days that are not',
      sql: 'SELECT held_s FROM stint_day',
      first: '2026-03-02',
      last: '2026-03-03',
      want: 2,
    },
    {
      name: 'a column that is not',
      sql: 'SELECT units FROM stint_day',
      first: '2026-03-03',
      last: '2026-03-03',
      want: 1,
    },
  ])('and is no hindrance to ask for $name', async ({ sql, first, last, want }) => {
    await reading(async (space) => {
      const one = `${sql} WHERE device_id = 'k1-0'`;
      await space.keep({
        tables: ['stint_day'],
        first: '2026-03-03',
        last: '2026-03-03',
        sql: ['SELECT held_s, device_id FROM stint_day'],
      });
      expect(await space.ask({ tables: [{ table: 'stint_day', first, last }], sql: one })).toHaveLength(want);
    });
  });
});

describe('the span that is judged', () => {
  const day = (of: number): Date => new Date(`2026-03-0${of}T00:00:00Z`);
  const horizon = new Date('2026-03-03T20:00:00Z');
  const scope = { begin: day(2), horizon, days: ['2026-03-02', '2026-03-03'], spoken: '', heard: '', bills: [] };
  it.each([
    { name: 'whole days that are over', window: '2026-03-02', now: scope.horizon, want: [day(2), day(3)] },
    { name: 'not what of today is to come', window: 'all', now: scope.horizon, want: [day(2), scope.horizon] },
    { name: 'all of the last day once it is over', window: 'all', now: day(6), want: [day(2), day(4)] },
  ])('has $name', ({ window, now, want: [from, until] }) => {
    const span = judgedSpan(ledgerWindow(window, now, scope), now);
    expect(span).toMatchObject({ from, until, now });
  });
});

function written(row: unknown): string {
  return JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
