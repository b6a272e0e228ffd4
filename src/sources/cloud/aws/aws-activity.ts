import type { Metric } from '@aws-sdk/client-cloudwatch';
import { OperationError } from '../../../facts/operation-error.ts';
import type { SampleBlock } from '../../../facts/source.ts';
import type { CloudVm, VmSkipped } from '../vm.ts';
import { isOfCluster } from './aws-instances.ts';
import { AGENT_METRICS, gpuSeries, metricQueries, samplesOf } from './aws-metrics.ts';
import type { GpuSeries } from './aws-metrics.ts';
import type { AwsReader } from './aws-reader.ts';

const QUERIES_PER_REQUEST = 500;

export interface RegionSeries {
  readonly region: string;
  readonly series: readonly GpuSeries[];
}

export interface ActivityOffer {
  readonly regions: readonly RegionSeries[];
  readonly skipped: readonly VmSkipped[];
  readonly troubles: readonly OperationError[];
}

/** Question: of which GPUs does CloudWatch know the activity? Machines of a cluster are left to what watches the cluster. */
export async function activityOffer(
  aws: AwsReader,
  vms: readonly CloudVm[],
  signal: AbortSignal,
): Promise<ActivityOffer> {
  const plain = vms.filter((vm) => !isOfCluster(vm));
  const names = [...new Set(plain.flatMap((vm) => vm.region ?? []))];
  const offers = await Promise.all(
    names.map((region) =>
      regionOffer(
        aws,
        region,
        plain.filter((vm) => vm.region === region),
        signal,
      ),
    ),
  );
  return {
    regions: offers.flatMap(({ regions }) => regions),
    skipped: offers.flatMap(({ skipped }) => skipped),
    troubles: offers.flatMap(({ troubles }) => troubles),
  };
}

async function regionOffer(
  aws: AwsReader,
  region: string,
  vms: readonly CloudVm[],
  signal: AbortSignal,
): Promise<ActivityOffer> {
  try {
    const metrics: Metric[] = [];
    for (const name of Object.keys(AGENT_METRICS)) metrics.push(...(await aws.metrics(region, name, signal)));
    const { series, skipped } = gpuSeries(metrics, vms);
    return { regions: series.length === 0 ? [] : [{ region, series }], skipped, troubles: [] };
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    return { regions: [], skipped: [], troubles: [failure] };
  }
}

/** The samples of a stretch of time, one block a region and request. */
export async function activitySamples(
  aws: AwsReader,
  offered: readonly RegionSeries[],
  span: { readonly from: Date; readonly until: Date; readonly periodS: number; readonly batch: string },
  signal: AbortSignal,
): Promise<SampleBlock[]> {
  const { from, until, periodS, batch } = span;
  const blocks: SampleBlock[] = [];
  for (const { region, series } of offered) {
    for (let start = 0; start < series.length; start += QUERIES_PER_REQUEST) {
      const asked = series.slice(start, start + QUERIES_PER_REQUEST);
      const results = await aws.metricData(region, metricQueries(asked, periodS), from, until, signal);
      const block = samplesOf(asked, results, batch, periodS);
      if (block.rows > 0) blocks.push(block);
    }
  }
  return blocks;
}
