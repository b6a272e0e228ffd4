import { OperationError } from '../../facts/operation-error.ts';
import type { Ask, OpenFile } from '../files/read-file.ts';
import { identifier, literal } from '../values/sql-text.ts';
import { inferDateOrder, momentSql } from './bill-dates.ts';
import type { BillColumns, BillView } from './bill-view.ts';
import { billColumns } from './bill-view.ts';

/** The versions whose columns are known here, with columns each of them brought. */
const VERSIONS = {
  '1.3': ['ServiceProviderName', 'HostProviderName', 'AllocatedMethodId', 'AllocatedResourceId', 'ContractApplied'],
  '1.2': ['InvoiceId', 'PricingCurrency', 'PricingCurrencyEffectiveCost', 'SubAccountType', 'BillingAccountType'],
  '1.1': ['CapacityReservationId', 'CommitmentDiscountQuantity', 'ServiceSubcategory', 'SkuMeter', 'SkuPriceDetails'],
  '1.0': [],
} as const;
type FocusVersion = keyof typeof VERSIONS;

const TIMES = ['BillingPeriodStart', 'BillingPeriodEnd', 'ChargePeriodStart', 'ChargePeriodEnd'];
const AMOUNTS = ['BilledCost', 'EffectiveCost', 'ListCost', 'ContractedCost'];
/** Who sends the bill, by the names the versions have for it; later ones only where the earlier say nothing. */
const PROVIDERS = ['ProviderName', 'ServiceProviderName', 'HostProviderName', 'InvoiceIssuerName', 'PublisherName'];
const SAMPLE_ROWS = 1000;

/** Does it carry the columns of FOCUS, of whatever version? */
export function isFocus(columns: BillColumns): boolean {
  return columns.has('BilledCost') && columns.has('ChargePeriodStart') && columns.has('BillingPeriodStart');
}

/**
 * Question: which version of FOCUS is this file, and what has to be done before it can be read as one?
 *
 * Extra columns are ignored. A version without the columns that carry commitments would be read wrong, so it is refused.
 */
export async function focusView(file: OpenFile, label: string, ask: Ask, statedDates: boolean): Promise<BillView> {
  const columns = billColumns(file.columns);
  const version = await versionOf(columns, file, label, ask);
  const replaced = new Map<string, string>();
  const notes: string[] = [];
  const provider = providerSql(columns);
  if (provider !== undefined) {
    replaced.set('ProviderName', provider.sql);
    if (provider.note !== undefined) notes.push(provider.note);
  }
  if (!statedDates) notes.push(...(await readDates(columns, file, replaced, ask)));
  notes.push(...(await readSigns(columns, file, replaced, ask)));
  return { format: `FOCUS ${version}`, file: withReplaced(file, replaced), notes, used: columns.used };
}

/** A version that is stated somewhere counts; else the newest whose columns are there. */
async function versionOf(columns: BillColumns, file: OpenFile, label: string, ask: Ask): Promise<FocusVersion> {
  const early = !columns.has('ChargeCategory') && (columns.has('ChargeType') || columns.has('AmortizedCost'));
  if (early || columns.has('AmortizedCost')) throw unknownVersion(label, '0.5');
  if (columns.has('ChargeSubcategory') && !columns.has('ChargeClass')) throw unknownVersion(label, '1.0-preview');
  const stated = columns.all.find(({ name }) => /^x?_?focus_?version$/i.test(name));
  if (stated !== undefined) {
    const [row] = await ask<{ version: string | null }>(
      `SELECT max(CAST(${identifier(stated.name)} AS VARCHAR)) AS version FROM (SELECT * FROM ${file.from} LIMIT ${SAMPLE_ROWS})`,
    );
    if (row?.version !== null && row?.version !== undefined) return knownVersion(row.version, label);
  }
  const newest = (Object.keys(VERSIONS) as FocusVersion[])
    .toSorted()
    .toReversed()
    .find((version) => VERSIONS[version].some((name) => columns.has(name)));
  return newest ?? '1.0';
}

/** `1.2`, `v1.2`, `1.0r2`, `1.2-preview` and `FOCUS_1_2_AWS` are versions we know; anything else is refused. */
export function knownVersion(stated: string, label: string): FocusVersion {
  const match = /(\d+)[._](\d+)/.exec(stated);
  const plain = match === null ? stated.trim() : `${match[1]}.${match[2]}`;
  const known = (Object.keys(VERSIONS) as FocusVersion[]).find((version) => version === plain);
  if (known === undefined || /1[._]0[-_ ]?preview/i.test(stated)) throw unknownVersion(label, stated.trim());
  return known;
}

function unknownVersion(label: string, version: string): OperationError {
  return new OperationError(
    'unknown-focus-version',
    `${label} is FOCUS ${version}, which is not one of 1.0, 1.1, 1.2, 1.3`,
    {
      hint: 'Export it as FOCUS 1.0 to 1.3; every provider that had an earlier version offers one of these.',
    },
  );
}

/** SQL of the provider where the file has it under another name, or has more than one name for it. */
function providerSql(columns: BillColumns): { sql: string; note?: string } | undefined {
  const there = PROVIDERS.filter((name) => columns.has(name));
  const [first] = there;
  if (first === undefined || (first === 'ProviderName' && !columns.has('ServiceProviderName'))) return undefined;
  const sql = columns.firstOf(...there);
  return first === 'ProviderName' || first === 'ServiceProviderName'
    ? { sql }
    : { sql, note: `the provider is read from ${first}` };
}

async function readDates(
  columns: BillColumns,
  file: OpenFile,
  replaced: Map<string, string>,
  ask: Ask,
): Promise<string[]> {
  const actual = (name: string): string | undefined =>
    columns.all.find((column) => column.name.toLowerCase() === name.toLowerCase())?.name;
  const [start, end] = [actual('BillingPeriodStart'), actual('BillingPeriodEnd')];
  if (start === undefined || end === undefined || columns.typeOf(start) !== 'VARCHAR') return [];
  const order = await inferDateOrder(file.from, start, end, ask);
  if (order === undefined) return [];
  for (const name of TIMES.filter((each) => columns.typeOf(each) === 'VARCHAR')) {
    const text = columns.text(name);
    replaced.set(name, `COALESCE(CAST(${momentSql(text, order)} AS VARCHAR), ${text})`);
  }
  return [`dates like 4/1/25 are read ${order}: only so are the billing periods months`];
}

/** `$10,000.00` is one amount in whatever country once the sign and the cents are there. */
async function readSigns(
  columns: BillColumns,
  file: OpenFile,
  replaced: Map<string, string>,
  ask: Ask,
): Promise<string[]> {
  const texts = AMOUNTS.filter((name) => columns.typeOf(name) === 'VARCHAR');
  if (texts.length === 0) return [];
  const isSigned = (text: string): string => `regexp_full_match(${text}, '-?[$] ?[0-9]{1,3}(,[0-9]{3})*([.][0-9]+)?')`;
  const [found] = await ask<{ signed: boolean | null }>(
    `SELECT bool_or(${texts.map((name) => `COALESCE(${isSigned(columns.text(name))}, false)`).join(' OR ')}) AS signed
     FROM (SELECT * FROM ${file.from} LIMIT ${SAMPLE_ROWS})`,
  );
  if (found?.signed !== true) return [];
  for (const name of texts) {
    const text = columns.text(name);
    replaced.set(name, `CASE WHEN ${isSigned(text)} THEN regexp_replace(${text}, '[$, ]', '', 'g') ELSE ${text} END`);
  }
  return [`amounts like ${literal('$10,000.00')} are read as plain numbers`];
}

function withReplaced(file: OpenFile, replaced: ReadonlyMap<string, string>): OpenFile {
  if (replaced.size === 0) return file;
  const own = file.columns.find(({ name }) => replaced.has(name)) === undefined && replaced.size === 0;
  if (own) return file;
  const there = [...replaced].flatMap(([name, sql]) => {
    const column = file.columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    return column === undefined ? [] : [{ name: column.name, sql }];
  });
  const added = [...replaced].filter(
    ([name]) => !file.columns.some((column) => column.name.toLowerCase() === name.toLowerCase()),
  );
  const replace =
    there.length === 0 ? '' : ` REPLACE (${there.map(({ name, sql }) => `${sql} AS ${identifier(name)}`).join(', ')})`;
  const more = added.map(([name, sql]) => `, ${sql} AS ${identifier(name)}`).join('');
  const changed = new Set(there.map(({ name }) => name));
  return {
    ...file,
    columns: [
      ...file.columns.map((column) => (changed.has(column.name) ? { name: column.name, type: 'VARCHAR' } : column)),
      ...added.map(([name]) => ({ name, type: 'VARCHAR' })),
    ],
    from: `(SELECT *${replace}${more} FROM ${file.from})`,
  };
}
