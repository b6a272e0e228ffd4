import { Command } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { withReader } from '../../app/workspace.ts';
import { sourcesJson, sourcesPage } from '../../report/collect-report.ts';
import { outputOf } from '../output.ts';
import { dataOption, jsonOption } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';

export function command(): Command {
  return new Command('sources')
    .description('What is collected from where: freshness, gaps, rows, errors.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: Pick<CommonOptions, 'data' | 'json'>, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const clock = clockOf(space);
        if (options.json) output.json(sourcesJson(space.sources, clock));
        else output.data(sourcesPage(space.sources, clock), demoMark(space.snapshot));
      });
    });
}
