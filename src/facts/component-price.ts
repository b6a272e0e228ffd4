import { ACCELERATORS } from './accelerators.ts';

/** What the parts of a GPU machine cost, each by itself, as fitted from price lists. Decimal text, dollars an hour. */
export interface ComponentPrice {
  /** Matches a device whose model has these words in it, ignoring case, as list prices do: the longest match counts. */
  readonly model: string;
  readonly usdPerGpuHour: string;
  readonly usdPerVcpuHour: string;
  readonly usdPerMemoryGibHour: string;
  /** The version of the fit: the day of the price lists it was made from. */
  readonly asOf: string;
  readonly source: string;
}

/** The day of the price lists the rows below were fitted from. */
const FITTED_AS_OF = '2026-08-22';
const FITTED_FROM = 'fitted from the on-demand list prices of 24 providers';

/** Model, GPU, vCPU, GiB of memory; made by `npm run fit:components -- --write`, never by hand. */
const FIT_ROWS: readonly (readonly [string, string, string, string])[] = [
  ['A10', '1.032', '0.01528', '0.002211'],
  ['A100', '1.885', '0.01927', '0.002789'],
  ['A100-80GB', '2.146', '0.01874', '0.002713'],
  ['A100-80GB-PCIe', '1.952', '0.01825', '0.002641'],
  ['A10G', '0.7274', '0.02086', '0.003019'],
  ['A30', '0.4669', '0.01841', '0.002665'],
  ['A40', '0.6679', '0.01775', '0.002569'],
  ['B200', '8.799', '0.01891', '0.002737'],
  ['B300', '9.558', '0.01910', '0.002765'],
  ['GH200', '1.954', '0.01621', '0.002345'],
  ['Gaudi2', '1.137', '0.01820', '0.002634'],
  ['H100', '4.269', '0.01491', '0.002157'],
  ['H100-NVL', '4.612', '0.01900', '0.002750'],
  ['H100-PCIe', '2.935', '0.01869', '0.002705'],
  ['H200', '5.374', '0.01468', '0.002125'],
  ['Inferentia', '0.1200', '0.01728', '0.002500'],
  ['Inferentia2', '0.4866', '0.01916', '0.002774'],
  ['K80', '0.1092', '0.01890', '0.002735'],
  ['L4', '0.5889', '0.01744', '0.002523'],
  ['L40', '1.065', '0.01864', '0.002698'],
  ['L40S', '1.437', '0.02022', '0.002927'],
  ['MI300X', '2.843', '0.01849', '0.002676'],
  ['P100', '0.9556', '0.01791', '0.002592'],
  ['RTX-A6000', '0.7478', '0.01572', '0.002276'],
  ['RTX-PRO-6000', '2.042', '0.02877', '0.004165'],
  ['RTX4090', '0.8863', '0.01785', '0.002583'],
  ['RTX5090', '1.101', '0.01711', '0.002476'],
  ['RTX6000-Ada', '1.114', '0.01846', '0.002671'],
  ['T4', '0.2555', '0.02169', '0.003139'],
  ['Trainium', '0.7169', '0.01886', '0.002729'],
  ['V100', '1.680', '0.02000', '0.002894'],
  ['V100-32GB', '1.839', '0.01916', '0.002772'],
];

/** The built-in fit, one row for each accelerator by its id. */
export const FITTED_COMPONENTS: readonly ComponentPrice[] = FIT_ROWS.map(
  ([model, usdPerGpuHour, usdPerVcpuHour, usdPerMemoryGibHour]) => ({
    model,
    usdPerGpuHour,
    usdPerVcpuHour,
    usdPerMemoryGibHour,
    asOf: FITTED_AS_OF,
    source: FITTED_FROM,
  }),
);

/**
 * The component prices in force, under every name drivers and people have for the accelerator: `NVIDIA A100-SXM4-80GB` is an A100-80GB.
 * A GPU that is not in it keeps its machine's whole price.
 */
export const COMPONENT_PRICES: readonly ComponentPrice[] = FITTED_COMPONENTS.flatMap((price) => {
  const names = ACCELERATORS.find(({ id }) => id === price.model)?.names ?? [];
  return [...new Set([price.model, ...names])].map((model) => ({ ...price, model }));
});
