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
  { model: 'A100 80GB', usdPerGpuHour: '3.431', source: 'AWS p4de.24xlarge ÷ 8' },
  { model: 'A100-80GB', usdPerGpuHour: '3.431', source: 'AWS p4de.24xlarge ÷ 8' },
  { model: 'A100-SXM4-80GB', usdPerGpuHour: '3.431', source: 'AWS p4de.24xlarge ÷ 8' },
  { model: 'A10G', usdPerGpuHour: '1.006', source: 'AWS g5.xlarge' },
  { model: 'A40', usdPerGpuHour: '0.44', source: 'RunPod A40' },
  { model: 'A6000', usdPerGpuHour: '0.53', source: 'RunPod RTX A6000' },
  { model: 'B200', usdPerGpuHour: '14.242', source: 'AWS p6-b200.48xlarge ÷ 8' },
  { model: 'B300', usdPerGpuHour: '17.802', source: 'AWS p6-b300.48xlarge ÷ 8' },
  { model: 'Gaudi2', usdPerGpuHour: '1.10', source: 'Shadeform Gaudi 2' },
  { model: 'GH200', usdPerGpuHour: '2.29', source: 'Lambda gpu_1x_gh200' },
  { model: 'H100', usdPerGpuHour: '6.88', source: 'AWS p5.48xlarge ÷ 8' },
  { model: 'H200', usdPerGpuHour: '7.912', source: 'AWS p5en.48xlarge ÷ 8' },
  { model: 'Inferentia', usdPerGpuHour: '0.228', source: 'AWS inf1.xlarge' },
  { model: 'Inferentia2', usdPerGpuHour: '0.7582', source: 'AWS inf2.xlarge' },
  { model: 'K80', usdPerGpuHour: '0.90', source: 'Azure NC6' },
  { model: 'L4', usdPerGpuHour: '0.805', source: 'AWS g6.xlarge' },
  { model: 'L40', usdPerGpuHour: '0.82', source: 'RunPod L40' },
  { model: 'L40S', usdPerGpuHour: '1.861', source: 'AWS g6e.xlarge' },
  { model: 'M60', usdPerGpuHour: '1.14', source: 'Azure NV6' },
  { model: 'MI300X', usdPerGpuHour: '2.39', source: 'RunPod MI300X' },
  { model: 'P100', usdPerGpuHour: '1.46', source: 'GCP P100, GPU only' },
  { model: 'P4', usdPerGpuHour: '0.60', source: 'GCP P4, GPU only' },
  { model: 'RTX 3090', usdPerGpuHour: '0.50', source: 'RunPod RTX 3090' },
  { model: 'RTX 4090', usdPerGpuHour: '0.74', source: 'RunPod RTX 4090' },
  { model: 'RTX 5090', usdPerGpuHour: '0.99', source: 'RunPod RTX 5090' },
  { model: 'RTX 6000 Ada', usdPerGpuHour: '0.84', source: 'RunPod RTX 6000 Ada' },
  { model: 'RTX PRO 6000', usdPerGpuHour: '3.36312', source: 'AWS g7e.2xlarge' },
  { model: 'RTXA6000', usdPerGpuHour: '0.53', source: 'RunPod RTX A6000' },
  { model: 'T4', usdPerGpuHour: '0.526', source: 'AWS g4dn.xlarge' },
  { model: 'T4G', usdPerGpuHour: '0.42', source: 'AWS g5g.xlarge' },
  { model: 'TPU v2', usdPerGpuHour: '1.125', source: 'GCP v2-8 ÷ 4 chips' },
  { model: 'TPU v3', usdPerGpuHour: '2.00', source: 'GCP v3-8 ÷ 4 chips' },
  { model: 'TPU v4', usdPerGpuHour: '3.22', source: 'GCP v4-8 ÷ 4 chips' },
  { model: 'TPU v5e', usdPerGpuHour: '1.20', source: 'GCP v5litepod-8 ÷ 8' },
  { model: 'TPU v5p', usdPerGpuHour: '4.20', source: 'GCP v5p-8 ÷ 4 chips' },
  { model: 'TPU v6e', usdPerGpuHour: '2.70', source: 'GCP v6e-8 ÷ 8' },
  { model: 'Trainium', usdPerGpuHour: '1.34375', source: 'AWS trn1.2xlarge' },
  { model: 'V100', usdPerGpuHour: '3.06', source: 'Azure NC6s v3' },
];
