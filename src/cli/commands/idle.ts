import { Command, Option } from 'commander';
import { idleNow } from '../../app/idle.ts';
import { decideNow } from '../../app/now.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { withReader } from '../../app/workspace.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { idleJson, idleList } from '../../report/idle-list.ts';
import { asOfOption, dataFlag, dataOption, jsonOption } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';

export function command(): Command {
  return new Command('idle')
    .description('Who holds GPUs now without using them, since when, and what an hour of it costs.')
    .option('--all', 'every row, not only the dearest')
    .addOption(new Option('--top <n>', 'so many rows, the dearest first').argParser(rowCount).conflicts('all'))
    .addOption(asOfOption())
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: CommonOptions & { readonly all?: boolean; readonly top?: number }, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const idle = await idleNow(space, decideNow(options.asOf, space.scope?.horizon, clockOf(space)));
        const top = options.all ? Infinity : options.top;
        const flags = { dataFlag: dataFlag(options.data), ...(top !== undefined && { top }) };
        if (options.json) output.json(idleJson(idle));
        else output.data(idleList(idle, flags), demoMark(space.snapshot));
      });
    });
}

function rowCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new OperationError('bad-option', `--top ${text} is not a number of rows`, { hint: 'For example --top 10.' });
}
