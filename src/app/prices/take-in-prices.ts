import { importPrices } from './import-prices.ts';
import type { ImportPricesOptions, PriceImportReport } from './import-prices.ts';
import { asImporter } from '../take-in.ts';

export type TakeInPricesRequest = Omit<ImportPricesOptions, 'engine' | 'manifest'>;

/** Imports price lists as the one writer of the data folder. */
export async function takeInPrices(request: TakeInPricesRequest): Promise<PriceImportReport> {
  return asImporter(request, 'import prices', (space) => importPrices({ ...request, ...space }));
}
