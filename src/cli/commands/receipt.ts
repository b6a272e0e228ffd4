import { Command, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { receipt } from '../../app/receipt.ts';
import { withReader } from '../../app/workspace.ts';
import { receiptJson, receiptLines } from '../../report/receipt-page.ts';
import { asOfOption, dataFlag, dataOption, jsonOption } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface ReceiptOptions extends CommonOptions {
  readonly slack?: boolean;
  readonly markdown?: boolean;
}

/** `bursar receipt`: what a job cost, in the words a researcher reads when it ends. */
export function command(): Command {
  return new Command('receipt')
    .description(
      'What a job cost and computed, beside what others of its kind cost, in a line and at most four under it.',
    )
    .argument('<job>', 'its id, or source/id where two schedulers share one')
    .addOption(new Option('--slack', 'as text of a Slack message').conflicts(['markdown', 'json']))
    .addOption(new Option('--markdown', 'as Markdown').conflicts(['json']))
    .addOption(asOfOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (id: string, options: ReceiptOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const answer = await receipt(space, { id, ...options, clock: clockOf(space) });
        const style = options.slack ? 'slack' : options.markdown ? 'markdown' : 'plain';
        if (options.json) output.json(receiptJson(answer));
        else output.data(receiptLines(answer, style, dataFlag(options.data)), demoMark(space.snapshot));
      });
    });
}
