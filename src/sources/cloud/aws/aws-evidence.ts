import type { MetricDataQuery, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import { OperationError } from '../../../facts/operation-error.ts';
import type { CloudVm } from '../vm.ts';
import type { AwsReader } from './aws-reader.ts';

const MACHINES_MAX = 5;
const WINDOW_MS = 24 * 3_600_000;
const PERIOD_S = 3600;
const METRICS = [
  { name: 'CPUUtilization', stat: 'Average' },
  { name: 'NetworkIn', stat: 'Sum' },
  { name: 'NetworkOut', stat: 'Sum' },
] as const;

export interface Evidence {
  readonly vm: CloudVm;
  /** `CPU 0.4 %, network 12 MB in 24 h`. */
  readonly says: string;
}

/**
 * What EC2 itself sees of machines whose GPUs nobody measures: processor and network of the last day, for a few of them.
 *
 * It is shown to people and enters no figure: a GPU may compute for hours while both are quiet.
 */
export async function evidenceOf(
  aws: AwsReader,
  vms: readonly CloudVm[],
  signal: AbortSignal,
  now: Date = new Date(),
): Promise<Evidence[]> {
  const seen: Evidence[] = [];
  for (const vm of vms.slice(0, MACHINES_MAX)) {
    try {
      const from = new Date(now.getTime() - WINDOW_MS);
      const results = await aws.metricData(vm.region ?? '', queriesFor(vm), from, now, signal);
      const says = inWords(results);
      if (says !== undefined) seen.push({ vm, says });
    } catch (failure) {
      // What may not be read is told by the check itself; evidence is only beside it.
      if (!(failure instanceof OperationError)) throw failure;
      return seen;
    }
  }
  return seen;
}

function queriesFor(vm: CloudVm): MetricDataQuery[] {
  return METRICS.map(({ name, stat }, index) => ({
    Id: `m${index}`,
    MetricStat: {
      Metric: { Namespace: 'AWS/EC2', MetricName: name, Dimensions: [{ Name: 'InstanceId', Value: vm.id }] },
      Period: PERIOD_S,
      Stat: stat,
    },
    ReturnData: true,
  }));
}

function inWords(results: readonly MetricDataResult[]): string | undefined {
  const valuesOf = (index: number): readonly number[] => results.find(({ Id: id }) => id === `m${index}`)?.Values ?? [];
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const cpu = valuesOf(0);
  const network = [...valuesOf(1), ...valuesOf(2)];
  if (cpu.length === 0) return undefined;
  const megabytes = network.length === 0 ? '' : `, network ${Math.round(sum(network) / 1e6)} MB`;
  return `CPU ${(sum(cpu) / cpu.length).toFixed(1)} %${megabytes} in 24 h`;
}
