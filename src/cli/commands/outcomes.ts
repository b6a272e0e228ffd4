import { Command, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { decideNow } from '../../app/now.ts';
import type { OutcomeBy } from '../../app/outcomes/outcome-rows.ts';
import { outcomes } from '../../app/outcomes/outcomes.ts';
import { ledgerWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { outcomesCsv, outcomesJson } from '../../report/outcomes-json.ts';
import { outcomesPage } from '../../report/outcomes-page.ts';
import { staleText } from '../../report/spend-table.ts';
import type { CommonOptions } from '../question-options.ts';
import { dataFlag, withCommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface OutcomesOptions extends CommonOptions {
  readonly by: OutcomeBy;
  readonly unit?: string;
  readonly csv?: boolean;
  readonly failOn?: 'cost-growth';
}

/** `bursar outcomes`: what a run, a thousand requests, a million tokens cost. */
export function command(): Command {
  return withCommonOptions(
    new Command('outcomes')
      .description(
        'What a finished run, a thousand inferences, a million tokens or a unit of your own cost, with volume and the window before.\n' +
          'Allocation basis: all money of what was held for it. Active basis: only the seconds that computed. docs/OUTCOMES.md has both.',
      )
      .addOption(
        new Option('--by <what>', 'what to add up by').choices(['model', 'team', 'run', 'unit']).default('model'),
      )
      .option('--unit <unit>', 'only this unit: token, request, step, …; run is finished runs')
      .addOption(new Option('--csv', 'the answer as CSV').conflicts('json'))
      .addOption(
        new Option('--fail-on <what>', 'exit with 2 if serving cost grew faster than its traffic').choices([
          'cost-growth',
        ]),
      ),
  ).action(async (options: OutcomesOptions, self: Command) => {
    const output = outputOf(self);
    await withReader(options.data, async (space) => {
      const now = decideNow(options.asOf, space.scope?.horizon, clockOf(space)).at;
      const answer = await outcomes(space, {
        window: ledgerWindow(options.window, now, space.scope),
        now,
        by: options.by,
        ...(options.unit !== undefined && { unit: options.unit }),
      });
      const stale = staleText(space.staleRows);
      if (stale !== undefined) output.talk(stale);
      if (options.json) output.json(outcomesJson(answer));
      else if (options.csv) output.data([outcomesCsv(answer).trimEnd()]);
      else output.data(outcomesPage(answer, dataFlag(options.data)), demoMark(space.snapshot));
      if (options.failOn === 'cost-growth' && answer.alarms.length > 0) process.exitCode = 2;
    });
  });
}
