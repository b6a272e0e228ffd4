import { userInfo } from 'node:os';
import { Command } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { me } from '../../app/me.ts';
import { withReader } from '../../app/workspace.ts';
import { meJson, mePage } from '../../report/me-page.ts';
import { outputOf } from '../output.ts';
import { dataFlag, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';

export function command(): Command {
  return withCommonOptions(new Command('me'))
    .description(
      'What I hold, what it costs, what of it is idle; what I spent, and a receipt for each of my last runs.',
    )
    .option('--user <name>', 'somebody else, or how the scheduler calls you (default: the name you are logged in with)')
    .action(async (options: CommonOptions & { readonly user?: string }, self: Command) => {
      const output = outputOf(self);
      const user = options.user ?? process.env['USER'] ?? userInfo().username;
      await withReader(options.data, async (space) => {
        const isNamed = options.user !== undefined;
        const answer = await me(space, { ...options, user, isNamed, clock: clockOf(space) });
        if (options.json) output.json(meJson(answer));
        else output.data(mePage(answer, dataFlag(options.data)), demoMark(space.snapshot));
      });
    });
}
