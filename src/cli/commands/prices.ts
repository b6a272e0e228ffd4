import { Argument, Command, Option } from 'commander';
import { componentFit } from '../../app/prices/component-fit.ts';
import { priceList } from '../../app/prices/price-list.ts';
import { withReader } from '../../app/workspace.ts';
import { FITTED_COMPONENTS } from '../../facts/component-price.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { PRICE_PURCHASES } from '../../facts/price.ts';
import type { PricePurchase } from '../../facts/price.ts';
import { componentFitJson, componentFitPage, componentPricesPage } from '../../report/component-prices-page.ts';
import { priceListPage } from '../../report/price-list.ts';
import { asOfOption, dataFlag, dataOption, jsonOption } from '../question-options.ts';
import { outputOf } from '../output.ts';
import type { Output } from '../output.ts';

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
    .addArgument(
      new Argument(
        '[parts]',
        'fit: what a GPU, a vCPU and a GiB of memory cost by themselves, by the imported lists; ' +
          "components: the prices by which a machine's money is split",
      ).choices(['fit', 'components']),
    )
    .option('--model <name>', 'the accelerator: H100, "A100 80GB", MI300X')
    .option('--type <name>', 'the machine type: p5.48xlarge')
    .option('--provider <name>', 'aws, gcp, azure, lambda, …')
    .option('--region <name>', 'as the provider names it')
    .addOption(new Option('--purchase <way>', 'how it is bought').choices(PRICE_PURCHASES))
    .addOption(asOfOption())
    .addOption(new Option('--limit <n>', 'how many are shown').argParser(wholeNumber).default(LIMIT_DEFAULT))
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (parts: 'fit' | 'components' | undefined, flags: PricesFlags, self: Command) => {
      const output = outputOf(self);
      if (parts !== undefined) return showParts(parts, flags, output);
      const { data, json, asOf, type, ...asked } = flags;
      const list = await withReader(data, (space) =>
        priceList(space, { ...asked, at: asOf ?? new Date(), ...(type !== undefined && { instanceType: type }) }),
      );
      if (json) output.json(list);
      else output.data(priceListPage(list, dataFlag(data)));
    });
}

/** What the parts of GPU machines cost: by a fit of one's own lists, or as built in. */
async function showParts(
  parts: 'fit' | 'components',
  { data, asOf, json }: PricesFlags,
  output: Output,
): Promise<void> {
  if (parts === 'components') {
    if (json) output.json(FITTED_COMPONENTS);
    else output.data(componentPricesPage());
    return;
  }
  const fit = await withReader(data, (space) => componentFit(space, asOf ?? new Date()));
  if (json) output.json(componentFitJson(fit));
  else output.data(componentFitPage(fit, dataFlag(data)));
}
