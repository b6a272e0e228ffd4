import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { issue, planClosing, planReopening, statementList, withdraw } from '../../app/statement/close-statements.ts';
import { NO_RULES } from '../../app/rules/rule.ts';
import type { RuleBook } from '../../app/rules/rule.ts';
import { parseMonth, usualMonth } from '../../app/statement/month.ts';
import { statement, statementOverview } from '../../app/statement/statement.ts';
import type { StatementRequest } from '../../app/statement/statement.ts';
import { withReader, withWriter } from '../../app/workspace.ts';
import type { ReadSpace } from '../../app/workspace.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { StatementKind } from '../../facts/statement-record.ts';
import { staleText } from '../../report/spend-table.ts';
import { overviewCsv, overviewJson, statementCsv, statementJson } from '../../report/statement-data.ts';
import type { StatementAnswer } from '../../report/statement-answer.ts';
import { statementPage } from '../../report/statement-page.ts';
import { shellWord } from '../../report/shell-word.ts';
import { statementScreen } from '../../report/statement-screen.ts';
import {
  closingJson,
  closingScreen,
  listJson,
  listScreen,
  overviewScreen,
  reopenScreen,
} from '../../report/statement-tables.ts';
import { outputOf } from '../output.ts';
import type { Output } from '../output.ts';
import { dataFlag, dataOption, jsonOption } from '../question-options.ts';

interface StatementOptions {
  readonly data: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly team?: string;
  readonly unattributed?: boolean;
  readonly month?: string;
  readonly kind?: StatementKind;
  readonly csv?: boolean;
  readonly html?: string;
}

interface CloseFlags {
  readonly data: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly kind?: StatementKind;
  readonly apply?: boolean;
  readonly first?: boolean;
}

/** `bursar statement`: what a team pays for, month by month; numbered and frozen when a month is closed. */
export function command(): Command {
  return withOptions(new Command('statement'))
    .description(
      'What a team paid for in a month, how much of it computed, what changed and what to do; without --team all teams in\n' +
        'one table. A closed month is printed as it was closed.',
    )
    .enablePositionalOptions()
    .option('--team <name>', 'the statement of one team')
    .addOption(new Option('--unattributed', 'the statement of what nobody owns').conflicts('team'))
    .option('--month <month>', 'which month: 2026-10; the last that is over where not said')
    .addOption(new Option('--csv', 'one row for each line').conflicts('json'))
    .option('--html <file>', 'also write it as one A4 sheet to print or forward')
    .action(showStatement)
    .addCommand(closeCommand())
    .addCommand(reopenCommand())
    .addCommand(listCommand());
}

function withOptions(bare: Command): Command {
  return bare
    .addOption(kindOption())
    .option('--config <file>', 'bursar.yaml with rules, teams and statements; that of this folder where not said')
    .addOption(dataOption())
    .addOption(jsonOption());
}

function kindOption(): Option {
  return new Option('--kind <kind>', 'showback or chargeback; what bursar.yaml says where not said').choices([
    'showback',
    'chargeback',
  ]);
}

async function showStatement(options: StatementOptions, self: Command): Promise<void> {
  const output = outputOf(self);
  const month = options.month === undefined ? undefined : parseMonth(options.month);
  const team = options.unattributed ? null : options.team;
  if (options.html !== undefined && team === undefined) {
    throw new OperationError('no-team', 'a sheet is of one team', { hint: 'Add --team NAME, or --unattributed.' });
  }
  await withReader(
    options.data,
    async (space) => {
      talkOfStale(space, output);
      const request = await requestOf(space, options, month);
      if (team === undefined) return showOverview(space, request, options, output);
      const answer = await statement(space, { ...request, team });
      if (options.json) output.json(statementJson(answer));
      else if (options.csv) output.data([statementCsv(answer).trimEnd()]);
      else output.data(statementScreen(answer, dataFlag(options.data)), demoMark(space.snapshot));
      if (options.html !== undefined) await writeSheet(answer, options.html, options, demoMark(space.snapshot) !== '');
    },
    await rulesOf(options.config),
  );
}

async function writeSheet(
  answer: StatementAnswer,
  file: string,
  options: StatementOptions,
  isDemo: boolean,
): Promise<void> {
  const whose = answer.team === null ? '--unattributed' : `--team ${shellWord(answer.team)}`;
  const typed = `bursar statement ${whose} --month ${answer.month}${dataFlag(options.data)}`;
  try {
    await writeFile(file, statementPage({ answer, command: typed, dataFlag: dataFlag(options.data), isDemo }));
  } catch (cause) {
    throw new OperationError('cannot-write', `cannot write ${file}`, {
      hint: 'Name a file in a folder that you may write to.',
      cause,
    });
  }
}

async function showOverview(
  space: ReadSpace,
  request: StatementRequest,
  options: StatementOptions,
  output: Output,
): Promise<void> {
  const overview = await statementOverview(space, request);
  if (options.json) output.json(overviewJson(overview));
  else if (options.csv) output.data([overviewCsv(overview).trimEnd()]);
  else output.data(overviewScreen(overview), demoMark(space.snapshot));
}

async function requestOf(
  space: ReadSpace,
  { config, kind }: Pick<StatementOptions, 'config' | 'kind'>,
  month: string | undefined,
): Promise<StatementRequest> {
  const clock = clockOf(space);
  return {
    month: month ?? usualMonth(space.scope, clock),
    clock,
    config: (await findConfig(config))?.statements,
    ...(kind !== undefined && { kind }),
  };
}

/** A file that is named says whose money is whose, too. */
async function rulesOf(config: string | undefined): Promise<{ rules?: RuleBook }> {
  return config === undefined ? {} : { rules: (await findConfig(config))?.rules ?? NO_RULES };
}

function talkOfStale(space: ReadSpace, output: Output): void {
  const stale = staleText(space.staleRows);
  if (stale !== undefined) output.talk(stale);
}

function closeCommand(): Command {
  return withOptions(new Command('close'))
    .description(
      'Number and freeze the statements of a month that is over. Shows what would be frozen and what may still change;\n' +
        'writes only with --apply. What changes later stands on the next statements as adjustments.',
    )
    .argument('<month>', '2026-10')
    .option('--apply', 'do it')
    .option('--first', 'begin with this month; months before it stay without statements')
    .action(async (text: string, options: CloseFlags, self: Command) => {
      const output = outputOf(self);
      const month = parseMonth(text);
      const made = await withReader(
        options.data,
        async (space) => {
          const closing = { ...(await requestOf(space, options, month)), isFirst: options.first ?? false };
          return { closing, plan: await planClosing(space, closing), mark: demoMark(space.snapshot) };
        },
        await rulesOf(options.config),
      );
      const isApplied = options.apply ?? false;
      if (isApplied) {
        await withWriter(options.data, 'statement close', async (space) => issue(space, made.closing, made.plan));
      }
      const { preview } = made.plan;
      if (options.json) output.json(closingJson(preview, isApplied));
      else output.data(closingScreen(preview, isApplied, dataFlag(options.data)), made.mark);
    });
}

function reopenCommand(): Command {
  return new Command('reopen')
    .description(
      'Withdraw the statements of the newest closed month, so that it can be closed anew. They are kept as withdrawn, and\n' +
        'their numbers are never used again. Writes only with --apply.',
    )
    .argument('<month>', '2026-10')
    .option('--apply', 'do it')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (text: string, options: CloseFlags, self: Command) => {
      const output = outputOf(self);
      const month = parseMonth(text);
      const isApplied = options.apply ?? false;
      // Read first: a writer would make the folder that a misspelt --data names.
      const numbers = await withReader(options.data, async (space) => planReopening(space, month));
      if (isApplied) {
        await withWriter(options.data, 'statement reopen', async (space) => withdraw(space, month, new Date()));
      }
      if (options.json) output.json({ month, applied: isApplied, withdrawn: numbers });
      else output.data(reopenScreen(month, numbers, isApplied, dataFlag(options.data)));
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('Which months are closed, which statements were withdrawn, and what changed since.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: CloseFlags, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const list = await statementList(space);
        if (options.json) output.json(listJson(list));
        else output.data(listScreen(list), demoMark(space.snapshot));
      });
    });
}
