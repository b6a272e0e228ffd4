import { z } from 'zod';
import { Instant, Micros } from '../question.ts';

/** Whole cents as text. */
export const Cents = z.string().regex(/^-?\d+$/);
export const Month = z.string().regex(/^\d{4}-\d{2}$/, 'a month is written 2026-10');
export const Status = z.enum(['running', 'open', 'closed']);

export const Amount = z.object({
  usdMicros: Micros.nullable().meta({ description: 'Null where none of it has a price' }),
  gpuSeconds: z.number(),
  unpricedSeconds: z.number(),
});
export const BasisMicros = z.object({ billed: Micros, rate: Micros, estimated: Micros });

const Part = Amount.extend({
  name: z.string().nullable().meta({ description: 'Null is what nobody said' }),
  beforeUsdMicros: Micros.nullable(),
  computeSharePermille: z.number().nullable(),
});

const Mover = z.object({
  project: z.string().nullable(),
  class: z.string().nullable(),
  what: z.string().nullable(),
  changeUsdMicros: Micros,
  volumeUsdMicros: Micros.nullable(),
  priceUsdMicros: Micros.nullable(),
});

const Wait = z.object({ jobs: z.number().int(), medianSeconds: z.number(), p90Seconds: z.number() });

export const MissingDays = z.number().int().nullable().meta({
  description: 'Days of it of which the ledger has nothing; null on statements issued before that was counted',
});

/** A statement, as `bursar statement --team NAME --json` prints it. */
export const StatementShape = z.object({
  team: z.string().nullable(),
  month: Month,
  kind: z.enum(['showback', 'chargeback']),
  status: Status,
  number: z.string().nullable(),
  issuedAt: z.string().nullable(),
  issuer: z.string().nullable(),
  costCentre: z.string().nullable(),
  accountCode: z.string().nullable(),
  lead: z.string().nullable(),
  window: z.object({ from: Instant, until: Instant }),
  missingDays: MissingDays,
  asOf: Instant,
  total: Amount,
  amountCents: Cents,
  adjustments: z.array(z.object({ month: Month, usdMicros: Micros, amountCents: Cents, reason: z.string() })),
  dueCents: Cents,
  before: z
    .object({
      month: Month,
      window: z.object({ from: Instant, until: Instant }),
      missingDays: z.number().int(),
      usdMicros: Micros.nullable(),
      computeSharePermille: z.number().nullable(),
    })
    .nullable(),
  components: z.array(Part),
  classes: z.array(Part),
  projects: z.array(Part),
  workloads: z.array(Amount.extend({ name: z.string().nullable() })),
  shared: z.array(z.object({ name: z.string(), usdMicros: Micros })),
  categories: z.record(z.string(), Amount),
  computeSharePermille: z.number().nullable(),
  computeShareHoursPermille: z.number().nullable(),
  everyoneSharePermille: z.number().nullable(),
  movers: z.array(Mover),
  otherChangeUsdMicros: Micros,
  timeToGpu: Wait.nullable(),
  timeToGpuBefore: Wait.nullable(),
  basisUsdMicros: BasisMicros,
  coverage: z.array(z.object({ bill: z.string(), coveredUntil: z.string().nullable() })),
  lines: z.array(
    z.object({
      project: z.string().nullable(),
      class: z.string().nullable(),
      component: z.string(),
      category: z.string(),
      basis: z.string(),
      usdMicros: Micros.nullable(),
      gpuSeconds: z.number(),
    }),
  ),
});
