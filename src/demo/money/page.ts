import { amountText, csvLine, timeText } from '../csv.ts';
import type { Node } from '../organisation.ts';
import type { Reason, TrueCategory, World } from '../world/world-schema.ts';
import { type Bill, type BillRow, type Charge, chargeOf } from './bill.ts';

/** What a machine cost in each period of a day, in micro-dollars. */
export interface PeriodCost {
  readonly periodS: number;
  /** Missing where it was not there. */
  readonly usdMicros: (number | undefined)[];
}

/** What one day adds to the books. */
export interface Page {
  readonly world: World;
  readonly charges: Charge[];
  readonly truth: string[];
  readonly costs: Map<Node, PeriodCost>;
  readonly totals: Totals;
}

/** What the days so far come to, in micro-dollars; truth is added up row by row, apart from the others. */
export interface Totals {
  billedUsdMicros: number;
  rateUsdMicros: number;
  truthUsdMicros: number;
  readonly truthUsdMicrosByCategory: Partial<Record<TrueCategory, number>>;
}

/** A month of a provider as it fills up; amounts in micros of its currency. */
export interface Month {
  readonly bill: Bill;
  readonly corrections: readonly Correction[];
  /** Everything on the bill so far, as billed. */
  billedMicros: number;
  /** What its known GPU machines cost so far. */
  machinesMicros: number;
  /** Used and unused so far, by the name of the committed pool. */
  readonly feeMicros: Map<string, number>;
}

/** A row that is charged twice and taken back once: the day and period it is of, and its place among their rows. */
export interface Correction {
  readonly day: number;
  readonly index: number;
  readonly place: number;
}

/** Puts a row on the bill; one that is of no known machine says here what it truly was for. */
export function post(page: Page, month: Month, row: BillRow, reason?: Reason): Charge {
  const charge = chargeOf(month.bill, row);
  page.charges.push(charge);
  month.billedMicros += row.billedMicros;
  page.totals.billedUsdMicros += charge.usdMicros;
  if (reason !== undefined) {
    addTruth(page, whereText([timeText(row.from), timeText(row.until), ...NOBODY]), reason, '', charge.usdMicros);
  }
  return charge;
}

/** Source, allocation, attempt, node, device and share of what is of no known machine. */
const NOBODY = ['', '', '', '', '', ''] as const;

/** The cells that rows of one piece of time share, written once. */
export function whereText(cells: readonly (string | number | undefined)[]): string {
  return csvLine(cells).slice(0, -1);
}

/** A row of the truth: where and whose the time was, why it was spent, and what it cost. */
export function addTruth(
  { world, truth, totals }: Page,
  where: string,
  reason: Reason,
  seconds: string,
  usdMicros: number,
): void {
  const category = world.reasons[reason];
  // Joined rather than concatenated: a day has a million of these, and a joined text has no pieces to keep.
  truth.push([where, reason, category, seconds, `${amountText(usdMicros)}\n`].join(','));
  totals.truthUsdMicros += usdMicros;
  totals.truthUsdMicrosByCategory[category] = (totals.truthUsdMicrosByCategory[category] ?? 0) + usdMicros;
}
