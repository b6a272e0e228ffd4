import { Command, Option } from 'commander';
import { addBills } from '../../app/bills/add-bills.ts';
import { listBills } from '../../app/bills/list-bills.ts';
import { demoMark } from '../../app/demo/demo-mark.ts';
import { withReader } from '../../app/workspace.ts';
import { addedBillsJson, addedBillsText, isReconciled } from '../../report/bills-added.ts';
import { billListJson, billListText } from '../../report/bills-list.ts';
import { dataFlag, dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface AddFlags {
  readonly data: string;
  readonly provider?: string;
  readonly account?: string;
  readonly set: readonly string[];
  readonly map: readonly string[];
  readonly zone?: string;
  readonly dateFormat?: string;
  readonly coveredUntil?: string;
  readonly dryRun?: boolean;
  readonly endpoint?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly json?: boolean;
}

const collect = (text: string, before: readonly string[]): readonly string[] => [...before, text];

/** `bursar bills`: what was billed, by whom, how often; and `bursar bills add`. */
export function command(): Command {
  return new Command('bills')
    .description('The bills that are here: provider, account, period, what they come to, how often each came in.')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: { data: string; json?: boolean }, self: Command) => {
      const output = outputOf(self);
      await withReader(options.data, async (space) => {
        const bills = await listBills(space);
        if (options.json) output.json(billListJson(bills));
        else output.data(billListText(bills, dataFlag(options.data)), demoMark(space.snapshot));
      });
    })
    .addCommand(addCommand());
}

function addCommand(): Command {
  return new Command('add')
    .description(
      'Takes bills in and brings the ledger up to date: FOCUS 1.0 to 1.3, AWS CUR, Azure cost exports, Google Cloud exports;\n' +
        'CSV, gzip, JSON lines or Parquet; folders and s3:// with their manifests. All that is named, or nothing.',
    )
    .argument('<place...>', 'files, folders, or s3://bucket/prefix/')
    .option('--provider <name>', 'who sends the bill, where it does not say')
    .option('--account <id>', 'the account billed, where it does not say')
    .addOption(
      new Option('--set <column=value,...>', 'columns the file does not have').argParser(collect).default([], 'none'),
    )
    .addOption(new Option('--map <column=theirs,...>', 'columns of the file').argParser(collect).default([], 'none'))
    .option('--zone <zone>', 'the zone of times that do not say theirs (default: UTC)')
    .option('--date-format <format>', 'how times are written: %d/%m/%Y')
    .option('--covered-until <time>', 'the time up to which the bills are complete')
    .option('--dry-run', 'say what would be taken, and take nothing')
    .option('--endpoint <url>', 's3: the server, if not AWS')
    .option('--region <region>', 's3: the region of the bucket')
    .option('--profile <name>', 's3: the AWS profile')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (places: string[], _options: unknown, self: Command) => {
      const { data, json, endpoint, region, profile, ...options } = self.optsWithGlobals<AddFlags>();
      const output = outputOf(self);
      const added = await addBills({
        dataDir: data,
        places,
        ...options,
        s3: {
          ...(endpoint !== undefined && { endpoint }),
          ...(region !== undefined && { region }),
          ...(profile !== undefined && { profile }),
        },
        now: new Date(),
        onProgress: (what) => output.progress(what),
      });
      if (json) output.json(addedBillsJson(added));
      else output.data(addedBillsText(added, dataFlag(data)));
      if (added.bills.some((bill) => isReconciled(bill) === false)) process.exitCode = 1;
    });
}
