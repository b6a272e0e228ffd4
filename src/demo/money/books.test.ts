import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDecimal } from '../../money/usd.ts';
import type { Attempt, Device, Node, NodeState, Scope } from '../organisation.ts';
import type { Span } from '../timeline.ts';
import { type Pool, type Reason, REASONS, type World } from '../world/world-schema.ts';
import { CHARGE_HEADER, createBooks, TRUTH_HEADER } from './books.ts';
import {
  attemptOf,
  cellsOf,
  DAY_S,
  daysOf,
  FROM,
  machineOf,
  poolOf,
  providerOf,
  scopeOf,
  spanFrom,
  worldOf,
} from './hand-made-days.ts';

const micros = (text: string | undefined) => parseDecimal(text ?? '', 6)!;
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

interface Organisation {
  readonly world: World;
  readonly scope: Scope;
  readonly nodes: readonly Node[];
  readonly attempts: readonly Attempt[];
}

function kept({ world, scope, nodes, attempts }: Organisation) {
  const books = createBooks(world, scope);
  const pages = daysOf(world, scope, nodes, attempts).map((day) => ({ day, ...books.day(day) }));
  return {
    pages,
    charges: pages.flatMap(({ charges }) => charges),
    truth: pages.flatMap(({ truth }) => truth.map((line) => cellsOf(TRUTH_HEADER, line))),
    totals: books.totals(),
  };
}

const pools: readonly Pool[] = [
  poolOf({ name: 'rent', price_per_gpu_hour: 2.333_333 }),
  poolOf({ name: 'slices', sharing: 'mig', gpus_per_node: 1, instance_type: 'cut.1', scheduler: 'kubernetes' }),
  poolOf({ name: 'shared', sharing: 'time-slice', time_slices: 7, gpus_per_node: 1, instance_type: 'small.1' }),
  poolOf({ name: 'spot', purchase: 'spot', gpus_per_node: 3, price_per_gpu_hour: 0.7 }),
  poolOf({ name: 'signed', purchase: 'committed', commitment_used_percent: 70, price_per_gpu_hour: 1.234_567 }),
  poolOf({ name: 'euro', provider: 'Euro', scheduler: 'none', instance_type: 'e.2', price_per_gpu_hour: 0.737 }),
  poolOf({
    name: 'euro-signed',
    provider: 'Euro',
    purchase: 'committed',
    commitment_used_percent: 100,
    instance_type: 'e.2',
    price_per_gpu_hour: 0.333,
  }),
  poolOf({ name: 'own', purchase: 'owned', gpus_per_node: 3, price_per_gpu_hour: 1.100_000_007 }),
];
const world = worldOf(
  [
    providerOf({
      storage_percent: 3.3,
      egress_percent: 1.7,
      support_percent: 3,
      tax_percent: 7.7,
      credit_percent: 2.2,
      corrected_hours: 9,
      reissued: true,
      unlisted_percent: 0.45,
    }),
    providerOf({
      name: 'Euro',
      account: 'E-1',
      currency: 'EUR',
      usd_per_unit: 1.0853,
      bills_by: 'day',
      storage_percent: 2,
      tax_percent: 19,
      corrected_hours: 3,
      unlisted_percent: 1,
    }),
  ],
  [...pools],
);

const reason = fc.constantFrom(...(Object.keys(REASONS) as Reason[]));
const parts = fc
  .array(fc.tuple(reason, fc.integer({ min: 0, max: 500 })), { maxLength: 3 })
  .map((some) => some.filter(([, permille]) => permille > 0).slice(0, 2))
  .chain((some) =>
    reason.map((last) => {
      const rest = some.reduce((left, [, permille]) => left - permille, 1000);
      return [...some.map(([name, permille]) => ({ reason: name, permille })), { reason: last, permille: rest }];
    }),
  )
  .map((all) => all.filter(({ permille }) => permille > 0));
const pause = fc
  .record({ everyS: fc.integer({ min: 60, max: 9000 }), forPermille: fc.nat(999), reason })
  .map((drawn) => ({
    everyS: drawn.everyS,
    forS: Math.floor((drawn.everyS * drawn.forPermille) / 1000),
    reason: drawn.reason,
  }));
const spanPlan = fc.record(
  { lengthS: fc.integer({ min: 1, max: DAY_S }), plan: fc.record({ parts, pause }, { requiredKeys: ['parts'] }) },
  { requiredKeys: ['lengthS', 'plan'] },
);
const life = fc.record({
  waitS: fc.oneof(fc.constant(0), fc.nat(DAY_S)),
  spans: fc.array(spanPlan, { minLength: 1, maxLength: 4 }),
});
type Life = typeof life extends fc.Arbitrary<infer Drawn> ? Drawn : never;

const machinePlan = fc.record({
  pool: fc.constantFrom(...pools),
  fromS: fc.oneof(fc.constant(0), fc.nat(3 * DAY_S)),
  lengthS: fc.oneof(fc.constant(60 * DAY_S), fc.integer({ min: 1, max: 2 * DAY_S })),
  changes: fc.array(fc.tuple(fc.integer({ min: 1, max: DAY_S }), fc.constantFrom<NodeState>('up', 'down', 'drained')), {
    maxLength: 3,
  }),
  slices: fc.constantFrom([31_500, 15_750, 7875], [63_000], [7875]),
  lives: fc.array(fc.array(life, { maxLength: 5 }), { minLength: 4, maxLength: 4 }),
});

const organisation: fc.Arbitrary<Organisation> = fc
  .record({ machines: fc.array(machinePlan, { maxLength: 6 }), days: fc.integer({ min: 1, max: 5 }), seed: fc.nat(99) })
  .map(({ machines, days, seed }) => {
    const nodes: Node[] = [];
    const attempts: Attempt[] = [];
    for (const [place, { pool, fromS, lengthS, changes, slices, lives }] of machines.entries()) {
      const from = FROM + fromS;
      let at = from;
      const states = changes
        .map(([afterS, state]) => [(at += afterS), state] as const)
        .filter(([moment]) => moment < from + lengthS);
      const cutInto = pool.sharing === 'mig' ? { slices } : {};
      const node = machineOf(pool, `m${place}`, { from, until: from + lengthS, states, ...cutInto });
      nodes.push(node);
      for (const [index, device] of node.devices.filter(({ isCut }) => !isCut).entries()) {
        attempts.push(...livesOf(device, lives[index] ?? []));
      }
    }
    return { world, scope: scopeOf(days, seed), nodes, attempts };
  });

/** One after the other, or side by side where a GPU is time-sliced; none outlives its machine. */
function livesOf(device: Device, lives: readonly Life[]): Attempt[] {
  const { pool, presentFrom, presentUntil } = device.node;
  let free = presentFrom;
  return lives.flatMap(({ waitS, spans }, number) => {
    let at = (pool.sharing === 'time-slice' ? presentFrom : free) + waitS;
    const made: Span[] = [];
    for (const { lengthS, plan } of spans) {
      const until = Math.min(at + lengthS, presentUntil);
      if (until > at) made.push(spanFrom(at, until, { parts: plan.parts, ...(plan.pause && { pause: plan.pause }) }));
      at = until;
    }
    free = Math.max(free, at);
    return made.length === 0 ? [] : [attemptOf(`${device.id}/${number}`, [device], made)];
  });
}

/** By the words of the ledger, on bigints: what the owned GPUs cost at their rate. */
function owned({ nodes, scope }: Organisation): bigint {
  let total = 0n;
  for (const { pool, devices, presentFrom, presentUntil } of nodes) {
    if (pool.purchase !== 'owned') continue;
    for (let hour = scope.from; hour < scope.until; hour += 3600) {
      const seconds = Math.min(hour + 3600, presentUntil) - Math.max(hour, presentFrom);
      const ofDevice = (1_100_000_007n * BigInt(Math.max(0, seconds)) + 1_800_000n) / 3_600_000n;
      if (seconds > 0) total += ofDevice * BigInt(devices.length);
    }
  }
  return total;
}

describe('the books of any organisation', () => {
  it('truth adds up to what is billed and what owned machines cost, on every day, to the micro', () => {
    fc.assert(
      fc.property(organisation, (made) => {
        const { pages, charges, truth, totals } = kept(made);
        const paid = sum(charges.map(({ usdMicros }) => BigInt(usdMicros)));
        expect(sum(truth.map(({ usd }) => micros(usd)))).toBe(paid + owned(made));
        expect(BigInt(totals.billedUsdMicros)).toBe(paid);
        expect(BigInt(totals.rateUsdMicros)).toBe(owned(made));
        expect(totals.truthUsdMicros).toBe(totals.billedUsdMicros + totals.rateUsdMicros);
        const byCategory = Object.values(totals.truthUsdMicrosByCategory);
        expect(byCategory.reduce((total, category) => total + category, 0)).toBe(totals.truthUsdMicros);
        for (const { day, charges: dayCharges, truth: dayTruth } of pages) {
          const rows = dayTruth.map((line) => cellsOf(TRUTH_HEADER, line));
          const dayScope = { ...made.scope, from: day.from, until: day.until };
          expect(sum(rows.map(({ usd }) => micros(usd)))).toBe(
            sum(dayCharges.map(({ usdMicros }) => BigInt(usdMicros))) + owned({ ...made, scope: dayScope }),
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it('every second of every GPU that is there has a reason, weighted by its share', () => {
    fc.assert(
      fc.property(organisation, (made) => {
        const { truth } = kept(made);
        for (const node of made.nodes) {
          const present = Math.min(node.presentUntil, made.scope.until) - Math.max(node.presentFrom, made.scope.from);
          const rows = truth.filter((row) => row['node_id'] === node.id);
          const unitMillis = rows.map((row) => parseDecimal(row['seconds']!, 3)! * BigInt(row['share_units']!));
          const gpus = node.devices.filter(({ parent }) => parent === undefined).length;
          expect(sum(unitMillis)).toBe(BigInt(Math.max(0, present) * gpus) * 63_000_000n);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('a row says in its own currency what it comes to in dollars', () => {
    fc.assert(
      fc.property(organisation, (made) => {
        for (const { provider, line, usdMicros } of kept(made).charges) {
          const { EffectiveCost } = cellsOf(CHARGE_HEADER, line);
          const usd = provider === 'Euro' ? parseDecimal(EffectiveCost!, 2)! * 10_853n : micros(EffectiveCost);
          expect(BigInt(usdMicros)).toBe(usd);
          expect(micros(EffectiveCost) % (provider === 'Euro' ? 10_000n : 1n)).toBe(0n);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('the same days give the same books, and another seed corrects other rows', () => {
    const nodes = [machineOf(pools[0]!, 'a'), machineOf(pools[0]!, 'b')];
    const lines = (seed: number) =>
      kept({ world, scope: scopeOf(3, seed), nodes, attempts: [] }).charges.map(({ line }) => line);
    expect(lines(1)).toEqual(lines(1));
    expect(lines(1)).not.toEqual(lines(2));
  });

  it('corrections net out, so that they change nothing that is paid', () => {
    fc.assert(
      fc.property(organisation, (made) => {
        const providers = made.world.providers.map((provider) => ({ ...provider, corrected_hours: 0 }));
        const plain = kept({ ...made, world: { ...made.world, providers } });
        const corrected = kept(made);
        expect(corrected.totals).toEqual(plain.totals);
        const corrections = corrected.charges.filter(({ line }) => line.includes(',Correction,'));
        expect(corrected.charges.length).toBe(plain.charges.length + 2 * corrections.length);
      }),
      { numRuns: 40 },
    );
  });
});
