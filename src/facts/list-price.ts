/** A reference price for estimates where there is neither bill nor rate. */
export interface ListPrice {
  /** Matches a device whose model has these words in it, ignoring case; the longest match counts, then the first in the alphabet. */
  readonly model: string;
  readonly usdPerGpuHour: string;
  readonly source: string;
}

/** The day the prices below were listed. */
export const LIST_PRICES_AS_OF = '2026-08-22';

/**
 * On-demand prices of one GPU with its part of the host, in the cheapest US region of the provider named. They serve
 * estimates only: one rate or one bill goes before them.
 */
export const LIST_PRICES: readonly ListPrice[] = [
  { model: 'A10', usdPerGpuHour: '3.20', source: 'Azure NV36ads A10 v5' },
  { model: 'A100', usdPerGpuHour: '2.745', source: 'AWS p4d.24xlarge ÷ 8' },
  { model: 'A100-SXM4-80GB', usdPerGpuHour: '3.431', source: 'AWS p4de.24xlarge ÷ 8' },
  { model: 'A100 80GB', usdPerGpuHour: '3.431', source: 'AWS p4de.24xlarge ÷ 8' },
  { model: 'A100-80GB', usdPerGpuHour: '3.431', source: 'AWS p4de.24xlarge ÷ 8' },
  { model: 'A10G', usdPerGpuHour: '1.006', source: 'AWS g5.xlarge' },
  { model: 'B200', usdPerGpuHour: '14.242', source: 'AWS p6-b200.48xlarge ÷ 8' },
  { model: 'B300', usdPerGpuHour: '17.802', source: 'AWS p6-b300.48xlarge ÷ 8' },
  { model: 'H100', usdPerGpuHour: '6.88', source: 'AWS p5.48xlarge ÷ 8' },
  { model: 'H200', usdPerGpuHour: '7.912', source: 'AWS p5en.48xlarge ÷ 8' },
  { model: 'L4', usdPerGpuHour: '0.805', source: 'AWS g6.xlarge' },
  { model: 'L40S', usdPerGpuHour: '1.861', source: 'AWS g6e.xlarge' },
  { model: 'MI300X', usdPerGpuHour: '2.39', source: 'RunPod MI300X' },
  { model: 'P100', usdPerGpuHour: '1.46', source: 'GCP P100, GPU only' },
  { model: 'T4', usdPerGpuHour: '0.526', source: 'AWS g4dn.xlarge' },
  { model: 'V100', usdPerGpuHour: '3.06', source: 'Azure NC6s v3' },
];
