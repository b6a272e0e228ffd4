import { Command } from 'commander';
import { deriveLedger, withWriter } from '../../app/workspace.ts';
import { deriveReport } from '../../report/import-report.ts';
import { dataFlag, dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

export function command(): Command {
  return new Command('derive')
    .description('Brings the ledger up to date with the facts. Only days and bills whose facts changed are computed.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: { readonly data: string; readonly json?: boolean }, self: Command) => {
      const output = outputOf(self);
      const begun = performance.now();
      const { generation, computed } = await withWriter(options.data, 'derive', (space) =>
        deriveLedger(space, { onProgress: (stage, unit) => output.progress(`deriving ${stage}, ${unit}`) }),
      );
      const seconds = Math.round(performance.now() - begun) / 1000;
      if (options.json) output.json({ generation, computed, seconds });
      else output.data(deriveReport(computed, seconds, dataFlag(options.data)));
    });
}
