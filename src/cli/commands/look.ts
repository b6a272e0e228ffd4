import { Command } from 'commander';
import { look } from '../../app/look.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { withReader } from '../../app/workspace.ts';
import { lookJson, lookScreen } from '../../report/look-screen.ts';
import { dataFlag, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

export function command(): Command {
  return withCommonOptions(new Command('look'))
    .description('What was paid for in a window, and what became of it: the first screen.')
    .action(async (options: CommonOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const answer = await look(space, { ...options, clock: clockOf(space) });
        if (options.json) output.json(lookJson(answer));
        else output.data(lookScreen(answer, dataFlag(options.data)), demoMark(space.snapshot));
      });
    });
}
