import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../../test/claims-on.ts';
import { oversizedServing } from './oversized-serving.ts';

const ONE_HOUR = 63_000 * 3600;

interface Made {
  readonly name?: string;
  /** Days from Monday 2026-02-02 on. */
  readonly days?: number;
  readonly held?: (hour: number, day: number) => number;
  /** Replicas that are busy, in an hour of the day. */
  readonly busy?: (hour: number, day: number) => number;
  readonly unknown?: number;
  readonly models?: number;
  readonly isStandby?: boolean;
  readonly silent?: number;
  readonly requests?: number | null;
}

const dayOf = (place: number): string => new Date(Date.UTC(2026, 1, 2 + place)).toISOString().slice(0, 10);
const NIGHT_AND_DAY = (hour: number): number => (hour < 12 ? 0.5 : 5);

/** A service of replicas with one GPU each, and what its idle time cost: the same for each. */
function made({ name = 'chat', days = 10, held = () => 10, busy = NIGHT_AND_DAY, unknown = 0, ...more }: Made) {
  const { models = 1, isStandby = false, silent = 0, requests = 100 } = more;
  const service = `a/serving/${name}`;
  const dayPlaces = Array.from({ length: days }, (_, place) => place);
  const hours = dayPlaces.flatMap((place) =>
    Array.from({ length: 24 }, (_, hour) => ({
      day: dayOf(place),
      service,
      hour_start: `${dayOf(place)} ${String(hour).padStart(2, '0')}:00:00`,
      replicas: Math.ceil(held(hour, place)),
      replica_units: 63_000,
      held_units: held(hour, place) * ONE_HOUR,
      busy_units: Math.round(busy(hour, place) * ONE_HOUR),
      unknown_units: unknown * ONE_HOUR,
      models,
      requests,
    })),
  );
  const replicasOn = (place: number): number =>
    Math.max(...Array.from({ length: 24 }, (_, hour) => Math.ceil(held(hour, place)))) + silent;
  const replicaDays = dayPlaces.flatMap((place) =>
    Array.from({ length: replicasOn(place) }, (_, replica) => ({
      day: dayOf(place),
      service,
      name,
      cluster: 'a',
      namespace: 'serving',
      workload_kind: 'Deployment',
      is_standby: isStandby,
      subject: `job kubernetes/${name}-${replica}/0`,
      held_s: 86_400,
      held_units: 24 * ONE_HOUR,
      busy_units: hours.some(({ busy_units: units }) => units > 0) ? 1 : 0,
      unknown_units: 0,
      is_silent: replica >= replicasOn(place) - silent,
    })),
  );
  return { service_hour: hours, service_day: replicaDays };
}

const claimsOf = (...services: readonly Made[]) => {
  const tables = services.map(made);
  return claimsOn(oversizedServing, {
    service_hour: tables.flatMap((table) => table.service_hour),
    service_day: tables.flatMap((table) => table.service_day),
  });
};

describe('replicas against traffic', () => {
  it('what is beyond each hour’s need is claimed, with nights told apart', async () => {
    const [claim, ...others] = await claimsOf({});
    expect(others).toEqual([]);
    // By night 0.5 ÷ 0.6 and one in reserve: 2 of 10, at 0.85 too. By day 5 ÷ 0.6: 9 and one; at 0.85: 6 and one.
    expect(claim).toMatchObject({
      about: 'a/serving/chat',
      what: 'chat holds 10 replicas, its hours need 2 to 10; 2 would do 00:00–12:00 UTC on nine working days of ten',
      // Of idle 12 × 9.5 + 12 × 5 = 174 replica-hours a day 12 × 8 + 12 × 3 = 132; ten at all hours would free none.
      reachable: { lowPermille: 0, highPermille: 1000 },
    });
    expect(claim?.takes).toHaveLength(10 * 10);
    expect(claim?.takes[0]).toEqual({
      subject: 'job kubernetes/chat-0/0',
      firstDay: '2026-02-02',
      lastDay: '2026-02-02',
      category: 'idle',
      permille: 758,
    });
    expect(claim?.because[1]).toBe(
      '00:00–12:00 UTC: 8 of 10 replicas were not needed, on nine working days of ten or more.',
    );
  });

  it('every count of one finding agrees with the others: held, needed, not needed, and what is pasted', async () => {
    // 2.2 ÷ 0.6 and one are 5 at three in the afternoon, else 1.6 ÷ 0.6 and one: 4 of 9.
    const [claim] = await claimsOf({ held: () => 9, busy: (hour) => (hour === 15 ? 2.9 : hour < 6 ? 0 : 1.6) });
    expect(claim?.what).toBe(
      'chat holds 9 replicas, its hours need 1 to 6; 4 would do in all hours but 15:00–16:00 UTC on nine working days of ten',
    );
    expect(claim?.because[1]).toBe(
      'In all hours but 15:00–16:00 UTC: 5 of 9 replicas were not needed, on nine working days of ten or more.',
    );
    const fix = claim?.fix.join('\n') ?? '';
    expect(fix).toContain('--replicas=6');
    expect(fix).toMatch(/minReplicaCount: 1\n +maxReplicaCount: 6\n/);
  });

  it('at least what the number of replicas in its fix frees, at most what following every hour does', async () => {
    // By night 2 of 10 are needed, by day 5 at 60 % load and 4 at 85 %: five at all hours free 5 × 24, following 12 × (8 + 6).
    const [claim] = await claimsOf({ busy: (hour) => (hour < 12 ? 0.5 : 2.3) });
    expect(claim?.fix[0]).toContain('--replicas=5');
    expect(claim?.reachable).toEqual({ lowPermille: Math.floor((5 * 24 * 1000) / (12 * (8 + 6))), highPermille: 1000 });
    expect(claim?.because.join(' ')).toContain(
      'Freed at least: what 5 replicas at all hours would leave over; at most: what no hour needs at 85 % load.',
    );
  });

  it('what an hour needs is not cut to what was held', async () => {
    const [claim] = await claimsOf({ held: () => 5, busy: (hour) => (hour < 8 ? 0.3 : 2.9) });
    expect(claim?.what).toBe(
      'chat holds 5 replicas, its hours need 2 to 6; 2 would do 00:00–08:00 UTC on nine working days of ten',
    );
    expect(claim?.because.slice(1, 4)).toEqual([
      '00:00–08:00 UTC: 3 of 5 replicas were not needed, on nine working days of ten or more.',
      'At weekends the busiest hour needs 6 replicas.',
      'Needed at 60 % load with 1 in reserve: 6 at most (it held 5); at 85 %: 5.',
    ]);
    expect(claim?.fix.join('\n')).toContain('maxReplicaCount: 6');
  });

  it('of a service that already has fewer by night it counts those it had by night', async () => {
    const [claim] = await claimsOf({ held: (hour) => (hour < 12 ? 6 : 10) });
    expect(claim?.because[1]).toContain('00:00–12:00 UTC: 4 of 6 replicas were not needed');
  });

  it('says that pods are not machines', async () => {
    const [claim] = await claimsOf({});
    expect(claim?.fix).toContain(
      '# this frees pods; a bill falls once the node is gone: a cluster autoscaler takes empty ones, else drain it and end its rent',
    );
  });

  const silent: Record<string, Made> = {
    'two replicas are one and its reserve': { held: () => 2, busy: () => 0.05 },
    'replicas that come and go with their traffic': { held: (hour) => Math.ceil(NIGHT_AND_DAY(hour) / 0.6) + 1 },
    'replicas that are all busy': { busy: () => 9 },
    'three days and not an hour less': { days: 2 },
    'hours of which more than a twentieth is unknown': { unknown: 0.6 },
    'a service nobody calls, which is another detector’s': { busy: () => 0 },
    'less than a replica and day': { days: 3, held: () => 3, busy: (hour) => (hour < 7 ? 0.1 : 0.7) },
  };
  it.each(Object.entries(silent))('nothing is said of %s', async (_, service) => {
    expect(await claimsOf(service)).toEqual([]);
  });

  const asked: Record<string, { services: readonly Made[]; want: RegExp }> = {
    'what is called a standby': { services: [{ isStandby: true, busy: () => 0 }], want: /kept warm on purpose/ },
    'a standby that serves a little': { services: [{ isStandby: true }], want: /is called a standby/ },
    'what serves nothing while its sibling does': {
      services: [
        { name: 'chat-b', busy: () => 0 },
        { name: 'chat-a', held: () => 2 },
      ],
      want: /chat-b served nothing/,
    },
    'several models under one name': { services: [{ models: 3 }], want: /its hours need/ },
    'replicas out of the load balancer': {
      services: [{ held: () => 2, silent: 2 }],
      want: /2 replicas of chat served nothing/,
    },
  };
  it.each(Object.entries(asked))('%s is asked about, not claimed', async (_, { services, want }) => {
    const claims = await claimsOf(...services);
    expect(claims.map(({ what, isQuestion }) => [want.test(what), isQuestion])).toEqual([[true, true]]);
  });

  it('a standby is told with its replicas, their GPUs and what they cost', async () => {
    const { service_hour, service_day } = made({ isStandby: true, busy: () => 0, held: () => 2 });
    const subject_day = service_day.map(({ day, subject }) => ({
      day,
      subject,
      category: 'idle',
      gpu_units: 24 * ONE_HOUR,
      usd_micros: 48_000_000,
    }));
    const [claim] = await claimsOn(oversizedServing, { service_hour, service_day, subject_day });
    expect(claim?.what).toBe('chat served nothing in the window: are 2 replicas of it (2 GPUs) kept warm on purpose?');
    expect(claim?.because[0]).toBe('480 GPU-hours held in 10 days, $960.');
    expect(claim?.fix).toEqual([
      '# if nobody needs it: kubectl scale deployment chat -n serving --replicas=0   # cluster=a',
    ]);
    const [unpriced] = await claimsOn(oversizedServing, { service_hour, service_day });
    expect(unpriced?.because[0]).toBe('480 GPU-hours held in 10 days.');
  });

  it('no silent replica is claimed with the others', async () => {
    const claims = await claimsOf({ silent: 3 });
    expect(new Set(claims[0]?.takes.map(({ subject }) => subject)).size).toBe(10);
  });

  it('two days with replicas to spare take nothing of the eighteen without', async () => {
    const [claim] = await claimsOf({
      days: 20,
      held: (_, day) => (day === 3 || day === 4 ? 10 : 2),
      busy: () => 0.5,
    });
    expect([...new Set(claim?.takes.map(({ firstDay, lastDay }) => `${firstDay}..${lastDay}`))]).toEqual([
      '2026-02-05..2026-02-05',
      '2026-02-06..2026-02-06',
    ]);
    expect(claim?.what).toContain('holds 2.8 replicas on average (10 at most), its hours need 2.0 of them');
    expect(claim?.spark?.slice(0, 4)).toEqual([250, 250, 250, 50]);
  });

  it('a service that follows its traffic most of the time is never told a least above its most', async () => {
    // At 60 % the nights need 14 of 10, the days of which two are far too large.
    const [claim] = await claimsOf({ days: 20, held: (_, day) => (day < 2 ? 24 : 10), busy: () => 7.5 });
    expect(claim?.what).toBe('chat holds 11 replicas on average (24 at most), its hours need 10 of them');
    const fix = claim?.fix.join('\n') ?? '';
    const [least, most] = ['min', 'max'].map((end) => Number(new RegExp(`${end}ReplicaCount: (\\d+)`).exec(fix)?.[1]));
    expect([least, most]).toEqual([14, 14]);
    expect(fix).toMatch(/^# its replicas vary already/);
  });

  it('one busy day of ten moves the size, not the nights', async () => {
    const [claim] = await claimsOf({ days: 14, busy: (hour, day) => (day === 2 ? 8 : NIGHT_AND_DAY(hour)) });
    expect(claim?.what).toContain('2 would do 00:00–12:00 UTC');
  });

  it('says where no request was counted', async () => {
    const [claim] = await claimsOf({ requests: null });
    expect(claim?.because.join(' ')).toContain('No counter of its requests is known');
  });

  it('takes no more than what is idle, and at a higher load never less', async () => {
    const replicas = fc.integer({ min: 1, max: 12 });
    await fc.assert(
      fc.asyncProperty(
        replicas,
        fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 24, maxLength: 24 }),
        async (held, shares) => {
          const claims = await claimsOf({ days: 3, held: () => held, busy: (hour) => (held * shares[hour]!) / 1000 });
          // The long way round, in replicas.
          const hours = shares.map((share) => {
            const busy = (held * share) / 1000;
            const needed = (load: number): number => Math.ceil(Math.round(busy * 1e6) / 1e6 / load - 1e-9) + 1;
            const excess = (load: number): number => Math.max(0, Math.min(held - busy, held - needed(load)));
            return { low: excess(0.6), high: excess(0.85), idle: held - busy, needed: needed(0.6) };
          });
          const most = Math.max(...hours.map(({ needed }) => needed));
          const fixed = hours.reduce((all, { idle }) => all + Math.max(0, Math.min(idle, held - most)), 0);
          const sum = (key: 'low' | 'high' | 'idle'): number => hours.reduce((all, hour) => all + hour[key], 0);
          const isClaimed = sum('low') * 3 >= 24 && shares.some((share) => share > 0);
          expect(claims.length).toBe(isClaimed ? 1 : 0);
          if (!isClaimed) return;
          expect(claims[0]!.takes[0]!.permille! / 1000).toBeCloseTo(sum('high') / sum('idle'), 2);
          expect(claims[0]!.reachable!.lowPermille / 1000).toBeCloseTo(fixed / sum('high'), 2);
        },
      ),
      { numRuns: 25 },
    );
  });
});
