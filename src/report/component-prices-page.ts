import { FITTED_COMPONENTS } from '../facts/component-price.ts';
import type { ComponentPrice } from '../facts/component-price.ts';
import { counted } from './figures.ts';
import { textTable } from './table.ts';

interface Machine {
  readonly gpus: number;
  readonly vcpu: number;
  readonly memoryGib: number;
}

interface Fit {
  readonly asOf: string | undefined;
  readonly offers: number;
  readonly providers: readonly string[];
  readonly models: readonly {
    readonly model: string;
    readonly prices: { readonly gpu: number; readonly vcpu: number; readonly memoryGib: number };
    readonly offers: number;
    readonly providers: readonly string[];
    readonly error: number;
    readonly errorLeftOut: number | undefined;
    readonly usual: Machine & { readonly gpuShare: number };
  }[];
  readonly splitChecks: readonly (Machine & {
    readonly provider: string;
    readonly instanceType: string;
    readonly model: string;
    readonly gpuShare: number;
    readonly gpuShareFitted: number;
  })[];
}

/** A fit is not known better than this. */
const DIGITS = 4;
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const usd = (price: number): string => `$${price.toPrecision(price < 0.1 ? 3 : DIGITS)}`;
const machineText = ({ gpus, vcpu, memoryGib }: Machine): string =>
  `${gpus} GPU, ${vcpu} vCPU, ${Math.round(memoryGib)} GiB`;

/** The share of a machine's price its GPUs have by stated prices of its parts. */
function shareBy(price: ComponentPrice, { gpus, vcpu, memoryGib }: Machine): number {
  const gpu = gpus * Number(price.usdPerGpuHour);
  return gpu / (gpu + vcpu * Number(price.usdPerVcpuHour) + memoryGib * Number(price.usdPerMemoryGibHour));
}

const inForce = (model: string): ComponentPrice | undefined => FITTED_COMPONENTS.find((price) => price.model === model);

/** What the parts of GPU machines cost by the lists of this folder, how well that is known, and what is in force. */
export function componentFitPage(fit: Fit, dataFlag = ''): string[] {
  if (fit.asOf === undefined || fit.models.length === 0) {
    return [
      'No price of a GPU machine to fit from.',
      `Next: bursar import prices FILE|DIR…${dataFlag}; docs/component-prices.md says which lists serve.`,
    ];
  }
  return [
    `Parts of GPU machines, each by itself, dollars an hour: fitted from ${counted(fit.offers, 'offer')} of ` +
      `${counted(fit.providers.length, 'provider')}, on demand, lists up to ${fit.asOf}.`,
    '',
    ...textTable(
      [
        { align: 'left', title: 'model' },
        { align: 'right', title: 'GPU' },
        { align: 'right', title: 'vCPU' },
        { align: 'right', title: 'GiB' },
        { align: 'right', title: 'offers' },
        { align: 'right', title: 'providers' },
        { align: 'right', title: 'error' },
        { align: 'right', title: 'left out' },
        { align: 'left', title: 'usual machine' },
        { align: 'right', title: "GPUs' share" },
        { align: 'right', title: 'in force' },
      ],
      fit.models.map(({ model, prices, offers, providers, error, errorLeftOut, usual }) => {
        const stated = inForce(model);
        return [
          model,
          usd(prices.gpu),
          usd(prices.vcpu),
          usd(prices.memoryGib),
          String(offers),
          String(providers.length),
          percent(error),
          errorLeftOut === undefined ? '–' : percent(errorLeftOut),
          machineText(usual),
          percent(usual.gpuShare),
          stated === undefined ? 'none' : percent(shareBy(stated, usual)),
        ];
      }),
    ),
    '',
    'error: half of the offers are predicted closer, each provider’s level of prices known; left out: the same by the others’ offers alone.',
    ...splitCheckLines(fit),
    `In force is the built-in fit${asOfInForce()}: bursar prices components. A fit of one's own is shown, not used.`,
  ];
}

function splitCheckLines({ splitChecks }: Fit): string[] {
  if (splitChecks.length === 0) return [];
  const off = splitChecks.map((check) => Math.abs(check.gpuShareFitted - check.gpuShare)).toSorted((a, b) => a - b);
  const middle = off[Math.floor((off.length - 1) / 2)] ?? 0;
  const providers = [...new Set(splitChecks.map(({ provider }) => provider))].join(', ');
  return [
    `Where GPUs and hosts are priced apart (${providers}), a fit that has not seen them is off by ${Math.round(middle * 100)} points ` +
      `of the machine in the median, by ${Math.round((off.at(-1) ?? 0) * 100)} at most (${counted(off.length, 'machine')}).`,
  ];
}

const asOfInForce = (): string => {
  const [first] = FITTED_COMPONENTS;
  return first === undefined ? '' : ` of ${first.asOf}`;
};

/** The same for programs: prices as decimal text, shares and errors as parts of one. */
export function componentFitJson(fit: Fit): unknown {
  const part = (value: number): number => Number(value.toFixed(4));
  return {
    asOf: fit.asOf ?? null,
    offers: fit.offers,
    providers: fit.providers,
    models: fit.models.map(({ model, prices, error, errorLeftOut, usual, ...rest }) => ({
      model,
      usdPerGpuHour: prices.gpu.toPrecision(DIGITS),
      usdPerVcpuHour: prices.vcpu.toPrecision(DIGITS),
      usdPerMemoryGibHour: prices.memoryGib.toPrecision(DIGITS),
      offers: rest.offers,
      providers: rest.providers,
      error: part(error),
      errorLeftOut: errorLeftOut === undefined ? null : part(errorLeftOut),
      usualMachine: { ...usual, gpuShare: part(usual.gpuShare) },
      inForce: inForce(model) ?? null,
    })),
    splitChecks: fit.splitChecks.map((check) => ({
      ...check,
      gpuShare: part(check.gpuShare),
      gpuShareFitted: part(check.gpuShareFitted),
    })),
  };
}

/** The component prices in force, by which a machine's money is split into GPU and host. */
export function componentPricesPage(prices: readonly ComponentPrice[] = FITTED_COMPONENTS): string[] {
  const sources = [...new Set(prices.map(({ asOf, source }) => `${source}, ${asOf}`))];
  return [
    `Parts of GPU machines, each by itself, dollars an hour; ${counted(prices.length, 'GPU model')}. A bill is split by their ratios.`,
    '',
    ...textTable(
      [
        { align: 'left', title: 'model' },
        { align: 'right', title: 'GPU' },
        { align: 'right', title: 'vCPU' },
        { align: 'right', title: 'GiB' },
      ],
      prices.map(({ model, usdPerGpuHour, usdPerVcpuHour, usdPerMemoryGibHour }) => [
        model,
        `$${usdPerGpuHour}`,
        `$${usdPerVcpuHour}`,
        `$${usdPerMemoryGibHour}`,
      ]),
    ),
    '',
    ...sources.map((source) => `Built in: ${source}; docs/component-prices.md says how.`),
    'A GPU that is not in the table keeps its machine’s whole price.',
  ];
}
