/** What the parts of a GPU machine cost, each by itself, as fitted from price lists. Decimal text, dollars an hour. */
export interface ComponentPrice {
  /** The accelerator, by the name `LIST_PRICES` and the table of accelerators use. */
  readonly model: string;
  readonly usdPerGpuHour: string;
  readonly usdPerVcpuHour: string;
  readonly usdPerMemoryGibHour: string;
  /** The version of the fit: the day of the price lists it was made from. */
  readonly asOf: string;
  readonly source: string;
}

/** The built-in fit; a GPU that is not in it keeps its machine's whole price. */
export const COMPONENT_PRICES: readonly ComponentPrice[] = [];
