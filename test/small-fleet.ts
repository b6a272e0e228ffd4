import { csv } from './fleet-folder.ts';

const day = '2026-03-02';
const at = (hour: number): string => `${day}T${String(hour).padStart(2, '0')}:00:00Z`;

/** One row of samples every ten minutes of an hour. */
const hourOfSamples = (device: string, hour: number, enginePermille: number): string =>
  [0, 10, 20, 30, 40, 50]
    .map(
      (minute) =>
        `${device}|${day}T${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00Z|600|${enginePermille}`,
    )
    .join('\n');

const charge = (
  from: string,
  until: string,
  category: string,
  effective: string,
  billed: string,
  list: string,
  rest: string,
): string =>
  `AWS|111|2026-03-01T00:00:00Z|2026-04-01T00:00:00Z|${from}|${until}|${category}|USD|${effective}|${billed}|${list}|${rest}`;

/**
 * A fleet whose every figure can be worked out by hand. Two nodes of one SKU share a bill ($6.50 an hour, so $1.625 a GPU
 * and hour), one is owned at a rate, one has only a list price, one has no price at all.
 *
 * Of AWS's $28.45: job 101 $3.25 (one hour computing, one idle), job 102 $6.50 (nobody measured it), job 103 $6.50 (half of
 * two GPUs; known only in the hour in which both computed), nobody $9.75, stranded $1, beside the GPU $1.45.
 */
export const SMALL_FLEET: Readonly<Record<string, string>> = {
  nodes: csv(`
    node_id|present_from|present_until|resource_id|provider|billing_account|region   |purchase |cluster|gpu_count|model|tags
    a1     |${at(8)}    |${at(12)}    |i-A1       |AWS     |111            |us-east-1|on-demand|a      |2        |H100 |{"team": "platform"}
    a2     |${at(8)}    |${at(12)}    |i-a2       |AWS     |111            |us-east-1|committed|a      |2        |H100 |
    own1   |${at(8)}    |${at(10)}    |           |        |               |         |owned    |b      |1        |A100 |
    new1   |${at(8)}    |${at(10)}    |           |        |               |         |         |c      |1        |L4   |
    odd1   |${at(8)}    |${at(10)}    |           |        |               |         |         |c      |1        |Zorg |`),
  devices: csv(`
    device_id|node_id|model
    a1-0|a1|H100
    a1-1|a1|H100
    a2-0|a2|H100
    a2-1|a2|H100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|namespace|user_name|workload_kind|workload_name|labels
    slurm |101|a1  |a1-0|${at(8)}|${at(10)}|1|a|nlp|     |mchen |Job       |train-7b|{"class": "training"}
    kube  |102|a1  |a1-1|${at(8)}|${at(12)}|1|a|   |asr  |kim   |Deployment|=serve  |
    slurm |103|a2  |    |${at(8)}|${at(12)}|1|a|nlp|     |apatel|Job       |eval    |{"class": "training"}
    slurm |201|own1|    |${at(8)}|${at(10)}|1|b|vision|  |lopez |Job       |render  |`),
  samples: csv(`
    device_id|ts|step_s|engine_permille
    ${hourOfSamples('a1-0', 8, 855)}
    ${hourOfSamples('a1-0', 9, 0)}
    ${hourOfSamples('a2-0', 8, 475)}
    ${hourOfSamples('a2-0', 9, 475)}
    ${hourOfSamples('a2-1', 8, 475)}
    ${hourOfSamples('a2-1', 9, 0)}`),
  rates: csv(`
    model|usd_per_gpu_hour
    A100|2.00`),
  charges: csv(`
    ProviderName|BillingAccountId|BillingPeriodStart|BillingPeriodEnd|ChargePeriodStart|ChargePeriodEnd|ChargeCategory|BillingCurrency|EffectiveCost|BilledCost|ListCost|ServiceCategory|ServiceName|SkuId|RegionId|ResourceId|PricingCategory|CommitmentDiscountId|CommitmentDiscountStatus
    ${[8, 9, 10, 11].map((hour) => charge(at(hour), at(hour + 1), 'Usage', '4.00', '4.00', '4.00', 'Compute|EC2|P5|us-east-1|arn:aws:ec2/i-a1|Standard||')).join('\n')}
    ${charge(at(8), at(12), 'Usage', '10.00', '0', '16.00', 'Compute|EC2|P5|us-east-1|i-a2|Committed|sp-1|Used')}
    ${charge(at(8), at(9), 'Usage', '1.00', '0', '', 'Compute|EC2|P5|us-east-1||Committed|sp-1|Unused')}
    ${charge(at(0), at(0), 'Purchase', '0', '24.5', '24.5', 'Compute|Savings Plans||us-east-1|sp-1|Committed|sp-1|')}
    ${charge(at(8), at(9), 'Usage', '0.50', '0.50', '0.50', 'Storage|S3|S3-STD|us-east-1|bucket-1|Standard||')}
    ${charge(at(8), at(9), 'Tax', '1.20', '1.20', '1.20', '||||||||').slice(0, -1)}
    ${charge(at(8), at(9), 'Credit', '-0.25', '-0.25', '-0.25', '||||||||').slice(0, -1)}`),
};

/** A bill in a currency nobody has given a rate for. */
export const EURO_BILL = csv(`
  ProviderName|BillingAccountId|BillingPeriodStart|BillingPeriodEnd|ChargePeriodStart|ChargePeriodEnd|ChargeCategory|BillingCurrency|EffectiveCost|BilledCost|ServiceCategory|ServiceName|ResourceId
  OVH|9|2026-03-01T00:00:00Z|2026-04-01T00:00:00Z|${at(8)}|${at(9)}|Usage|EUR|10.000000333333333333|10|Storage|Objects|b1
  OVH|9|2026-03-01T00:00:00Z|2026-04-01T00:00:00Z|${at(8)}|${at(9)}|Usage|EUR|-0.000000333333333333|0|Storage|Objects|b2`);
