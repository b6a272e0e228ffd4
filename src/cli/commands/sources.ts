import { Command } from 'commander';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { freshness, loadedTables } from '../../app/freshness.ts';
import { withReader } from '../../app/workspace.ts';
import { sourcesJson, sourcesPage } from '../../report/collect-report.ts';
import { coverageJson, coverageLines } from '../../report/freshness.ts';
import { outputOf } from '../output.ts';
import { dataOption, jsonOption } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';

export function command(): Command {
  return new Command('sources')
    .description(
      'What is collected from where: freshness, gaps, rows, errors; how much of the held GPU time was measured; and what is in the folder.',
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: Pick<CommonOptions, 'data' | 'json'>, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const clock = clockOf(space);
        const tables = loadedTables(space);
        const fresh = await freshness(space);
        if (options.json) output.json({ ...sourcesJson(space.sources, clock), ...coverageJson(tables, fresh) });
        else
          output.data(
            [...sourcesPage(space.sources, tables, clock), ...coverageLines(tables, fresh)],
            demoMark(space.snapshot),
          );
      });
    });
}
