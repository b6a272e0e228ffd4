import { Command } from 'commander';
import { hiddenCosts, sharedBeside } from '../../app/beside/hidden-costs.ts';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { filterOn, parseFilters } from '../../app/filter.ts';
import { checkTeam } from '../../app/known-owners.ts';
import { decideNow } from '../../app/now.ts';
import { moneyWindow } from '../../app/window.ts';
import { withReader } from '../../app/workspace.ts';
import { hiddenCostsJson, hiddenCostsPage } from '../../report/hidden-costs-page.ts';
import { staleText } from '../../report/spend-table.ts';
import { outputOf } from '../output.ts';
import { dataFlag, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { filterOption } from './spend.ts';

interface BesideOptions extends CommonOptions {
  readonly team?: string;
  readonly job?: string;
  readonly filter: readonly string[];
}

/** `bursar beside`: what stands beside the GPU, and who waited while GPUs were idle. */
export function command(): Command {
  return withCommonOptions(
    new Command('beside')
      .description(
        'The costs beside the GPU: host, storage, egress, network; the waiting that idle GPUs could have served; and what of it is nobody’s.',
      )
      .option('--team <name>', 'of one team')
      .option('--job <id>', 'of one job')
      .addOption(filterOption()),
  ).action(async (options: BesideOptions, self: Command) => {
    const output = outputOf(self);
    const filters = [
      ...parseFilters(options.filter),
      ...(options.team === undefined ? [] : [filterOn('team', options.team)]),
      ...(options.job === undefined ? [] : [filterOn('job', options.job)]),
    ];
    await withReader(options.data, async (space) => {
      await checkTeam(space, { team: options.team, config: await findConfig(undefined) });
      const clock = clockOf(space);
      const now = decideNow(options.asOf, space.scope?.horizon, clock);
      const window = moneyWindow(options.window, now, clock, space.scope);
      const costs = await hiddenCosts(space, filters, window);
      const shared = await sharedBeside(space, window);
      const stale = staleText(space.staleRows);
      if (stale !== undefined) output.talk(stale);
      if (options.json) output.json(hiddenCostsJson(costs, shared));
      else output.data(hiddenCostsPage(costs, shared, dataFlag(options.data)), demoMark(space.snapshot));
    });
  });
}
