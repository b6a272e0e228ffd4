/** What the market asks for one accelerator, to tell a plausible price from a slip. */
export interface AcceleratorReference {
  readonly id: string;
  /** The median over providers of each one's median price on demand. */
  readonly medianUsdPerHour: string;
  readonly providers: number;
}

/**
 * Accelerators that at least three clouds of the SkyPilot catalogs of 2026-08-22 listed on demand, instances and bare accelerators alike. Built in, and
 * not computed from what was imported: the same file must be judged the same, whatever came before it.
 */
export const ACCELERATOR_REFERENCES: readonly AcceleratorReference[] = [
  { id: 'A10', medianUsdPerHour: '1.29', providers: 4 },
  { id: 'A100', medianUsdPerHour: '1.99', providers: 11 },
  { id: 'A100-80GB', medianUsdPerHour: '2.79', providers: 12 },
  { id: 'B200', medianUsdPerHour: '6.89', providers: 7 },
  { id: 'B300', medianUsdPerHour: '7.89', providers: 3 },
  { id: 'H100', medianUsdPerHour: '2.99', providers: 20 },
  { id: 'H200', medianUsdPerHour: '4.00', providers: 12 },
  { id: 'L4', medianUsdPerHour: '0.617', providers: 5 },
  { id: 'L40', medianUsdPerHour: '1.00', providers: 4 },
  { id: 'L40S', medianUsdPerHour: '1.046', providers: 9 },
  { id: 'P100', medianUsdPerHour: '1.275', providers: 3 },
  { id: 'RTX-A6000', medianUsdPerHour: '0.53', providers: 7 },
  { id: 'RTX-PRO-6000', medianUsdPerHour: '1.35', providers: 8 },
  { id: 'RTX4090', medianUsdPerHour: '0.60', providers: 3 },
  { id: 'RTX5090', medianUsdPerHour: '0.65', providers: 4 },
  { id: 'RTX6000-Ada', medianUsdPerHour: '0.826', providers: 4 },
  { id: 'T4', medianUsdPerHour: '0.902', providers: 3 },
  { id: 'V100', medianUsdPerHour: '2.29', providers: 10 },
  { id: 'V100-32GB', medianUsdPerHour: '2.30', providers: 6 },
];
