import { formatUsdMicros } from '../money/usd.ts';
import { exactText } from './bill-amount.ts';
import { counted, gpuHours, gpuSeconds } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

/** Rows of a bill of one charge category, committed or not. */
export interface BillGroup {
  readonly chargeCategory: string;
  readonly isCommitted: boolean;
  readonly rows: bigint;
  readonly effective: bigint;
  readonly billed: bigint;
}

export interface BillCheck {
  readonly billId: string;
  readonly posted: boolean;
  readonly whyNot: 'no-rate' | 'not-derived' | undefined;
  readonly currency: string;
  readonly periodEnd: string;
  readonly coveredUntil: string | null;
  readonly usdPerUnit: string | undefined;
  readonly rows: number;
  /** UTC days on which its charges begin. */
  readonly days: number;
  readonly effective: bigint;
  readonly billed: bigint;
  /** Null where no row has a list price. */
  readonly list: bigint | null;
  /** Of the rows that have a list price: what it is to be compared with. */
  readonly listedEffective: bigint;
  readonly listRows: number;
  readonly groups: readonly BillGroup[];
  readonly postedUsdMicros: bigint;
  readonly roundingUsdMicros: bigint;
  readonly differenceUsdMicros: bigint;
}

/** Something that should add up and does not. */
export interface LedgerFault {
  readonly check: string;
  readonly cases: number;
  readonly examples: readonly { readonly place: string; readonly want: string; readonly got: string }[];
}

export interface LedgerCheck {
  readonly bills: readonly BillCheck[];
  /** Of bills, rates and estimates, each without its sign: one that is too much does not hide one that is too little. */
  readonly differenceUsdMicros: bigint;
  readonly rateUsdMicros: bigint;
  readonly estimatedUsdMicros: bigint;
  readonly unattributedUsdMicros: bigint;
  readonly unknownUsdMicros: bigint;
  readonly unpricedUnits: bigint;
  /** Rows of facts that are imported and not yet derived. */
  readonly staleRows: number;
  readonly faults: readonly LedgerFault[];
}

export function ledgerCheckJson(check: LedgerCheck): unknown {
  return {
    bills: check.bills.map((bill) => ({
      billId: bill.billId,
      posted: bill.posted,
      ...(bill.whyNot !== undefined && { whyNot: bill.whyNot }),
      currency: bill.currency,
      usdPerUnit: bill.usdPerUnit ?? null,
      effectiveExact: exactText(bill.effective),
      billedExact: exactText(bill.billed),
      listExact: bill.list === null ? null : exactText(bill.list),
      postedUsdMicros: String(bill.postedUsdMicros),
      roundingUsdMicros: String(bill.roundingUsdMicros),
      differenceUsdMicros: String(bill.differenceUsdMicros),
      rows: bill.rows,
      rowsWithListPrice: bill.listRows,
      coveredUntil: bill.coveredUntil === null ? null : `${bill.coveredUntil.replace(' ', 'T')}Z`,
      billedDiffers: reasons(bill).map(({ because, group }) => ({
        chargeCategory: group.chargeCategory,
        committed: group.isCommitted,
        rows: Number(group.rows),
        effectiveExact: exactText(group.effective),
        billedExact: exactText(group.billed),
        because,
      })),
    })),
    differenceUsdMicros: String(check.differenceUsdMicros),
    rates: {
      rateUsdMicros: String(check.rateUsdMicros),
      estimatedUsdMicros: String(check.estimatedUsdMicros),
    },
    unattributedUsdMicros: String(check.unattributedUsdMicros),
    unknownUsdMicros: String(check.unknownUsdMicros),
    unpricedSeconds: gpuSeconds(check.unpricedUnits),
    rowsNotDerived: check.staleRows,
    faults: check.faults,
  };
}

/** Every micro of it: this is the page on which people look for the missing one. */
export function ledgerCheckText(check: LedgerCheck): string[] {
  const posted = check.bills.filter((bill) => bill.posted);
  const waiting = check.bills.filter((bill) => !bill.posted);
  const sums = [
    ['by stated rates', formatUsdMicros(check.rateUsdMicros)],
    ['estimated, not billed', formatUsdMicros(check.estimatedUsdMicros)],
    ['unattributed', formatUsdMicros(check.unattributedUsdMicros), 'paid, and no team is known for it'],
    ['unknown', formatUsdMicros(check.unknownUsdMicros), 'paid, and nobody knows what became of it'],
    [
      'unpriced',
      gpuHours(check.unpricedUnits),
      check.unpricedUnits === 0n ? '' : 'in no sum: bursar import rates FILE',
    ],
  ];
  return [
    `${counted(posted.length, 'bill')} posted at effective cost`,
    ...posted.flatMap((bill) => ['', ...billText(bill)]),
    ...(waiting.length === 0
      ? []
      : ['', `${counted(waiting.length, 'bill')} not posted`, ...waiting.flatMap(waitingText)]),
    '',
    ...textTable([{ align: 'left' }, { align: 'right' }, { align: 'left' }], sums),
    '',
    ...verdict(check),
  ];
}

function billText(bill: BillCheck): string[] {
  const { currency } = bill;
  const isForeign = currency !== 'USD';
  const rounding = bill.roundingUsdMicros === 0n ? '' : `${formatUsdMicros(bill.roundingUsdMicros)} of it rounding`;
  const conversion = isForeign ? `at ${trimmed(bill.usdPerUnit ?? '')} dollars for one ${currency}` : '';
  const rows = [
    ['  posted', formatUsdMicros(bill.postedUsdMicros), '', rounding],
    [
      '  effective',
      exactText(bill.effective),
      currency,
      [counted(bill.rows, 'row'), conversion].filter(Boolean).join(', '),
    ],
    [
      '  difference',
      formatUsdMicros(bill.differenceUsdMicros),
      '',
      bill.differenceUsdMicros === 0n ? '' : 'does not add up',
    ],
    ['  billed', exactText(bill.billed), currency, billedText(bill)],
    [
      '  list',
      bill.list === null ? 'not on the bill' : exactText(bill.list),
      bill.list === null ? '' : currency,
      listText(bill),
    ],
  ];
  const lines = textTable([{ align: 'left' }, { align: 'right' }, { align: 'left' }, { align: 'left' }], rows);
  const why = reasons(bill).map(({ because, group }) => {
    const sign = group.billed > group.effective ? '+' : '';
    return `    ${sign}${exactText(group.billed - group.effective)} ${currency}  ${safeText(because)}`;
  });
  return [safeText(bill.billId), ...lines.slice(0, 4), ...why, ...lines.slice(4)];
}

function billedText({ billed, effective }: BillCheck): string {
  if (billed === effective) return 'the same';
  return billed > effective ? 'more than effective:' : 'less than effective:';
}

function listText({ list, listedEffective, rows, listRows }: BillCheck): string {
  if (list === null) return '';
  const part = listRows < rows ? `, of ${counted(listRows, 'row')} that have one` : '';
  const off = list - listedEffective;
  if (off === 0n) return `the same${part}`;
  return `discounts and commitments: effective is ${exactText(off < 0n ? -off : off)} ${off > 0n ? 'below' : 'above'}${part}`;
}

function waitingText(bill: BillCheck): string[] {
  const amount = `  ${safeText(bill.billId)}  ${exactText(bill.effective)} ${bill.currency}`;
  if (bill.whyNot === 'not-derived') return [`${amount}: imported, not derived yet`, '    → bursar derive'];
  return [
    `${amount}: no rate to dollars dated up to ${bill.periodEnd.slice(0, 10)}`,
    `    → bursar import fx FILE   (currency,as_of,usd_per_unit)`,
  ];
}

function verdict({ faults, staleRows }: LedgerCheck): string[] {
  const stale =
    staleRows === 0 ? [] : [`${counted(staleRows, 'row')} of facts are not in the ledger yet: bursar derive`];
  if (faults.length === 0) return ['everything adds up', ...stale];
  return [
    'DOES NOT ADD UP',
    ...faults.flatMap(({ check, cases, examples }) => [
      `  not so: ${check} (${counted(cases, 'case')})`,
      ...examples.map(({ place, want, got }) => `    ${safeText(place)}: ${want} expected, ${got} found`),
    ]),
    ...stale,
  ];
}

/** Why billed and effective cost are not the same, by kind of charge. */
function reasons(bill: BillCheck): { because: string; group: BillGroup }[] {
  return bill.groups
    .filter(({ billed, effective }) => billed !== effective)
    .map((group) => ({ because: reasonFor(group), group }));
}

function reasonFor({ chargeCategory, isCommitted }: BillGroup): string {
  const category = chargeCategory.toLowerCase();
  if (category === 'purchase') return 'purchases: billed at once, effective where they are used';
  if (category === 'usage' && isCommitted) return 'usage that commitments pay for: billed when they were bought';
  if (category === 'usage') return 'usage that was prepaid or is discounted elsewhere on the bill';
  return `${category}: billed and spread differently`;
}

function trimmed(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
