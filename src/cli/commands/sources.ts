import { Command } from 'commander';
import { withReader } from '../../app/workspace.ts';
import { sourcesJson, sourcesPage } from '../../report/collect-report.ts';
import { outputOf } from '../output.ts';
import { dataOption, jsonOption } from '../question-options.ts';

export function command(): Command {
  return new Command('sources')
    .description('What is collected from where: freshness, gaps, rows, errors.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: { readonly data: string; readonly json?: boolean }, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async ({ sources }) => {
        const now = new Date();
        if (options.json) output.json(sourcesJson(sources, now));
        else output.data(sourcesPage(sources, now));
      });
    });
}
