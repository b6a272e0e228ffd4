import { Command } from 'commander';
import { idleNow } from '../../app/idle.ts';
import { decideNow } from '../../app/now.ts';
import { exampleMark } from '../../app/example-mark.ts';
import { withReader } from '../../app/workspace.ts';
import { idleJson, idleList } from '../../report/idle-list.ts';
import { asOfOption, dataFlag, dataOption, jsonOption } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

export function command(): Command {
  return new Command('idle')
    .description('Who holds GPUs now without using them, since when, and what an hour of it costs.')
    .option('--all', 'every row, not only the dearest')
    .addOption(asOfOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: CommonOptions & { readonly all?: boolean }, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const idle = await idleNow(space, decideNow(options.asOf, space.scope?.horizon, new Date()));
        const flags = { dataFlag: dataFlag(options.data), showAll: options.all ?? false };
        if (options.json) output.json(idleJson(idle));
        else output.data(idleList(idle, flags), exampleMark(space.snapshot));
      });
    });
}
