/**
 * Machine types and their GPUs, as the clouds document them: one line a model, `type×count`, no count is one, and `×1/6` a
 * part of a GPU. Facts, not prices; AWS itself is asked first where it may be. SkyPilot's catalog of 2026-08-22 was compared:
 * it gives ND96isr_H100_v5 12 GPUs, Azure gives it 8.
 */
export const AWS_TYPES = `
  K520: g2.2xlarge, g2.8xlarge×4
  K80: p2.xlarge, p2.8xlarge×8, p2.16xlarge×16
  M60: g3s.xlarge, g3.4xlarge, g3.8xlarge×2, g3.16xlarge×4
  V100: p3.2xlarge, p3.8xlarge×4, p3.16xlarge×8
  V100-32GB: p3dn.24xlarge×8
  A100: p4d.24xlarge×8
  A100-80GB: p4de.24xlarge×8
  H100: p5.4xlarge, p5.48xlarge×8
  H200: p5e.48xlarge×8, p5en.48xlarge×8
  B200: p6-b200.48xlarge×8
  B300: p6-b300.48xlarge×8
  GB200: p6e-gb200.36xlarge×4
  Radeon Pro V520: g4ad.xlarge, g4ad.2xlarge, g4ad.4xlarge, g4ad.8xlarge×2, g4ad.16xlarge×4
  T4: g4dn.xlarge, g4dn.2xlarge, g4dn.4xlarge, g4dn.8xlarge, g4dn.12xlarge×4, g4dn.16xlarge, g4dn.metal×8
  T4G: g5g.xlarge, g5g.2xlarge, g5g.4xlarge, g5g.8xlarge, g5g.16xlarge×2, g5g.metal×2
  A10G: g5.xlarge, g5.2xlarge, g5.4xlarge, g5.8xlarge, g5.12xlarge×4, g5.16xlarge, g5.24xlarge×4, g5.48xlarge×8
  L4: g6.xlarge, g6.2xlarge, g6.4xlarge, g6.8xlarge, g6.12xlarge×4, g6.16xlarge, g6.24xlarge×4, g6.48xlarge×8
  L4: gr6.4xlarge, gr6.8xlarge, g6f.large×1/8, g6f.xlarge×1/8, g6f.2xlarge×1/4, g6f.4xlarge×1/2, gr6f.4xlarge×1/2
  L40S: g6e.xlarge, g6e.2xlarge, g6e.4xlarge, g6e.8xlarge, g6e.12xlarge×4, g6e.16xlarge, g6e.24xlarge×4, g6e.48xlarge×8
  RTX PRO 4500: g7.2xlarge, g7.4xlarge, g7.8xlarge, g7.12xlarge×2, g7.24xlarge×4, g7.48xlarge×8
  RTX PRO 6000: g7e.2xlarge, g7e.4xlarge, g7e.8xlarge, g7e.12xlarge×2, g7e.24xlarge×4, g7e.48xlarge×8
  Inferentia: inf1.xlarge, inf1.2xlarge, inf1.6xlarge×4, inf1.24xlarge×16
  Inferentia2: inf2.xlarge, inf2.8xlarge, inf2.24xlarge×6, inf2.48xlarge×12
  Trainium: trn1.2xlarge, trn1.32xlarge×16, trn1n.32xlarge×16
  Trainium2: trn2.3xlarge, trn2.48xlarge×16, trn2u.48xlarge×16
  Gaudi: dl1.24xlarge×8
  Qualcomm AI100: dl2q.24xlarge×8`;

export const GCP_MACHINE_TYPES = `
  A100: a2-highgpu-1g, a2-highgpu-2g×2, a2-highgpu-4g×4, a2-highgpu-8g×8, a2-megagpu-16g×16
  A100-80GB: a2-ultragpu-1g, a2-ultragpu-2g×2, a2-ultragpu-4g×4, a2-ultragpu-8g×8
  H100: a3-highgpu-1g, a3-highgpu-2g×2, a3-highgpu-4g×4, a3-highgpu-8g×8, a3-edgegpu-8g×8, a3-megagpu-8g×8
  H200: a3-ultragpu-8g×8
  B200: a4-highgpu-8g×8
  GB200: a4x-highgpu-4g×4
  GB300: a4x-maxgpu-4g-metal×4
  L4: g2-standard-4, g2-standard-8, g2-standard-12, g2-standard-16, g2-standard-24×2, g2-standard-32, g2-standard-48×4, g2-standard-96×8
  RTX PRO 6000: g4-standard-6×1/8, g4-standard-12×1/4, g4-standard-24×1/2, g4-standard-48, g4-standard-96×2, g4-standard-192×4, g4-standard-384×8`;

export const GCP_ACCELERATORS = `
  nvidia-tesla-k80 K80
  nvidia-tesla-p4 P4
  nvidia-tesla-p100 P100
  nvidia-tesla-v100 V100
  nvidia-tesla-t4 T4
  nvidia-tesla-a100 A100
  nvidia-a100-80gb A100-80GB
  nvidia-l4 L4
  nvidia-h100-80gb H100
  nvidia-h100-mega-80gb H100
  nvidia-h200-141gb H200
  nvidia-b200 B200
  nvidia-gb200 GB200
  nvidia-gb300 GB300
  nvidia-rtx-pro-6000 RTX PRO 6000`;

export const AZURE_SIZES = `
  K80: NC6, NC12×2, NC24×4, NC24r×4
  P100: NC6s_v2, NC12s_v2×2, NC24s_v2×4, NC24rs_v2×4
  P40: ND6s, ND12s×2, ND24s×4, ND24rs×4
  V100: NC6s_v3, NC12s_v3×2, NC24s_v3×4, NC24rs_v3×4
  V100-32GB: ND40rs_v2×8
  T4: NC4as_T4_v3, NC8as_T4_v3, NC16as_T4_v3, NC64as_T4_v3×4
  A100-80GB: NC24ads_A100_v4, NC48ads_A100_v4×2, NC96ads_A100_v4×4, ND96amsr_A100_v4×8
  A100: ND96asr_v4×8, ND96asr_A100_v4×8
  H100: NC40ads_H100_v5, NC80adis_H100_v5×2, NCC40ads_H100_v5, ND96isr_H100_v5×8
  H200: ND96isr_H200_v5×8
  MI300X: ND96isr_MI300X_v5×8, ND96is_MI300X_v5×8
  GB200: ND128isr_NDR_GB200_v6×4
  GB300: ND128isr_GB300_v6×4
  A10: NV6ads_A10_v5×1/6, NV12ads_A10_v5×1/3, NV18ads_A10_v5×1/2, NV36ads_A10_v5, NV36adms_A10_v5, NV72ads_A10_v5×2
  M60: NV6, NV12×2, NV24×4, NV12s_v3, NV24s_v3×2, NV48s_v3×4
  Radeon MI25: NV4as_v4×1/8, NV8as_v4×1/4, NV16as_v4×1/2, NV32as_v4
  Radeon V620: NG8ads_V620_v1×1/4, NG16ads_V620_v1×1/2, NG32ads_V620_v1, NG32adms_V620_v1`;
