import { Command, InvalidArgumentError, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { filterOn, parseFilters } from '../../app/filter.ts';
import type { Filter } from '../../app/filter.ts';
import { checkInvoices } from '../../app/bills/invoice-check.ts';
import { checkLedger } from '../../app/ledger-check.ts';
import { explainLedger } from '../../app/ledger-explain.ts';
import { ledgerHash } from '../../app/ledger-hash.ts';
import { decideNow } from '../../app/now.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { invoiceCheckJson, invoiceCheckText, invoiceFaults } from '../../report/bills-invoices.ts';
import { ledgerCheckJson, ledgerCheckText } from '../../report/ledger-check-page.ts';
import { explanationJson } from '../../report/ledger-explain-json.ts';
import { explanationText } from '../../report/ledger-explain-page.ts';
import { staleText } from '../../report/spend-table.ts';
import { dataOption, jsonOption, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';
import { filterOption } from './spend.ts';

/** A script gets every entry of a figure up to this; beyond it the largest, and says so. */
const JSON_ENTRIES_MAX = 50_000;
const JSON_DETAIL_ROWS_MAX = 50_000;
const TEXT_ENTRIES = 10;
/** So many entries are followed all the way on a screen. */
const TEXT_DETAILED = 3;
const TEXT_DETAIL_ROWS_MAX = 20_000;

interface LedgerOptions {
  readonly data: string;
  readonly json?: boolean;
}

/** `bursar ledger`: whether it adds up, where a figure comes from, whether two ledgers are the same. */
export function command(): Command {
  return new Command('ledger')
    .description('Does the ledger add up to the bills, where does a figure come from, is it the same ledger?')
    .addCommand(checkCommand())
    .addCommand(explainCommand())
    .addCommand(hashCommand());
}

function checkCommand(): Command {
  return new Command('check')
    .description(
      'Each bill posted against its effective cost, added up by a second path; what is unattributed, unknown, unpriced or\n' +
        'not postable. Ends with 1 if anything does not add up.',
    )
    .option('--month <month>', 'tie one month to its invoices instead: 2026-10')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: LedgerOptions & { readonly month?: string }, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        if (options.month !== undefined) {
          const invoices = await checkInvoices(space, options.month);
          if (options.json) output.json(invoiceCheckJson(invoices));
          else output.data(invoiceCheckText(invoices), demoMark(space.snapshot));
          if (invoiceFaults(invoices).length > 0) process.exitCode = 1;
          return;
        }
        const check = await checkLedger(space);
        if (options.json) output.json(ledgerCheckJson(check));
        else output.data(ledgerCheckText(check), demoMark(space.snapshot));
        if (check.faults.length > 0) process.exitCode = 1;
      });
    });
}

interface ExplainOptions extends CommonOptions {
  readonly filter: readonly string[];
  readonly category?: string;
  readonly job?: string;
  readonly bill?: string;
  readonly device?: string;
  readonly hour?: string;
  readonly limit?: number;
}

function explainCommand(): Command {
  return withCommonOptions(
    new Command('explain')
      .description(
        'From a figure to the entries, charges, samples and splits behind it. Say what the figure is of, as you asked for it:\n' +
          'its window, its filters, its category. One job, bill, device or hour is told whole unless --window says otherwise.\n' +
          'With --json, all that is needed to work it out again.',
      )
      .addOption(filterOption())
      .option('--category <category>', 'stranded, unallocated, unknown, idle, starved, lost, computing or beside')
      .option('--job <id>', 'one job')
      .option('--bill <id>', 'one bill: provider|account|period')
      .option('--device <id>', 'one device')
      .option('--hour <hour>', 'one hour: 2026-11-01T10:00Z')
      .addOption(new Option('--limit <entries>', 'so many entries, the largest first').argParser(wholeNumber)),
  ).action(async (options: ExplainOptions, self: Command) => {
    const output = outputOf(self);
    const filters = explainFilters(options);
    await withReader(options.data, async (space) => {
      const clock = clockOf(space);
      const now = decideNow(options.asOf, space.scope?.horizon, clock);
      const explanation = await explainLedger(space, {
        window: moneyWindow(explainWindow(options, self), now, clock, space.scope),
        filters,
        entriesMax: options.limit ?? (options.json ? JSON_ENTRIES_MAX : TEXT_ENTRIES),
        detailedMax: options.json ? JSON_ENTRIES_MAX : TEXT_DETAILED,
        detailRowsMax: options.json ? JSON_DETAIL_ROWS_MAX : TEXT_DETAIL_ROWS_MAX,
      });
      const stale = staleText(space.staleRows);
      if (stale !== undefined) output.talk(stale);
      if (space.rules.shared.length > 0 && filters.some(({ dimension }) => dimension.name === 'team'))
        output.talk(
          'Shared money is not divided here and has no team: bursar rules test --team TEAM shows each part and its key.',
        );
      if (options.json) output.json(explanationJson(explanation));
      else output.data(explanationText(explanation, TEXT_DETAILED), demoMark(space.snapshot));
    });
  });
}

function explainFilters(options: ExplainOptions): readonly Filter[] {
  const single = (['category', 'job', 'bill', 'device', 'hour'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [filterOn(name, value)];
  });
  return [...parseFilters(options.filter), ...single];
}

/** One job, bill, device or hour is asked for whole, as the commands that print it do; anything else as `look` does. */
function explainWindow({ window, job, bill, device, hour }: ExplainOptions, self: Command): string {
  const isOne = [job, bill, device, hour].some((value) => value !== undefined);
  return isOne && self.getOptionValueSource('window') === 'default' ? 'all' : window;
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= JSON_ENTRIES_MAX) return number;
  throw new InvalidArgumentError(`a whole number from 1 to ${JSON_ENTRIES_MAX} is needed.`);
}

function hashCommand(): Command {
  return new Command('hash')
    .description('SHA-256 of the rows of the ledger: the same facts give the same hash, however they came.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: LedgerOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const answer = await ledgerHash(space);
        const stale = staleText(space.staleRows);
        if (stale !== undefined) output.talk(stale);
        if (options.json) output.json(answer);
        else output.data([answer.hash]);
      });
    });
}
