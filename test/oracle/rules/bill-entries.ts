import { dayOf } from '../organisation.ts';
import { isCommitted } from './charges.ts';
import type { ChargeHour, Kind, PostedBill } from './charges.ts';
import { NOTHING_KNOWN, dimensionsOfBill, undivided } from './entry.ts';
import type { EntryWithoutSubject, OracleEntry } from './entry.ts';
import { groupedBy } from '../order.ts';

const COMPONENT_AND_DISPOSITION: Readonly<
  Record<
    Exclude<Kind, 'node' | 'block'>,
    Pick<OracleEntry, 'component' | 'disposition'> & Partial<Pick<OracleEntry, 'purchase' | 'reason'>>
  >
> = {
  stranded: { component: 'gpu', disposition: 'stranded', purchase: 'committed' },
  unused: { component: 'other', disposition: 'beside', purchase: 'committed', reason: 'unused-commitment' },
  unmatched: { component: 'gpu', disposition: 'unmatched' },
  tax: { component: 'other', disposition: 'tax' },
  credit: { component: 'other', disposition: 'credit' },
  support: { component: 'other', disposition: 'support' },
  storage: { component: 'storage', disposition: 'beside' },
  transfer: { component: 'transfer', disposition: 'beside' },
  network: { component: 'network', disposition: 'beside' },
  host: { component: 'host', disposition: 'beside' },
  other: { component: 'other', disposition: 'beside' },
};

const NEVER_SAVED: ReadonlySet<Kind> = new Set(['stranded', 'unused', 'tax', 'credit', 'support']);

/** What of charges would not have come without the use: all that no commitment pays for. */
export function marginalOf(kind: Kind, rows: readonly ChargeHour[]): bigint {
  if (NEVER_SAVED.has(kind)) return 0n;
  return rows.filter((row) => !isCommitted(row.charge)).reduce((sum, row) => sum + row.micros, 0n);
}

/** Charges that concern no node, and what the days' rounding left over. */
export function entriesBesideDevices({
  bill,
  hours,
  rounding_micros,
  rounding_hour,
}: PostedBill): EntryWithoutSubject[] {
  const other = hours.filter((row) => row.kind !== 'node' && row.node_id === null);
  const nameOf = (row: (typeof hours)[number]): string => JSON.stringify([row.hour, row.resource_id, row.kind]);
  const known = { ...NOTHING_KNOWN, ...dimensionsOfBill(bill), basis: 'billed' as const };
  const entries: EntryWithoutSubject[] = [...groupedBy(other, nameOf).values()].flatMap((rows) =>
    rows.slice(0, 1).flatMap(({ hour, resource_id, kind }) => {
      if (kind === 'node' || kind === 'block') return [];
      const region = rows.flatMap((row) => row.charge.region ?? []).sort()[0] ?? null;
      const micros = rows.reduce((sum, row) => sum + row.micros, 0n);
      if (micros === 0n) return [];
      const when = { day: dayOf(hour), hour_start: hour };
      const what = COMPONENT_AND_DISPOSITION[kind];
      return [{ ...known, ...when, ...what, region, resource_id, ...undivided(micros, marginalOf(kind, rows)) }];
    }),
  );
  if (rounding_micros !== null && rounding_micros !== 0n && rounding_hour !== null) {
    const when = { day: dayOf(rounding_hour), hour_start: rounding_hour };
    entries.push({ ...known, ...when, component: 'other', disposition: 'rounding', ...undivided(rounding_micros, 0n) });
  }
  return entries;
}
