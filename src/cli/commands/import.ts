import { Command, Option } from 'commander';
import { isCloudTool, takeCloudList } from '../../app/import-cloud.ts';
import { takeInPrices } from '../../app/prices/take-in-prices.ts';
import { takeInSacct } from '../../app/import-sacct.ts';
import { takeIn } from '../../app/take-in.ts';
import { FACT_TABLES } from '../../facts/fact-table.ts';
import { cloudImportReport } from '../../report/cloud-import-report.ts';
import { importReport } from '../../report/import-report.ts';
import { priceImportReport } from '../../report/price-import-report.ts';
import { dataFlag, dataOption, instant, jsonOption } from '../question-options.ts';
import { importTelemetry } from '../import-telemetry.ts';
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
  readonly provider?: string;
  readonly asOf?: Date;
  readonly format?: string;
  readonly cluster?: string;
  readonly node?: string;
  readonly at?: Date;
  readonly json?: boolean;
}

const collect = (text: string, before: readonly string[]): readonly string[] => [...before, text];

export function command(): Command {
  const what = [...FACT_TABLES.map(({ importName }) => importName), 'sacct', 'telemetry', 'gcloud', 'az'].join('|');
  return new Command('import')
    .description('Takes files into the data folder: CSV, gzipped CSV, JSON lines or Parquet; - is stdin.')
    .argument(`<${what}>`, 'what the files hold; docs/FACTS.md has every column')
    .argument('<file...>', 'the files; for prices also folders')
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
    .option('--format <columns>', 'sacct: its columns, where the first line does not name them: JobID,User,…')
    .option('--cluster <name>', 'sacct: the name of the cluster, if not the one in the file')
    .option('--provider <name>', 'prices: whose they are, where neither file nor name says so: aws, gcp')
    .addOption(
      new Option('--as-of <date>', 'prices: the day of a list without one').argParser((text) =>
        instant('--as-of', text),
      ),
    )
    .option('--node <name>', 'telemetry: the machine, where the file names none')
    .addOption(
      new Option('--at <time>', 'telemetry: the moment, where the file has none').argParser((text) =>
        instant('--at', text),
      ),
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(take);
}

async function take(table: string, files: string[], flags: ImportFlags, self: Command): Promise<void> {
  const output = outputOf(self);
  if (table === 'telemetry') return importTelemetry(files, flags, output);
  const { data, json, node: _node, at: _at, ...rest } = flags;
  if (isCloudTool(table)) {
    const { batch, dryRun } = rest;
    const list = await takeCloudList({
      dataDir: data,
      tool: table,
      files,
      ...(batch !== undefined && { batch }),
      ...(dryRun !== undefined && { dryRun }),
    });
    if (json) output.json(list);
    else output.data(cloudImportReport(list, dataFlag(data)));
    return;
  }
  const { provider, asOf, format, cluster, ...options } = rest;
  if (table === 'prices' || table === 'price') {
    const { batch, dryRun } = options;
    const prices = await takeInPrices({
      dataDir: data,
      paths: files,
      ...(provider !== undefined && { provider }),
      ...(asOf !== undefined && { asOf }),
      ...(batch !== undefined && { batch }),
      ...(dryRun !== undefined && { dryRun }),
    });
    if (json) output.json(prices);
    else output.data(priceImportReport(prices, dataFlag(data)));
    return;
  }
  const named = { ...(format !== undefined && { format }), ...(cluster !== undefined && { cluster }) };
  const report =
    table === 'sacct'
      ? await takeInSacct({ dataDir: data, files, ...options, ...named })
      : await takeIn({ dataDir: data, table, files, ...options });
  if (json) output.json(report);
  else output.data(importReport(report, dataFlag(data)));
}
