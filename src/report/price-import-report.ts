import { PRICE_FLAGS } from '../facts/price.ts';
import { counted } from './figures.ts';
import { safeText } from './safe-text.ts';

interface ImportedFeed {
  readonly file: string;
  readonly shape: string;
  readonly provider: string | null;
  readonly asOf: string | null;
  readonly rows: number;
  readonly taken: number;
  readonly withoutPrice: number;
  readonly flagged: number;
  readonly skipped: readonly { readonly reason: string; readonly rows: number; readonly example: string }[];
  readonly prices: number;
  readonly flags: readonly { readonly flag: string; readonly prices: number; readonly example: string }[];
  readonly notes: readonly string[];
}

/** What an import of price lists took in, or in a dry run would have. */
export interface ImportedPrices {
  readonly dryRun: boolean;
  readonly files: readonly ImportedFeed[];
  readonly notPriceLists: readonly { readonly file: string; readonly reason: string }[];
  readonly rowsReplaced: number;
}

const isFlag = (flag: string): flag is keyof typeof PRICE_FLAGS => flag in PRICE_FLAGS;

/** A line for each file, whose counts add up to its rows, and one for each reason something was not believed or not taken. */
export function priceImportReport(report: ImportedPrices, dataFlag = ''): string[] {
  const { files, dryRun, notPriceLists, rowsReplaced } = report;
  const prices = files.reduce((sum, each) => sum + each.prices, 0);
  const rows = files.reduce((sum, each) => sum + each.rows, 0);
  const replaced =
    rowsReplaced === 0 ? '' : `, ${dryRun ? 'would replace' : 'replacing'} ${counted(rowsReplaced, 'price')}`;
  const sum = `${counted(prices, 'price')} from ${counted(rows, 'row')} of ${counted(files.length, 'file')}`;
  return [
    `prices: ${sum}${dryRun ? ' would be taken' : ' taken'}${replaced}`,
    ...files.flatMap(fileLines),
    ...notPriceLists.map(({ file, reason }) => `  left out ${safeText(file)}: ${safeText(reason)}`),
    dryRun ? 'Nothing was changed: this was a dry run.' : `Next: bursar prices --model H100${dataFlag}`,
  ];
}

function fileLines(feed: ImportedFeed): string[] {
  const skipped = feed.skipped.reduce((sum, each) => sum + each.rows, 0);
  const from = [feed.provider ?? 'several providers', feed.asOf === null ? 'dated rows' : feed.asOf.slice(0, 10)];
  const number = (count: number): string => count.toLocaleString('en-US');
  return [
    `  ${safeText(feed.file)} (${safeText(feed.shape)}, ${safeText(from.join(', '))}): ${counted(feed.rows, 'row')} = ` +
      `${number(feed.taken)} taken + ${number(feed.withoutPrice)} without a price + ${number(feed.flagged)} flagged + ` +
      `${number(skipped)} skipped`,
    ...feed.skipped.map(
      ({ reason, rows, example }) =>
        `    skipped ${counted(rows, 'row')}: ${safeText(reason)}, e.g. ${safeText(example)}`,
    ),
    ...feed.flags.map(
      ({ flag, prices, example }) =>
        `    flagged ${counted(prices, 'price')}, kept and not used: ${isFlag(flag) ? PRICE_FLAGS[flag] : safeText(flag)}, e.g. ${safeText(example)}`,
    ),
    ...feed.notes.map((note) => `    ${safeText(note)}`),
  ];
}
