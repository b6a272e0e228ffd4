import { describe, expect, it } from 'vitest';
import { hashOf } from '../chance.ts';
import type { Attempt, Node, OrganisationDay, Scope } from '../organisation.ts';
import { PRESETS } from '../world/presets.ts';
import type { Quantiles, World } from '../world/world-schema.ts';
import { organisationDays } from './organisation-days.ts';
import { habitOf, plainCourses, poolOf, worldOf } from './small-world.ts';

const DAY_S = 86_400;
/** A Friday. */
const FROM = Date.UTC(2026, 9, 2) / 1000;
const scopeOf = (gpus: number, days: number, seed = 1): Scope => ({
  seed,
  gpus,
  stepS: 300,
  from: FROM,
  until: FROM + days * DAY_S,
});
const always = (value: number): Quantiles => ({
  p0: value,
  p10: value,
  p50: value,
  p90: value,
  p99: value,
  p100: value,
});

/** Everything that can go wrong with machines, and every way of sharing them. */
const eventful = worldOf(
  [
    poolOf({ share_percent: 40, days_between_failures: 2, hours_broken: always(10), drained_percent: 20 }),
    poolOf({
      name: 'spot',
      share_percent: 30,
      gpus_per_node: 4,
      purchase: 'spot',
      scheduler: 'kubernetes',
      spot_hours_between_interruptions: 20,
      spot_hours_until_replaced: always(3),
    }),
    poolOf({ name: 'mig', share_percent: 10, gpus_per_node: 2, sharing: 'mig', mig_profiles: ['3g.40gb', '2g.20gb'] }),
    poolOf({ name: 'dev', share_percent: 20, gpus_per_node: 1, sharing: 'time-slice', time_slices: 3 }),
  ],
  [
    habitOf('training', { name: 'run', load_percent: 90, gpus: { '1': 5, '4': 3, '8': 2, '16': 1 } }),
    habitOf('training', { name: 'batch', pool: 'spot', load_percent: 80, gpus: { '1': 2, '2': 1, '4': 1 } }),
    habitOf('training', { name: 'slices', pool: 'mig', load_percent: 70, gpus: { '1': 3, '2': 1 } }),
    habitOf('notebook', { name: 'notebook', pool: 'dev', load_percent: 60 }),
    habitOf('sweep', { name: 'sweep', load_percent: 20 }),
    habitOf('serving', { name: 'service', pool: 'dev', share_percent: 20 }),
  ],
);

const worlds: Record<string, { world: World; gpus: number; days: OrganisationDay[] }> = {
  'where everything goes wrong, with plain courses': {
    world: eventful,
    gpus: 80,
    days: [...organisationDays(eventful, scopeOf(80, 9), plainCourses(5))],
  },
  'where everything goes wrong': { world: eventful, gpus: 80, days: [...organisationDays(eventful, scopeOf(80, 9))] },
  'of the unmanaged preset': {
    world: PRESETS.unmanaged,
    gpus: 120,
    days: [...organisationDays(PRESETS.unmanaged, scopeOf(120, 9))],
  },
  'of the well-run preset': {
    world: PRESETS['well-run'],
    gpus: 120,
    days: [...organisationDays(PRESETS['well-run'], scopeOf(120, 9))],
  },
};

const begunIn = (days: readonly OrganisationDay[]) => days.flatMap(({ begun }) => begun);
const devicesOf = ({ groups }: Attempt) => groups.flatMap(({ devices }) => devices);

describe.each(Object.entries(worlds))('in a world %s', (_name, { gpus, days }) => {
  it('nobody holds what another holds, and no device has more holders than slices', () => {
    const changes = new Map<string, { at: number; by: 1 | -1; most: number }[]>();
    for (const attempt of begunIn(days))
      for (const { id, node } of devicesOf(attempt)) {
        const most = node.pool.sharing === 'time-slice' ? node.pool.time_slices! : 1;
        const onDevice = changes.get(id) ?? [];
        onDevice.push({ at: attempt.from, by: 1, most }, { at: attempt.until, by: -1, most });
        changes.set(id, onDevice);
      }
    expect(changes.size).toBeGreaterThan(gpus / 2);
    for (const [id, onDevice] of changes) {
      let holders = 0;
      for (const { by, most } of onDevice.sort((a, b) => a.at - b.at || a.by - b.by)) {
        holders += by;
        if (holders > most) throw new Error(`${id} has ${holders} holders`);
      }
    }
  });

  it('nothing runs on a machine that is down or gone, and nothing begins on a drained one', () => {
    for (const attempt of begunIn(days))
      for (const { node } of devicesOf(attempt)) {
        expect(attempt.from).toBeGreaterThanOrEqual(node.presentFrom);
        expect(attempt.until).toBeLessThanOrEqual(node.presentUntil);
        const during = node.states.filter(({ from, until }) => from < attempt.until && until > attempt.from);
        expect(during.some(({ state }) => state === 'down')).toBe(false);
        // What ran already when the window began may be on a machine that was drained since.
        expect(attempt.from === FROM || during[0]!.state === 'up').toBe(true);
      }
  });

  it('a job gets as many devices as it asks for, each once, of one machine or of whole ones', () => {
    for (const attempt of begunIn(days)) {
      const devices = devicesOf(attempt);
      const nodes = new Set(devices.map(({ node }) => node));
      expect([devices.length, new Set(devices).size]).toEqual([attempt.job.gpus, attempt.job.gpus]);
      expect(devices.some(({ isCut }) => isCut)).toBe(false);
      expect(nodes.size === 1 || devices.length === nodes.size * attempt.job.pool.gpus_per_node).toBe(true);
    }
  });

  it('spans have no gaps, from the attempt’s first second to its last', () => {
    for (const attempt of begunIn(days))
      for (const { spans } of attempt.groups) {
        const ends = [attempt.from, ...spans.map(({ until }) => until)];
        expect(spans.map(({ from }) => from)).toEqual(ends.slice(0, -1));
        expect(ends.at(-1)).toBe(attempt.until);
      }
  });

  it('a day lists machines by id, begins by time, and who is on each device', () => {
    for (const [index, day] of days.entries()) {
      const { from, until, nodes, begun, onDevice } = day;
      expect([from, until]).toEqual([FROM + index * DAY_S, FROM + (index + 1) * DAY_S]);
      expect(nodes.map(({ id }) => id)).toEqual(nodes.map(({ id }) => id).sort());
      for (const node of nodes) {
        expect(node.presentFrom < until && node.presentUntil > from).toBe(true);
        expect([node.states[0]!.from, node.states.at(-1)!.until]).toEqual([node.presentFrom, node.presentUntil]);
      }
      expect(begun.every((attempt) => attempt.from >= from && attempt.from < until)).toBe(true);
      expect(begun.map((attempt) => attempt.from)).toEqual(begun.map((attempt) => attempt.from).sort((a, b) => a - b));
      const known = new Set<Node>(nodes);
      for (const [device, holdings] of onDevice) {
        expect(known.has(device.node)).toBe(true);
        expect(holdings.every(({ attempt }) => attempt.from < until && attempt.until > from)).toBe(true);
      }
      const overlapping = begunIn(days.slice(0, index + 1)).filter((attempt) => attempt.until > from);
      const seats = overlapping.reduce((sum, attempt) => sum + attempt.job.gpus, 0);
      expect([...onDevice.values()].reduce((sum, holdings) => sum + holdings.length, 0)).toBe(seats);
    }
  });

  it('who waits when a day ends has asked by then, and begins later or not at all', () => {
    const name = (id: string, askedAt: number) => `${id} ${askedAt}`;
    const begins = new Map(
      begunIn(days).flatMap(({ job, askedAt, from }) =>
        askedAt === undefined ? [] : [[name(job.id, askedAt), { askedAt, from }] as const],
      ),
    );
    for (const { until, waiting } of days) {
      expect(waiting.every(({ askedAt }) => askedAt < until)).toBe(true);
      const names = waiting.map(({ job, askedAt }) => name(job.id, askedAt));
      const known = names.filter((each) => begins.has(each)).sort();
      const later = [...begins].filter(([, { askedAt, from }]) => askedAt < until && from >= until);
      expect(known).toEqual(later.map(([each]) => each).sort());
    }
  });

  it('the window begins in the middle of life', () => {
    const [first] = days;
    const heldAtFirst = first!.begun.filter(({ from }) => from === FROM).reduce((sum, { job }) => sum + job.gpus, 0);
    expect(heldAtFirst).toBeGreaterThan(gpus / 4);
  });
});

describe('an organisation', () => {
  const told = (seed: number) => {
    let hash = 0;
    for (const { begun, nodes, waiting } of organisationDays(PRESETS.unmanaged, scopeOf(60, 3, seed))) {
      const attempts = begun.map(({ job, number, from, until, outcome, groups }) => [
        [job.id, job.name, job.user, job.submittedAt, number, from, until, outcome],
        groups.map(({ devices, spans }) => [devices.map(({ id }) => id), spans]),
      ]);
      const asks = waiting.map(({ job, askedAt }) => `${job.id} ${askedAt}`).join();
      hash = hashOf([hash, JSON.stringify(attempts), nodes.map(({ id, resourceId }) => id + resourceId).join(), asks]);
    }
    return hash;
  };

  it('is the same by the same seed, and another by another', () => {
    expect(told(1)).toBe(told(1));
    expect(told(2)).not.toBe(told(1));
  });

  it('has jobs that wait while GPUs are free', () => {
    const waits = begunIn(worlds['of the unmanaged preset']!.days).filter(
      ({ job, number, from }) => job.pool.name === 'train-h100' && number === 0 && from - job.submittedAt > 3600,
    );
    expect(waits.length).toBeGreaterThan(0);
    const pool = poolOf({ placement: 'spread' });
    const small = habitOf('training', { name: 'small', load_percent: 30, gpus: { '1': 1 } });
    const large = habitOf('training', { name: 'large', load_percent: 30, gpus: { '8': 1 } });
    const days = [...organisationDays(worldOf([pool], [small, large]), scopeOf(32, 9), plainCourses(12))];
    const waited = begunIn(days).filter(({ job, from }) => job.gpus === 8 && from - job.submittedAt > 3600);
    expect(waited.length).toBeGreaterThan(0);
    // On the first of these waits some GPU was free for all of it.
    const [{ from, job }] = waited as [Attempt];
    const busy = new Set(
      begunIn(days)
        .filter((attempt) => attempt.from < from && attempt.until > job.submittedAt)
        .flatMap((attempt) => devicesOf(attempt).map(({ id }) => id)),
    );
    expect(busy.size).toBeLessThan(32);
  });

  it('has spot machines that come and go, each with a name of its own', () => {
    const { days } = worlds['where everything goes wrong, with plain courses']!;
    const spot = [...new Set(days.flatMap(({ nodes }) => nodes))].filter(({ pool }) => pool.name === 'spot');
    expect(new Set(spot.map(({ id }) => id)).size).toBe(spot.length);
    expect(spot.filter(({ presentUntil }) => presentUntil < FROM + 9 * DAY_S).length).toBeGreaterThan(20);
    expect(spot.some(({ presentFrom }) => presentFrom > FROM)).toBe(true);
    for (let moment = FROM; moment < FROM + 9 * DAY_S; moment += 3600) {
      const there = spot.filter(({ presentFrom, presentUntil }) => presentFrom <= moment && moment < presentUntil);
      expect(there.length).toBeLessThanOrEqual(6);
    }
    const lost = begunIn(days).filter(({ outcome }) => outcome === 'preempted');
    expect(lost.length).toBeGreaterThan(0);
  });

  it('starts again what lost its machine, as the same job', () => {
    const { days } = worlds['where everything goes wrong, with plain courses']!;
    const lives = new Map<string, Attempt[]>();
    for (const attempt of begunIn(days)) lives.set(attempt.job.id, [...(lives.get(attempt.job.id) ?? []), attempt]);
    const again = [...lives.values()].filter((attempts) => attempts.length > 1);
    expect(again.length).toBeGreaterThan(0);
    for (const attempts of again)
      for (const [index, { from, number }] of attempts.entries()) {
        if (index === 0) continue;
        expect(number).toBe(attempts[index - 1]!.number + 1);
        expect(from).toBeGreaterThanOrEqual(attempts[index - 1]!.until + 60);
      }
  });

  it('keeps machines that stay past the window’s end', () => {
    const [day] = organisationDays(worldOf([poolOf({})], []), scopeOf(16, 1));
    expect(day!.nodes.map(({ id, presentFrom, presentUntil }) => [id, presentFrom, presentUntil])).toEqual([
      ['train-0001', FROM, FROM + 8 * DAY_S],
      ['train-0002', FROM, FROM + 8 * DAY_S],
    ]);
    expect(day!.onDevice.size).toBe(0);
  });

  it('refuses no GPUs in clear words, before the first day', () => {
    expect(() => organisationDays(PRESETS.unmanaged, scopeOf(0, 3)).next()).toThrow(/at least one GPU/);
  });
});
