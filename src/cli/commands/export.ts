import { Command, Option } from 'commander';
import { clockOf } from '../../app/demo/demo-mark.ts';
import { exportFocus } from '../../app/export/export-focus.ts';
import type { FocusFormat, FocusGrain } from '../../app/export/focus-rows.ts';
import { decideNow } from '../../app/now.ts';
import { monthWindow, parseMonth } from '../../app/statement/month.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { exportJson, exportLines } from '../../report/export-report.ts';
import { staleText } from '../../report/spend-table.ts';
import { outputOf } from '../output.ts';
import { asOfOption, dataOption, jsonOption, windowOption } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';

interface ExportOptions extends CommonOptions {
  readonly month?: string;
  readonly out?: string;
  readonly format: FocusFormat;
  readonly grain: FocusGrain;
}

/** `bursar export`: the ledger for other tools. */
export function command(): Command {
  return new Command('export').description('The ledger as files for other tools.').addCommand(focusCommand());
}

function focusCommand(): Command {
  return new Command('focus')
    .description(
      'The ledger as FOCUS 1.2: allocated cost, one row for each day, owner, resource, component and category, with our own\n' +
        'columns x_… after those of the specification. EffectiveCost adds up to the ledger. docs/STATEMENTS.md has every column.',
    )
    .addOption(windowOption())
    .addOption(new Option('--month <month>', 'a whole month: 2026-10').conflicts('window'))
    .option('--out <file>', 'the file to write; CSV goes to stdout where not said')
    .addOption(new Option('--format <format>', 'csv or parquet').choices(['csv', 'parquet']).default('csv'))
    .addOption(new Option('--grain <grain>', 'one row a day, or an hour').choices(['day', 'hour']).default('day'))
    .addOption(asOfOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: ExportOptions, self: Command) => {
      const output = outputOf(self);
      const { out, format, grain } = options;
      if (out === undefined && (format === 'parquet' || options.json)) {
        throw new OperationError('no-file', `${options.json ? '--json' : 'Parquet'} needs a file to write to`, {
          hint: 'Add --out FILE.',
        });
      }
      const streams = self.configureOutput();
      await withReader(options.data, async (space) => {
        const stale = staleText(space.staleRows);
        if (stale !== undefined) output.talk(stale);
        const clock = clockOf(space);
        const window =
          options.month === undefined
            ? moneyWindow(options.window, decideNow(options.asOf, space.scope?.horizon, clock), clock, space.scope)
            : monthWindow(parseMonth(options.month), clock, space.scope).window;
        const report = await exportFocus(space, {
          window,
          format,
          grain,
          ...(out !== undefined && { out }),
          sink: (text) => streams.writeOut?.(text),
          onProgress: (words) => output.progress(`export: ${words}`),
        });
        const answer = { ...report, window };
        if (options.json) output.json(exportJson(answer));
        else if (out === undefined) for (const line of exportLines(answer)) output.talk(line);
        else output.data(exportLines(answer));
      });
    });
}
