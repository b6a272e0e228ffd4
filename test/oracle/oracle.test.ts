import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_S, HOUR_S } from './organisation.ts';
import { oracle } from './oracle.ts';
import type { OracleAnswer } from './oracle.ts';
import { SOME_COMPONENT_PRICES, SOME_LIST_PRICES, flavoursOf, randomOrganisation } from './random-organisation.ts';
import { FLAVOURS } from './random/draft.ts';
import { covers, groupedBy } from './order.ts';
import type { GpuHour } from './rules/gpu-hour.ts';
import { U, rootOf } from './rules/presence.ts';

const seeds = Array.from({ length: 30 }, (_, seed) => seed);

const SOME_LINKS = [
  { name: 'H100', id: 'H100', nvlinkGbS: 900 },
  { name: 'A100', id: 'A100', nvlinkGbS: 600 },
  { name: 'L4', id: 'L4', nvlinkGbS: null },
];

const holderName = (row: GpuHour): string => [row.device_id, row.source, row.allocation_id, row.attempt].join('/');

const sumOf = (values: readonly (bigint | null)[]): bigint =>
  values.reduce<bigint>((sum, value) => sum + (value ?? 0n), 0n);

/** Unit-seconds a root had in an hour, by adding up what was there between every two changes. */
function capacityOf({ presence }: OracleAnswer, root: string, hour: number): bigint {
  const spells = presence.devices.filter((spell) => rootOf(spell) === root);
  const changes = spells
    .flatMap((spell) => [spell.from, spell.until])
    .filter((time) => hour < time && time < hour + HOUR_S);
  const times = [...new Set([hour, ...changes, hour + HOUR_S])].sort((left, right) => left - right);
  return times.slice(0, -1).reduce((sum, time, index) => {
    const there = spells.filter((spell) => covers(spell, time));
    const slices = there.filter((spell) => spell.parent_device_id !== null);
    const ofSlices = slices.reduce((units, slice) => units + slice.share_units, 0);
    const units = there.length > slices.length ? Math.max(U, ofSlices) : ofSlices;
    return sum + BigInt(units) * BigInt((times[index + 1] ?? time) - time);
  }, 0n);
}

describe.each(seeds)('organisation %i', (seed) => {
  let answer: OracleAnswer;
  beforeAll(() => {
    answer = oracle(randomOrganisation(seed), SOME_LIST_PRICES, [], SOME_COMPONENT_PRICES);
  });
  const title = `(${flavoursOf(seed).join(', ')})`;

  test(`every posted bill is in the entries, to the micro ${title}`, () => {
    for (const bill of answer.bills) {
      const entries = answer.entries.filter((entry) => entry.bill_id === bill.bill_id);
      const rounding = sumOf(
        entries.filter((entry) => entry.disposition === 'rounding').map((entry) => entry.usd_micros),
      );
      expect(sumOf(entries.map((entry) => entry.usd_micros))).toBe(bill.usd_micros ?? 0n);
      expect(rounding).toBe(bill.rounding_micros ?? 0n);
      expect(Math.abs(Number(rounding))).toBeLessThanOrEqual((bill.days + 1) / 2);
    }
  });

  test(`every second of every present device is in the entries, once ${title}`, () => {
    const byRootHour = groupedBy(
      answer.entries.filter((entry) => entry.root_device_id !== null),
      (entry) => JSON.stringify([entry.root_device_id, entry.hour_start]),
    );
    for (const [name, entries] of byRootHour) {
      const [root, hour] = JSON.parse(name) as [string, number];
      expect(sumOf(entries.map((entry) => entry.gpu_units))).toBe(capacityOf(answer, root, hour));
    }
    const inEntries = sumOf(answer.entries.filter((entry) => entry.device_id !== null).map((entry) => entry.gpu_units));
    expect(inEntries).toBe(sumOf(answer.gpuHours.map((row) => row.unit_seconds)));
  });

  test(`an entry is what its split says, its activity is all of what is held, its waterfall all of it ${title}`, () => {
    const waterfall = groupedBy(answer.waterfall, (row) => String(answer.entries.indexOf(row.entry)));
    for (const [index, entry] of answer.entries.entries()) {
      const { split_of_usd_micros: whole, split_before, split_weight, split_total } = entry;
      const part =
        whole === null
          ? null
          : (whole * (split_before + split_weight)) / split_total - (whole * split_before) / split_total;
      expect(entry.usd_micros).toBe(part);
      const classed = entry.computing_units + entry.idle_units + entry.unknown_units;
      expect(classed).toBe(entry.disposition === 'held' ? entry.gpu_units : 0n);
      const rows = waterfall.get(String(index)) ?? [];
      expect(sumOf(rows.map((row) => row.usd_micros))).toBe(entry.usd_micros ?? 0n);
      expect(sumOf(rows.map((row) => row.gpu_units))).toBe(entry.gpu_units);
    }
  });
});

describe('random organisations', () => {
  test('have every reason among the first seeds, pauses over midnight, of shares and of slices among them', () => {
    const answers = seeds.map((seed) => oracle(randomOrganisation(seed), SOME_LIST_PRICES, SOME_LINKS));
    const held = answers.flatMap(({ waterfall }) => waterfall.filter(({ entry }) => entry.disposition === 'held'));
    const reasons = new Set(held.map(({ category, reason }) => `${category} ${reason}`));
    expect([...reasons].some((reason) => reason.startsWith('lost '))).toBe(true);
    expect(new Set([...reasons].filter((reason) => !reason.startsWith('lost ')))).toEqual(
      new Set([
        'unknown null',
        'idle null',
        'idle parked',
        'idle bare',
        'idle between-requests',
        'starved pause',
        'starved gap',
        'starved exchange',
        'computing null',
        'computing busy',
        'computing memory-bound',
        'computing launch-bound',
        'computing throttled',
      ]),
    );
    expect(new Set(held.map(({ entry }) => entry.manner))).toEqual(new Set(['job', 'serving', 'interactive', null]));
    const pausing = answers.map(
      ({ gpuHours }) => new Map(gpuHours.map((row) => [`${holderName(row)} ${row.hour}`, row.pause_units])),
    );
    const overMidnight = pausing.flatMap((hours) =>
      [...hours].filter(([name, units]) => {
        const [holder = '', hour = ''] = name.split(' ');
        const next = hours.get(`${holder} ${Number(hour) + HOUR_S}`) ?? 0n;
        return (Number(hour) + HOUR_S) % DAY_S === 0 && units > 0n && next > 0n;
      }),
    );
    expect(overMidnight.length).toBeGreaterThan(0);
    // A share of a device, and a slice of one.
    const paused = answers.flatMap(({ gpuHours }) => gpuHours.filter((row) => row.pause_units > 0n));
    expect(paused.some((row) => row.gap_units > 0n && row.unit_seconds < BigInt(row.seconds) * BigInt(U))).toBe(true);
    expect(paused.some((row) => row.device_id !== row.root_device_id)).toBe(true);
  });

  test('are the same for the same seed', () => {
    expect(randomOrganisation(7)).toEqual(randomOrganisation(7));
    expect(randomOrganisation(7)).not.toEqual(randomOrganisation(8));
  });

  test('have every flavour among the first seeds, and keys that tell their rows apart', () => {
    expect(new Set(seeds.flatMap(flavoursOf))).toEqual(new Set(FLAVOURS));
    for (const seed of seeds) {
      const { nodes, devices, samples, allocations, rates } = randomOrganisation(seed);
      const keys = [
        ...nodes.map((row) => ['node', row.node_id, row.present_from]),
        ...devices.map((row) => ['device', row.device_id, row.present_from]),
        ...samples.map((row) => ['sample', row.device_id, row.ts]),
        ...allocations.map((row) => [row.source, row.allocation_id, row.attempt, row.node_id, row.slot, row.held_from]),
        ...rates.map((row) => ['rate', row.model, row.node_id, row.valid_from]),
      ].map((key) => JSON.stringify(key));
      expect(new Set(keys).size).toBe(keys.length);
    }
  });
});
