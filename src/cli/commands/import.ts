import { Command, Option } from 'commander';
import { takeIn } from '../../app/take-in.ts';
import { FACT_TABLES } from '../../facts/fact-table.ts';
import { importReport } from '../../report/import-report.ts';
import { dataFlag, dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface ImportFlags {
  readonly data: string;
  readonly map: readonly string[];
  readonly set: readonly string[];
  readonly zone?: string;
  readonly dateFormat?: string;
  readonly batch?: string;
  readonly dryRun?: boolean;
  readonly coveredUntil?: string;
  readonly json?: boolean;
}

const collect = (text: string, before: readonly string[]): readonly string[] => [...before, text];

export function command(): Command {
  const what = FACT_TABLES.map(({ importName }) => importName).join('|');
  return new Command('import')
    .description('Takes files into the data folder: CSV, gzipped CSV, JSON lines or Parquet; - is stdin.')
    .argument(`<${what}>`, 'what the files hold; docs/FACTS.md has every column')
    .argument('<file...>', 'the files')
    .addOption(
      new Option('--map <column=theirs[:unit],...>', 'columns and units of the file')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      new Option('--set <column=value,...>', 'columns the file does not have').argParser(collect).default([], 'none'),
    )
    .option('--zone <zone>', 'the zone of times that do not say theirs: Europe/Berlin, UTC')
    .option('--date-format <format>', 'how times are written: %d/%m/%Y %H:%M')
    .option('--batch <name>', 'name of what is imported; the same name replaces it (default: the file name)')
    .option('--dry-run', 'say what would be taken, and take nothing')
    .option('--covered-until <time>', 'bills: the time up to which they are complete')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (table: string, files: string[], flags: ImportFlags, self: Command) => {
      const output = outputOf(self);
      const { data, json, ...rest } = flags;
      const report = await takeIn({ dataDir: data, table, files, ...rest });
      if (json) output.json(report);
      else output.data(importReport(report, dataFlag(data)));
    });
}
