import { SHARE_UNITS } from '../../facts/column.ts';
import type { FindingPart } from '../../report/finding-explanation.ts';
import {
  ALL_CLAIM_PARTS,
  CLAIM_PARTS,
  CLAIM_PLACES,
  CLAIM_ROWS,
  CLAIM_SUMS,
  claimRates,
  SHARED_PARTS,
} from '../../waste/settle-sql.ts';
import { claimTables, inOrder } from '../../waste/settle.ts';
import type { PlacedClaim } from '../../waste/settle.ts';
import type { Asker } from '../../lake/ask.ts';
import { quote } from '../../lake/engine.ts';

/** What a claim got. */
export interface ClaimSum {
  /** Null where nothing of it has a price. */
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  /** What the bill would fall by if all of it went, and what of that stands on machines nobody else holds anything of. */
  readonly cashUsdMicros: bigint;
  readonly freedUsdMicros: bigint;
  /** Time of which no bill would fall. */
  readonly unpaidUnits: bigint;
  /** What stands on machines of which nobody says how they are bought: cash if they are rented. */
  readonly unsaidUsdMicros: bigint;
  /** Nothing of it is anything but unknown time. */
  readonly isUnknown: boolean;
  /** What an hour of it costs; null where it is over or nothing of it has a price. */
  readonly usdMicrosPerHour: bigint | null;
}

/** A claim with what it got; by its number the rows behind it are found, for as long as the reader is open. */
export interface Settled<Placed extends PlacedClaim = PlacedClaim> {
  readonly placed: Placed;
  readonly claimNo: number;
  readonly sum: ClaimSum;
}

const NOTHING: ClaimSum = {
  usdMicros: null,
  gpuUnits: 0n,
  cashUsdMicros: 0n,
  freedUsdMicros: 0n,
  unpaidUnits: 0n,
  unsaidUsdMicros: 0n,
  isUnknown: true,
  usdMicrosPerHour: null,
};

type Days = { readonly first: string; readonly last: string; readonly until: Date };
type Tables = Pick<Asker, 'ask' | 'load' | 'make'>;

/**
 * Question: what is left for each claim of the money it speaks of? Worked out where the rows are: of millions that are claimed only
 * the sums come here.
 */
export async function settleClaims<Placed extends PlacedClaim>(
  space: Tables,
  claims: readonly Placed[],
  { first, last, until }: Days,
): Promise<readonly Settled<Placed>[]> {
  const ordered = inOrder(claims);
  const tables = claimTables(ordered);
  await space.load('claim', tables.claim);
  await space.load('claim_subject', tables.subject);
  await space.load('claim_name', tables.name);
  await space.load('claim_take', tables.take);
  const days = (...names: readonly string[]) => names.map((table) => ({ table, first, last }));
  await space.make('claim_place', { tables: days('subject_day'), sql: CLAIM_PLACES });
  await space.make('claim_row', { tables: days('subject_day'), sql: CLAIM_ROWS });
  await space.make('claim_part', { tables: [], sql: SHARED_PARTS });
  const sumOf = await claimSums(space, { first, last, until });
  return ordered.map((placed, claimNo) => ({ placed, claimNo, sum: sumOf(claimNo) }));
}

/**
 * Question: what of what the claims got is of these subjects? From here on nothing else is behind them: their other rows are let go.
 */
export async function narrowClaims(
  space: Tables,
  subjects: readonly string[],
  days: Days,
): Promise<(claimNo: number) => ClaimSum> {
  const names = subjects.length === 0 ? 'NULL' : subjects.map(quote).join(', ');
  for (const table of ['claim_row', 'claim_part']) {
    await space.make(table, {
      tables: [],
      sql: `SELECT * FROM ${table} WHERE subject_no IN (SELECT subject_no FROM claim_subject WHERE subject IN (${names}))`,
    });
  }
  return claimSums(space, days);
}

/** What each claim has, from the rows that are behind it. */
async function claimSums(space: Tables, { first, last, until }: Days): Promise<(claimNo: number) => ClaimSum> {
  const days = (...names: readonly string[]) => names.map((table) => ({ table, first, last }));
  const sums = await space.ask<Omit<ClaimSum, 'isUnknown'> & { claimNo: number; knownParts: bigint }>({
    tables: days('stint_day'),
    sql: CLAIM_SUMS,
  });
  const rates = await space.ask<{ claimNo: number; usdMicrosPerHour: bigint }>({
    tables: ['subject_day', 'stint_day'].map((table) => ({ table, first: last, last })),
    params: { until },
    sql: claimRates(SHARE_UNITS),
  });
  const sumOf = new Map(
    sums.map(({ claimNo, knownParts, ...sum }) => [claimNo, { ...sum, isUnknown: knownParts === 0n }]),
  );
  const rateOf = new Map(rates.map(({ claimNo, usdMicrosPerHour }) => [claimNo, usdMicrosPerHour]));
  return (claimNo) => ({ ...(sumOf.get(claimNo) ?? NOTHING), usdMicrosPerHour: rateOf.get(claimNo) ?? null });
}

/** Question: which rows of the ledger's days are behind a claim that was settled by this reader, and what has it of each? */
export async function partsOf(space: Tables, claimNo: number): Promise<readonly FindingPart[]> {
  const rows = await space.ask<PartRow>({
    tables: [],
    params: { claimNo },
    sql: CLAIM_PARTS,
  });
  return rows.map(partOf);
}

type PartRow = Omit<FindingPart, 'permille'> & { readonly permille: bigint };
const partOf = ({ permille, ...part }: PartRow): FindingPart => ({ ...part, permille: Number(permille) });

/** Writes the rows behind all claims that were settled by this reader into a file, each under a name of its own. */
export async function saveParts(
  space: Pick<Asker, 'load' | 'save'>,
  path: string,
  keys: readonly { readonly claimNo: number; readonly key: string }[],
): Promise<void> {
  await space.load(
    'claim_key',
    new Map<string, Int32Array | readonly string[]>([
      ['claim_no', Int32Array.from(keys, ({ claimNo }) => claimNo)],
      ['finding_key', keys.map(({ key }) => key)],
    ]),
  );
  await space.save(path, { tables: [], sql: ALL_CLAIM_PARTS });
}

/** The rows that were saved under a name. */
export async function savedParts(
  space: Pick<Asker, 'ask'>,
  path: string,
  key: string,
): Promise<readonly FindingPart[]> {
  const rows = await space.ask<PartRow>({
    tables: [],
    saved: [{ name: 'saved_part', path }],
    params: { key },
    sql: 'SELECT * EXCLUDE (finding_key) FROM saved_part WHERE finding_key = $key',
  });
  return rows.map(partOf);
}
