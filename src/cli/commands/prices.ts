import { Command, Option } from 'commander';
import { priceList } from '../../app/prices/price-list.ts';
import { withReader } from '../../app/workspace.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { PRICE_PURCHASES } from '../../facts/price.ts';
import type { PricePurchase } from '../../facts/price.ts';
import { priceListPage } from '../../report/price-list.ts';
import { asOfOption, dataFlag, dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';

interface PricesFlags {
  readonly data: string;
  readonly model?: string;
  readonly type?: string;
  readonly provider?: string;
  readonly region?: string;
  readonly purchase?: PricePurchase;
  readonly asOf?: Date;
  readonly limit: number;
  readonly json?: boolean;
}

const LIMIT_DEFAULT = 20;

function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new OperationError('bad-option', `--limit ${text} is not a whole number above 0`, {
    hint: 'For example --limit 50.',
  });
}

export function command(): Command {
  return new Command('prices')
    .description('What machines and accelerators are offered for, cheapest first, each price with its source and date.')
    .option('--model <name>', 'the accelerator: H100, "A100 80GB", MI300X')
    .option('--type <name>', 'the machine type: p5.48xlarge')
    .option('--provider <name>', 'aws, gcp, azure, lambda, …')
    .option('--region <name>', 'as the provider names it')
    .addOption(new Option('--purchase <way>', 'how it is bought').choices(PRICE_PURCHASES))
    .addOption(asOfOption())
    .addOption(new Option('--limit <n>', 'how many are shown').argParser(wholeNumber).default(LIMIT_DEFAULT))
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (flags: PricesFlags, self: Command) => {
      const output = outputOf(self);
      const { data, json, asOf, type, ...asked } = flags;
      const list = await withReader(data, (space) =>
        priceList(space, { ...asked, at: asOf ?? new Date(), ...(type !== undefined && { instanceType: type }) }),
      );
      if (json) output.json(list);
      else output.data(priceListPage(list, dataFlag(data)));
    });
}
