import type { PriceRole } from './price-columns.ts';

/** One row of a price list, in the words of `price-columns.ts`; a value that is not there is not known. */
export type FlatPrice = Readonly<Partial<Record<PriceRole, string | number>>>;

/** A price list that was nested, laid flat: one row for each machine and place, as the file has them. */
export interface FlatList {
  readonly shape: string;
  /** Whose prices they are, where the format belongs to one provider. */
  readonly provider?: string;
  /** When the list says it was made. */
  readonly asOf?: Date;
  readonly rows: readonly FlatPrice[];
  /** Parts of the file that hold no prices of machines. */
  readonly notes: readonly string[];
}

const ROLES: readonly PriceRole[] = [
  'provider',
  'region',
  'zone',
  'instance_type',
  'accelerator',
  'accelerator_count',
  'vcpu',
  'memory_gib',
  'purchase',
  'covers',
  'as_of',
  'currency',
  'price',
  'spot',
  'committed_1y',
  'committed_3y',
];

/** The list as CSV with a header line, for the engine to read as it reads any other. */
export function flatCsv(rows: readonly FlatPrice[]): string {
  const used = ROLES.filter((role) => rows.some((row) => row[role] !== undefined));
  const lines = rows.map((row) => used.map((role) => cell(row[role])).join(','));
  return `${[used.join(','), ...lines].join('\n')}\n`;
}

function cell(value: string | number | undefined): string {
  if (value === undefined) return '';
  const text = String(value);
  return /[",\n\r]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;
}

const NANOS = 1_000_000_000n;

/** A price of so many hours as one of an hour, to nine decimals, exactly; undefined for what is no plain number. */
export function perHour(price: string, hours: bigint): string | undefined {
  const [, whole = '', fraction = ''] = /^(\d{1,12})(?:\.(\d+))?$/.exec(price.trim()) ?? [];
  if (whole === '') return undefined;
  const nanos = (BigInt(whole) * NANOS + BigInt(fraction.slice(0, 9).padEnd(9, '0'))) / hours;
  return `${nanos / NANOS}.${String(nanos % NANOS).padStart(9, '0')}`;
}
