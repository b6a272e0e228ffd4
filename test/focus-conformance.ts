import type { FocusColumn } from '../src/facts/focus-1-2.ts';
import { FOCUS_COLUMNS, FOCUS_SERVICES } from '../src/facts/focus-1-2.ts';

export type FocusRow = Readonly<Record<string, string | null>>;

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
/** NumericFormat of the specification: digits, a sign, a point; an exponent would be allowed there and is not here. */
const DECIMAL = /^-?\d+(\.\d+)?$/;
/** UnitFormat: a plural, or a single unit and a plural of time, by hyphens. */
const UNIT = /^([A-Z][A-Za-z]*s|[A-Z][A-Za-z]*-(Hours|Days|Months|Minutes|Seconds)|[A-Z]{3})$/;
const OWN_NAME = /^x_[A-Z][A-Za-z0-9]*$/;

/**
 * What the specification of FOCUS 1.2 has against a file: presence and order of columns, types, nulls, allowed values, and the
 * rules between columns. Written from the specification's text, not from the exporter.
 */
export function focusOffences(columns: readonly string[], rows: readonly FocusRow[]): string[] {
  const offences = new Set<string>(columnOffences(columns));
  for (const row of rows) {
    for (const column of FOCUS_COLUMNS) for (const offence of valueOffences(column, row)) offences.add(offence);
    for (const [rule, holds] of Object.entries(RULES)) if (!holds(row)) offences.add(`${rule}: ${JSON.stringify(row)}`);
  }
  return [...offences];
}

function columnOffences(columns: readonly string[]): string[] {
  const known = new Set(FOCUS_COLUMNS.map(({ name }) => name));
  const lastFocus = Math.max(...columns.map((name, index) => (known.has(name) ? index : -1)));
  return [
    ...FOCUS_COLUMNS.filter(({ name }) => !columns.includes(name)).map(
      ({ name, level }) => `${level} ${name} is missing`,
    ),
    ...columns.flatMap((name, index) => {
      if (known.has(name)) return [];
      return [
        ...(OWN_NAME.test(name) ? [] : [`${name} is neither of FOCUS nor x_…`]),
        ...(index < lastFocus ? [`${name} stands among the columns of FOCUS`] : []),
      ];
    }),
    ...columns.filter((name, index) => columns.indexOf(name) !== index).map((name) => `${name} stands twice`),
    ...columns.filter((name) => name.length > 50).map((name) => `${name} is too long`),
  ];
}

function valueOffences({ name, type, isNullable, allowed }: FocusColumn, row: FocusRow): string[] {
  const value = row[name] ?? null;
  if (value === null) return isNullable ? [] : [`${name} is null`];
  const isRight = {
    string: () => value.trim() === value && value !== '' && !/^null$/i.test(value),
    decimal: () => DECIMAL.test(value),
    datetime: () => ISO_TIME.test(value) && !Number.isNaN(Date.parse(value)),
    json: () => isKeyValue(value),
  }[type]();
  return [
    ...(isRight ? [] : [`${name} is no ${type}: ${value}`]),
    ...(allowed === undefined || allowed.includes(value) ? [] : [`${name} is not one of its values: ${value}`]),
  ];
}

/** KeyValueFormat: one JSON object whose values are text, numbers, true, false or null. */
function isKeyValue(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((each) => each === null || ['string', 'number', 'boolean'].includes(typeof each))
    );
  } catch {
    return false;
  }
}

const is = (row: FocusRow, name: string, ...values: string[]): boolean => values.includes(row[name] ?? '');
const has = (row: FocusRow, name: string): boolean => (row[name] ?? null) !== null;
const implies = (condition: boolean, then: boolean): boolean => !condition || then;
const isPriced = (row: FocusRow): boolean =>
  is(row, 'ChargeCategory', 'Usage', 'Purchase') && !is(row, 'ChargeClass', 'Correction');
const product = (a: string | null | undefined, b: string | null | undefined): bigint => scaled(a, 9) * scaled(b, 9);

function scaled(text: string | null | undefined, digits: number): bigint {
  const [whole = '0', fraction = ''] = (text ?? '0').split('.');
  const unsigned = BigInt(whole.replace('-', '') + fraction.padEnd(digits, '0').slice(0, digits));
  return whole.startsWith('-') ? -unsigned : unsigned;
}

const pricedOnly = (name: string): Readonly<Record<string, (row: FocusRow) => boolean>> => ({
  [`${name} is null for Tax`]: (row) => implies(is(row, 'ChargeCategory', 'Tax'), !has(row, name)),
  [`${name} is there for Usage and Purchase`]: (row) => implies(isPriced(row), has(row, name)),
});
const goesWith = (name: string, other: string): Readonly<Record<string, (row: FocusRow) => boolean>> => ({
  [`${name} is null where ${other} is`]: (row) => implies(!has(row, other), !has(row, name)),
});
const bothOrNeither = (name: string, other: string): Readonly<Record<string, (row: FocusRow) => boolean>> => ({
  [`${name} is there exactly where ${other} is`]: (row) => has(row, name) === has(row, other),
});

/** Rules between columns. */
const RULES: Readonly<Record<string, (row: FocusRow) => boolean>> = {
  ...pricedOnly('ListUnitPrice'),
  ...pricedOnly('ContractedUnitPrice'),
  ...pricedOnly('PricingQuantity'),
  ...pricedOnly('PricingUnit'),
  ...pricedOnly('PricingCategory'),
  ...pricedOnly('SkuId'),
  ...pricedOnly('SkuPriceId'),
  ...bothOrNeither('PricingUnit', 'PricingQuantity'),
  ...bothOrNeither('ConsumedUnit', 'ConsumedQuantity'),
  ...bothOrNeither('BillingAccountType', 'BillingAccountId'),
  ...bothOrNeither('ResourceType', 'ResourceId'),
  ...bothOrNeither('RegionName', 'RegionId'),
  ...bothOrNeither('SubAccountType', 'SubAccountId'),
  ...bothOrNeither('CommitmentDiscountCategory', 'CommitmentDiscountId'),
  ...bothOrNeither('CommitmentDiscountType', 'CommitmentDiscountId'),
  ...goesWith('CommitmentDiscountStatus', 'CommitmentDiscountId'),
  ...goesWith('CommitmentDiscountQuantity', 'CommitmentDiscountId'),
  ...goesWith('CommitmentDiscountName', 'CommitmentDiscountId'),
  ...bothOrNeither('CommitmentDiscountUnit', 'CommitmentDiscountQuantity'),
  ...goesWith('CapacityReservationStatus', 'CapacityReservationId'),
  ...goesWith('ResourceName', 'ResourceId'),
  ...goesWith('SubAccountName', 'SubAccountId'),
  ...goesWith('SkuPriceId', 'SkuId'),
  ...goesWith('SkuMeter', 'SkuId'),
  ...goesWith('SkuPriceDetails', 'SkuPriceId'),
  'CommitmentDiscountStatus is there for Usage by a commitment': (row) =>
    implies(
      is(row, 'ChargeCategory', 'Usage') && has(row, 'CommitmentDiscountId'),
      has(row, 'CommitmentDiscountStatus'),
    ),
  'CommitmentDiscountQuantity is positive': (row) =>
    implies(has(row, 'CommitmentDiscountQuantity'), scaled(row['CommitmentDiscountQuantity'], 9) > 0n),
  'PricingCategory is Committed for Usage by a commitment': (row) =>
    implies(
      is(row, 'ChargeCategory', 'Usage') && has(row, 'CommitmentDiscountId'),
      is(row, 'PricingCategory', 'Committed'),
    ),
  'CapacityReservationStatus is there for Usage in a reservation': (row) =>
    implies(
      is(row, 'ChargeCategory', 'Usage') && has(row, 'CapacityReservationId'),
      has(row, 'CapacityReservationStatus'),
    ),
  'ConsumedQuantity is of Usage that was not left unused': (row) =>
    has(row, 'ConsumedQuantity') ===
    (is(row, 'ChargeCategory', 'Usage') && !is(row, 'CommitmentDiscountStatus', 'Unused')),
  'ListCost is ListUnitPrice × PricingQuantity': (row) =>
    implies(
      has(row, 'ListUnitPrice') && has(row, 'PricingQuantity'),
      product(row['ListUnitPrice'], row['PricingQuantity']) === product(row['ListCost'], '1'),
    ),
  'ContractedCost is ContractedUnitPrice × PricingQuantity': (row) =>
    implies(
      has(row, 'ContractedUnitPrice') && has(row, 'PricingQuantity'),
      product(row['ContractedUnitPrice'], row['PricingQuantity']) === product(row['ContractedCost'], '1'),
    ),
  'unit prices are not negative': (row) =>
    ['ListUnitPrice', 'ContractedUnitPrice'].every((name) => !(row[name] ?? '').startsWith('-')),
  'ContractedCost of a Credit is its BilledCost': (row) =>
    implies(is(row, 'ChargeCategory', 'Credit'), row['ContractedCost'] === row['BilledCost']),
  'ChargeFrequency of a Purchase is not Usage-Based': (row) =>
    implies(is(row, 'ChargeCategory', 'Purchase'), !is(row, 'ChargeFrequency', 'Usage-Based')),
  'ChargeClass is null but for corrections of a billed period': (row) => !has(row, 'ChargeClass'),
  'a period ends after it begins': (row) =>
    (row['ChargePeriodStart'] ?? '') < (row['ChargePeriodEnd'] ?? '') &&
    (row['BillingPeriodStart'] ?? '') < (row['BillingPeriodEnd'] ?? ''),
  'ServiceSubcategory belongs to its ServiceCategory': (row) =>
    FOCUS_SERVICES[row['ServiceCategory'] ?? '']?.includes(row['ServiceSubcategory'] ?? '') === true,
  'currencies are codes of ISO 4217': (row) =>
    ['BillingCurrency', 'PricingCurrency'].every((name) => /^[A-Z]{3}$/.test(row[name] ?? '')),
  'costs in one currency are the same': (row) =>
    implies(
      row['BillingCurrency'] === row['PricingCurrency'],
      row['PricingCurrencyEffectiveCost'] === row['EffectiveCost'] &&
        row['PricingCurrencyListUnitPrice'] === row['ListUnitPrice'],
    ),
  'units are written as the specification wants': (row) =>
    ['ConsumedUnit', 'PricingUnit', 'CommitmentDiscountUnit'].every(
      (name) => !has(row, name) || UNIT.test(row[name] ?? ''),
    ),
};
