import { OperationError } from '../../../facts/operation-error.ts';
import type { Advice, SourceHealth } from '../../../facts/source.ts';
import type { CloudVm } from '../vm.ts';
import { activityOffer } from './aws-activity.ts';
import type { ActivityOffer } from './aws-activity.ts';
import { evidenceOf } from './aws-evidence.ts';
import { isOfCluster } from './aws-instances.ts';
import { awsInventory } from './aws-inventory.ts';
import type { AwsInventory } from './aws-inventory.ts';
import type { AwsReader } from './aws-reader.ts';

/** Whoever checks sources waits some ten seconds in all. */
const CHECK_LIMIT_MS = 5_000;

/** The section that makes the CloudWatch agent send what the GPUs do. */
const AGENT_SECTION =
  'CloudWatch agent: {"metrics": {"append_dimensions": {"InstanceId": "${aws:InstanceId}"}, "metrics_collected": ' +
  '{"nvidia_gpu": {"measurement": ["utilization_gpu", "memory_used", "power_draw"]}}}}; ' +
  'or without it: bursar watch on the machine';

/** Question: may we read AWS, what is there, and what would make answers better? Never throws for what AWS does wrong. */
export async function awsHealth(
  open: () => Promise<AwsReader>,
  regions: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<SourceHealth> {
  try {
    const aws = await open();
    try {
      const inventory = await awsInventory(aws, regions, signal, { limitMs: CHECK_LIMIT_MS });
      const offer = await activityOffer(aws, inventory.vms, signal);
      return await healthOf(aws, inventory, offer, signal);
    } finally {
      aws.close();
    }
  } catch (failure) {
    if (signal.aborted) {
      return {
        state: 'down',
        says: 'AWS did not answer in time',
        todo: 'Name fewer regions in bursar.yaml.',
        advice: [],
      };
    }
    if (!(failure instanceof OperationError)) throw failure;
    const { message, hint } = failure;
    return { state: 'down', says: message, advice: [], ...(hint !== undefined && { todo: hint }) };
  }
}

async function healthOf(
  aws: AwsReader,
  inventory: AwsInventory,
  offer: ActivityOffer,
  signal: AbortSignal,
): Promise<SourceHealth> {
  const running = inventory.vms.filter(({ until }) => until === undefined);
  const gpus = running.reduce((sum, vm) => sum + vm.gpus.count, 0);
  const measured = new Set(offer.regions.flatMap(({ series }) => series.map(({ vmId }) => vmId)));
  const silent = running.filter((vm) => !measured.has(vm.id) && !isOfCluster(vm));
  const answered = inventory.regions.length - inventory.unanswered.length;
  const troubles = [...inventory.unanswered, ...inventory.troubles].map(({ failure }) => failure);
  const first = [...troubles, ...offer.troubles][0];
  return {
    state: first === undefined ? 'ok' : 'partial',
    says:
      `${running.length} running GPU instances with ${gpus} GPUs in ${answered} of ${inventory.regions.length} regions; ` +
      `CloudWatch knows the GPUs of ${running.filter((vm) => measured.has(vm.id)).length}`,
    gpus,
    ...(first?.hint !== undefined && { todo: first.hint }),
    advice: [
      ...troubleAdvice([...troubles, ...offer.troubles]),
      ...(await silentAdvice(aws, silent, signal)),
      ...ownerAdvice(running),
      ...inventory.skipped
        .filter(({ reason }) => reason.includes('nobody here knows'))
        .map(({ reason, count, example }) => ({
          missing: `${count} machines left out: ${reason}, e.g. ${example}`,
          sharpens: 'counts them',
          todo: 'bursar import nodes FILE with node_id, gpu_count and model',
        })),
    ],
  };
}

/** A policy that lacks a line lacks it in every region: said once. */
function troubleAdvice(troubles: readonly OperationError[]): Advice[] {
  const kinds = new Map<string, OperationError[]>();
  for (const failure of troubles) {
    const kind = `${failure.code} ${failure.hint ?? ''}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), failure]);
  }
  return [...kinds.values()].map((alike) => {
    const message = alike[0]?.message ?? '';
    return {
      missing: alike.length === 1 ? message : `${message}; the same in ${alike.length - 1} more regions`,
      sharpens: message.startsWith('cloudwatch') ? 'tells computing from idle' : 'shows the machines there',
      todo: alike[0]?.hint ?? 'docs/sources/aws-policy.json has all that is needed',
    };
  });
}

/** CPU and network say nothing about a GPU: they stand here as a reason to look, and enter no figure. */
async function silentAdvice(aws: AwsReader, silent: readonly CloudVm[], signal: AbortSignal): Promise<Advice[]> {
  if (silent.length === 0) return [];
  const evidence = await evidenceOf(aws, silent, signal);
  const some = evidence.map(({ vm, says }) => `${vm.id} (${vm.gpus.count}×${vm.gpus.model}): ${says}`);
  const example = some.length === 0 ? `e.g. ${silent[0]?.id ?? ''}` : some.join('; ');
  return [
    {
      missing: `${silent.length} GPU instances without GPU metrics, so unknown, not idle: ${example}`,
      sharpens: 'tells computing from idle',
      todo: AGENT_SECTION,
    },
  ];
}

function ownerAdvice(running: readonly CloudVm[]): Advice[] {
  const guessed = running.filter(({ user }) => user === undefined || user.from.includes('assumed'));
  const first = guessed[0];
  if (first === undefined) return [];
  const taken = first.user === undefined ? 'nobody' : `${first.user.name}, by its ${first.user.from}`;
  return [
    {
      missing: `${guessed.length} of ${running.length} GPU instances have no owner tag, e.g. ${first.id}: ${taken}`,
      sharpens: 'says whose they are',
      todo: `aws ec2 create-tags --resources ${first.id} --tags Key=owner,Value=NAME Key=team,Value=TEAM`,
    },
  ];
}
