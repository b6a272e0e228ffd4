import { Command, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { decideNow } from '../../app/now.ts';
import { runaway } from '../../app/runaway.ts';
import { ledgerWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { runawayJson, runawayList, runawaySlack } from '../../report/runaway-list.ts';
import { outputOf } from '../output.ts';
import { dataFlag, flagWords, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';

/** With `--fail-on any`: something was found. */
const FOUND = 2;

interface RunawayFlags extends CommonOptions {
  readonly slack?: boolean;
  readonly failOn?: 'any';
}

/** `bursar runaway`: what spends far above its own kind right now. */
export function command(): Command {
  return withCommonOptions(new Command('runaway'), { window: '90d' })
    .description(
      'What spends far above its own kind right now, with the command to stop it. Bursar stops nothing itself.\n' +
        'The window is how far back finished jobs are compared.',
    )
    .addOption(new Option('--slack', 'a few lines as text of a Slack message').conflicts('json'))
    .addOption(new Option('--fail-on <what>', 'end with 2 where anything was found: any').argParser(failOn))
    .action(async (options: RunawayFlags, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const now = decideNow(options.asOf, space.scope?.horizon, clockOf(space));
        const answer = await runaway(space, now, ledgerWindow(options.window, now.at, space.scope));
        const mark = demoMark(space.snapshot);
        const typed = `bursar runaway${flagWords({ window: options.window, 'as-of': options.asOf })}${dataFlag(options.data)}`;
        if (options.json) output.json(runawayJson(answer));
        else if (options.slack) output.data(runawaySlack(answer, typed), mark);
        else output.data(runawayList(answer, dataFlag(options.data)), mark);
        if (options.failOn === 'any' && answer.runaways.length > 0) process.exitCode = FOUND;
      });
    });
}

function failOn(text: string): 'any' {
  if (text === 'any') return text;
  throw new OperationError('bad-option', `--fail-on ${text} is not known`, { hint: 'For example --fail-on any.' });
}
