import { Command, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { decideNow } from '../../app/now.ts';
import { scorecard } from '../../app/scorecard/scorecard.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { scorecardJson, scorecardMarkdown, scorecardPage } from '../../report/scorecard-page.ts';
import { dataFlag, flagWords, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';
import { terminalWidth } from '../terminal-width.ts';

/** `bursar scorecard`: how well the fleet is run, against what is published and its own quarter before. */
export function command(): Command {
  return withCommonOptions(
    new Command('scorecard')
      .description(
        'Compute share, tagging, spot, commitment and auto-shutdown coverage, each with its two numbers, beside published ranges\n' +
          'and the same length of time before. Of the whole fleet only: what is empty, committed or nobody’s is in the shares, and no\n' +
          'team’s. bursar waste --team NAME has the compute share of one.',
      )
      .addOption(new Option('--markdown', 'to paste, as Markdown').conflicts('json')),
    { window: '90d' },
  ).action(async (options: CommonOptions & { readonly markdown?: boolean }, self: Command) => {
    const output = outputOf(self);
    await withReader(options.data, async (space) => {
      const clock = clockOf(space);
      const now = decideNow(options.asOf, space.scope?.horizon, clock);
      const card = await scorecard(space, { window: moneyWindow(options.window, now, clock, space.scope), now });
      const mark = demoMark(space.snapshot);
      const flag = dataFlag(options.data);
      if (options.json) output.json(scorecardJson(card));
      else if (options.markdown) {
        const made = `bursar scorecard${flagWords({ window: options.window, 'as-of': options.asOf })}${flag}`;
        output.data(scorecardMarkdown(card, { command: made, madeAt: new Date(), mark: mark.trim() }));
      } else output.data(scorecardPage(card, terminalWidth() - mark.length, flag), mark);
    });
  });
}
