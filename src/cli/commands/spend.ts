import { Command, Option } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { parseDimensions, parseFilters } from '../../app/filter.ts';
import { decideNow } from '../../app/now.ts';
import { parseStep, spend } from '../../app/spend.ts';
import type { SpendRequest } from '../../app/spend.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { spendCsv, spendJson, spendText, staleText } from '../../report/spend-table.ts';
import type { SpendPrice } from '../../report/spend-table.ts';
import type { CommonOptions } from '../question-options.ts';
import { withCommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface SpendOptions extends CommonOptions {
  readonly by: string;
  readonly step?: string;
  readonly filter: readonly string[];
  readonly csv?: boolean;
  readonly price: SpendPrice;
}

/** `bursar spend`: what was paid, by whom or for what. */
export function command(): Command {
  return withCommonOptions(
    new Command('spend')
      .description(
        'What was paid in a window, by team, project, user, environment, class, rule, cluster, node, device, model, purchase,\n' +
          'provider, account, region, category, component, basis, bill, day, hour or job. An hour counts where it begins.',
      )
      .option('--by <dimensions>', 'what to add up by, separated by commas', 'team')
      .option('--step <length>', 'one row for each step of time: 1h, 6h, 1d, 7d')
      .addOption(filterOption())
      .addOption(
        new Option('--price <price>', 'amortised, or marginal: its part of what the bills would fall by')
          .choices(['amortised', 'marginal'])
          .default('amortised'),
      )
      .addOption(new Option('--csv', 'the answer as CSV').conflicts('json')),
  ).action(async (options: SpendOptions, self: Command) => {
    const output = outputOf(self);
    const by = parseDimensions(options.by);
    const filters = parseFilters(options.filter);
    const stepSeconds = options.step === undefined ? undefined : parseStep(options.step);
    await withReader(options.data, async (space) => {
      const clock = clockOf(space);
      const now = decideNow(options.asOf, space.scope?.horizon, clock);
      const request: SpendRequest = {
        by,
        filters,
        price: options.price,
        window: moneyWindow(options.window, now, clock, space.scope),
        ...(stepSeconds !== undefined && { stepSeconds }),
      };
      const answer = await spend(space, request);
      const stale = staleText(space.staleRows);
      if (stale !== undefined) output.talk(stale);
      if (options.json) output.json(spendJson(answer));
      else if (options.csv) output.data([spendCsv(answer).trimEnd()]);
      else output.data(spendText(answer), demoMark(space.snapshot));
    });
  });
}

export function filterOption(): Option {
  return new Option('--filter <dimension=value>', 'only these: cluster=a,team=nlp|asr; team= is what has no team')
    .default([], 'everything')
    .argParser((text, before: readonly string[]) => [...before, text]);
}
