import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';
import { OperationError } from '../../../facts/operation-error.ts';
import type { CloudVm, VmSkipped } from '../vm.ts';
import { readInstances } from './aws-instances.ts';
import type { AwsReader } from './aws-reader.ts';

/** AWS counts requests by region, so that asking many regions at once is no burden on any. */
const REGIONS_AT_ONCE = 12;
/** Where nobody says where to begin: the region every account has. */
const HOME_REGION = 'us-east-1';

export interface RegionTrouble {
  readonly region: string;
  readonly failure: OperationError;
}

export interface AwsInventory {
  readonly regions: readonly string[];
  readonly vms: readonly CloudVm[];
  readonly skipped: readonly VmSkipped[];
  /** Regions whose machines are not known this time. */
  readonly unanswered: readonly RegionTrouble[];
  /** What could not be asked, though the machines are known. */
  readonly troubles: readonly RegionTrouble[];
}

/**
 * Question: which GPU machines are there, in every region?
 *
 * A region that refuses, or has not answered when `limitMs` is over, is told and the others go on. Only when no region answers at all is there nothing to say, and the
 * first refusal is thrown.
 */
export async function awsInventory(
  aws: AwsReader,
  wanted: readonly string[] | undefined,
  signal: AbortSignal,
  options: { readonly progress?: (line: string) => void; readonly limitMs?: number } = {},
): Promise<AwsInventory> {
  const { regions, troubles } = await regionsOf(aws, wanted, signal);
  const limit = AbortSignal.any([
    signal,
    ...(options.limitMs === undefined ? [] : [AbortSignal.timeout(options.limitMs)]),
  ]);
  const answers: (RegionAnswer | RegionTrouble)[] = [];
  const waiting = [...regions];
  const worker = async (): Promise<void> => {
    for (let region = waiting.shift(); region !== undefined; region = waiting.shift()) {
      answers.push(await regionAnswer(aws, region, limit, signal));
      options.progress?.(`${answers.length} of ${regions.length} regions`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(REGIONS_AT_ONCE, regions.length) }, worker));
  const given = answers.filter((answer): answer is RegionAnswer => 'vms' in answer);
  const unanswered = answers.filter((answer): answer is RegionTrouble => 'failure' in answer);
  const first = unanswered[0];
  if (given.length === 0 && first !== undefined) throw first.failure;
  return {
    regions,
    vms: given.flatMap(({ vms }) => vms),
    skipped: given.flatMap(({ skipped }) => skipped).filter(({ reason }) => reason !== 'no GPU'),
    unanswered,
    troubles: [...troubles, ...given.flatMap((answer) => answer.trouble ?? [])],
  };
}

interface RegionAnswer {
  readonly vms: readonly CloudVm[];
  readonly skipped: readonly VmSkipped[];
  readonly trouble?: RegionTrouble;
}

async function regionAnswer(
  aws: AwsReader,
  region: string,
  limit: AbortSignal,
  signal: AbortSignal,
): Promise<RegionAnswer | RegionTrouble> {
  try {
    const listed = await aws.instances(region, limit);
    const types = [...new Set(listed.flatMap(({ instance }) => instance.InstanceType ?? []))];
    const { infos, trouble } = await typesOf(aws, region, types, limit);
    const { vms, skipped } = readInstances(listed, infos, region);
    return { vms, skipped, ...(trouble !== undefined && { trouble }) };
  } catch (failure) {
    if (limit.aborted && !signal.aborted) return { region, failure: tooSlow(region) };
    return { region, failure: asTrouble(failure) };
  }
}

function tooSlow(region: string): OperationError {
  return new OperationError('slow', `${region} has not answered in time`, {
    hint: 'Name the regions you use: aws: {regions: [us-east-1]} in bursar.yaml.',
  });
}

/** Without AWS's word on its types the built-in table counts the GPUs. */
async function typesOf(
  aws: AwsReader,
  region: string,
  types: readonly string[],
  signal: AbortSignal,
): Promise<{ infos: ReadonlyMap<string, InstanceTypeInfo>; trouble?: RegionTrouble }> {
  try {
    const infos = await aws.instanceTypes(region, types, signal);
    return { infos: new Map(infos.flatMap((info) => (info.InstanceType ? [[info.InstanceType, info] as const] : []))) };
  } catch (failure) {
    return { infos: new Map(), trouble: { region, failure: asTrouble(failure) } };
  }
}

async function regionsOf(
  aws: AwsReader,
  wanted: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<{ regions: readonly string[]; troubles: readonly RegionTrouble[] }> {
  if (wanted !== undefined && wanted.length > 0) return { regions: [...new Set(wanted)], troubles: [] };
  const home = process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? HOME_REGION;
  try {
    const regions = await aws.regions(home, signal);
    return { regions: regions.length === 0 ? [home] : regions.sort(), troubles: [] };
  } catch (failure) {
    const trouble = asTrouble(failure);
    // Whoever may not list regions may still be allowed to read one.
    if (trouble.code !== 'denied') throw trouble;
    return { regions: [home], troubles: [{ region: home, failure: trouble }] };
  }
}

function asTrouble(failure: unknown): OperationError {
  if (failure instanceof OperationError) return failure;
  throw failure;
}
