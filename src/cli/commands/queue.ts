import { Command } from 'commander';
import { findConfig } from '../../app/config/config-file.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { checkTeam } from '../../app/known-owners.ts';
import { queue } from '../../app/queue/queue.ts';
import { withReader } from '../../app/workspace.ts';
import { queueJson, queuePage } from '../../report/queue-page.ts';
import { shellWord } from '../../report/shell-word.ts';
import { outputOf } from '../output.ts';
import { dataFlag, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';

interface QueueOptions extends CommonOptions {
  readonly team?: string;
  readonly all?: boolean;
}

export function command(): Command {
  return withCommonOptions(new Command('queue'), { window: '7d' })
    .description('Who waits for GPUs and for how long, beside the GPUs that stand idle or empty meanwhile.')
    .option('--team <name>', 'only who waits of this team')
    .option('--all', 'every row, not only those who have waited longest')
    .action(async (options: QueueOptions, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        await checkTeam(space, { team: options.team, config: await findConfig(undefined) });
        const answer = await queue(space, { ...options, clock: clockOf(space) });
        const flags = {
          dataFlag: dataFlag(options.data),
          ...(options.team !== undefined && { teamFlag: ` --team ${shellWord(options.team)}` }),
          ...(options.all && { top: Infinity }),
        };
        if (options.json) output.json(queueJson(answer));
        else output.data(queuePage(answer, flags), demoMark(space.snapshot));
      });
    });
}
