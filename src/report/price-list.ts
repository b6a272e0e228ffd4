import { PRICE_FLAGS } from '../facts/price.ts';
import { counted } from './figures.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';

interface Offer {
  readonly provider: string;
  readonly region: string;
  readonly zones: bigint;
  readonly instanceType: string;
  readonly accelerator: string;
  readonly acceleratorCount: string;
  readonly purchase: string;
  readonly covers: string;
  readonly usdNanosPerHour: bigint;
  readonly usdNanosPerAcceleratorHour: bigint | null;
  readonly asOf: string;
  readonly source: string;
  readonly ageSeconds: bigint;
  readonly flag: string | null;
}

interface Listed {
  readonly at: Date;
  readonly offers: readonly Offer[];
  readonly offersFound: number;
  readonly flagged: readonly Offer[];
  readonly flaggedFound: number;
  readonly builtIn: readonly {
    readonly model: string;
    readonly usdPerGpuHour: string;
    readonly source: string;
    readonly asOf: string;
  }[];
}

const NANOS_PER_USD = 1_000_000_000n;
const NAME_WIDTH = 34;
const FLAGGED_SHOWN = 5;
const DAY_S = 86_400n;

const isFlag = (flag: string): flag is keyof typeof PRICE_FLAGS => flag in PRICE_FLAGS;

/** `$6.88`, and to four decimals what is below a dollar. */
export function priceText(nanos: bigint | null): string {
  if (nanos === null) return '';
  const sign = nanos < 0n ? '−' : '';
  const size = nanos < 0n ? -nanos : nanos;
  const decimals = size < NANOS_PER_USD ? 4 : 2;
  const step = 10n ** BigInt(9 - decimals);
  const rounded = (size + step / 2n) / step;
  const whole = rounded / 10n ** BigInt(decimals);
  const fraction = String(rounded % 10n ** BigInt(decimals)).padStart(decimals, '0');
  return `${sign}$${whole.toLocaleString('en-US')}.${fraction}`;
}

/** Prices, cheapest first, each with source and date; those that are not believed stand apart. */
export function priceListPage(list: Listed, dataFlag = ''): string[] {
  const at = `${list.at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const builtIn = list.builtIn.map(
    ({ model, usdPerGpuHour, source, asOf }) =>
      `Built-in list price of ${model}: $${usdPerGpuHour} a GPU-hour (${source}, ${asOf}); used where no list and no rate speaks.`,
  );
  if (list.offersFound + list.flaggedFound === 0) {
    return [`No price known at ${at}.`, ...builtIn, `Bring some in: bursar import prices FILE|DIR${dataFlag}`];
  }
  const more = list.offersFound - list.offers.length;
  return [
    `Prices known at ${at}, cheapest first: ${counted(list.offersFound, 'offer')}`,
    ...table(list.offers),
    ...(more > 0
      ? [`and ${more.toLocaleString('en-US')} more; --limit, --provider, --region or --purchase narrow it`]
      : []),
    ...flaggedLines(list),
    ...builtIn,
  ];
}

function table(offers: readonly Offer[]): string[] {
  return textTable(
    [
      { align: 'right', title: '$/GPU-h' },
      { align: 'right', title: '$/h' },
      { align: 'left', title: 'provider' },
      { align: 'left', title: 'region' },
      { align: 'left', title: 'machine' },
      { align: 'left', title: 'accelerators' },
      { align: 'left', title: 'purchase' },
      { align: 'left', title: 'as of' },
      { align: 'right', title: 'age' },
      { align: 'left', title: 'source' },
    ],
    offers.map((offer) => [
      priceText(offer.usdNanosPerAcceleratorHour),
      priceText(offer.usdNanosPerHour),
      safeText(offer.provider),
      shorten(safeText(offer.region), NAME_WIDTH),
      shorten(machineOf(offer), NAME_WIDTH),
      offer.accelerator === '' ? '' : `${offer.acceleratorCount}×${safeText(offer.accelerator)}`,
      offer.purchase,
      offer.asOf.slice(0, 10),
      ageText(offer.ageSeconds),
      shorten(safeText(offer.source), NAME_WIDTH),
    ]),
  );
}

function machineOf({ instanceType, covers }: Offer): string {
  if (covers === 'accelerator') return 'without a host';
  return covers === 'host' ? `${safeText(instanceType)} without accelerators` : safeText(instanceType);
}

function ageText(seconds: bigint): string {
  return seconds < DAY_S ? `${seconds / 3600n} h` : `${seconds / DAY_S} d`;
}

/** One line for each reason, with examples: there may be thousands. */
function flaggedLines({ flagged, flaggedFound }: Listed): string[] {
  if (flaggedFound === 0) return [];
  const lines = flagged
    .slice(0, FLAGGED_SHOWN)
    .map(
      (offer) =>
        `  ${priceText(offer.usdNanosPerHour)} ${[offer.provider, offer.region, machineOf(offer), offer.purchase].map((part) => safeText(part)).join(' ')}, ` +
        `${offer.asOf.slice(0, 10)}: ${offer.flag !== null && isFlag(offer.flag) ? PRICE_FLAGS[offer.flag] : ''}`,
    );
  return [
    `Kept and not used: ${counted(flaggedFound, 'price')}${flaggedFound > lines.length ? ', of which' : ''}`,
    ...lines,
    ...(flaggedFound > lines.length ? ['  --json has them with their reasons'] : []),
  ];
}
