import { csvLine, timeText } from './csv.ts';
import type { Attempt, Device, Job, Node, OrganisationDay } from './organisation.ts';
import type { Pool } from './world/world-schema.ts';

const NODE_COLUMNS =
  'node_id,present_from,present_until,resource_id,provider,billing_account,region,instance_type,purchase,cluster,gpu_count,vcpu,memory_bytes,state,model,tags';
const DEVICE_COLUMNS =
  'device_id,present_from,present_until,parent_device_id,node_id,kind,model,mig_profile,share_units';
const ALLOCATION_COLUMNS =
  'source,allocation_id,attempt,node_id,slot,held_from,held_until,observed_at,device_id,gpu_count,isolation,cpu_millis,cluster,namespace,account,user_name,workload_kind,workload_name,labels,submitted_at,outcome';

const WAITING_COLUMNS =
  'source,allocation_id,submitted_at,observed_at,gpu_count,model,held_back_by,cluster,namespace,account,user_name,workload_kind,workload_name,labels';

export const FACT_HEADERS = {
  nodes: `${NODE_COLUMNS}\n`,
  devices: `${DEVICE_COLUMNS}\n`,
  allocations: `${ALLOCATION_COLUMNS}\n`,
  waiting: `${WAITING_COLUMNS}\n`,
};

/** As usual in machines for training; a machine's money is split by the size of its host. */
const MEMORY_BYTES_PER_VCPU = 8_589_934_592;

/** The machines that appear on this day, each with all the states it will have: a row for each. */
export function* nodeLines(day: OrganisationDay): Generator<string> {
  const { providers } = day.world;
  for (const node of appearing(day)) {
    const { pool } = node;
    const provider = providers.find(({ name }) => name === pool.provider);
    for (const { from, until, state } of node.states) {
      if (from >= day.scope.until) break;
      const isLast = until >= node.presentUntil;
      yield csvLine([
        node.id,
        timeText(from),
        isLast ? endText(day, until) : undefined,
        node.resourceId,
        provider?.name,
        provider?.account,
        pool.region,
        pool.instance_type,
        pool.purchase,
        pool.cluster,
        pool.gpus_per_node,
        pool.gpus_per_node * pool.cpus_per_gpu,
        pool.gpus_per_node * pool.cpus_per_gpu * MEMORY_BYTES_PER_VCPU,
        state,
        day.world.gpus[pool.gpu]?.model,
        tagsOf(day, node),
      ]);
    }
  }
}

/** A machine of somebody's own carries their name where they were asked for it: nobody else keeps a list of who is on it. */
function tagsOf(day: OrganisationDay, node: Node): string | undefined {
  const owner = node.pool.scheduler === 'none' ? ownerOf(day, node) : undefined;
  const tags = { ...node.pool.tags, ...(owner?.tagged && { team: owner.team.name, user: owner.user }) };
  return Object.keys(tags).length === 0 ? undefined : JSON.stringify(tags);
}

function ownerOf(day: OrganisationDay, node: Node): Job | undefined {
  return node.devices.flatMap((device) => day.onDevice.get(device) ?? [])[0]?.attempt.job;
}

export function* deviceLines(day: OrganisationDay): Generator<string> {
  for (const node of appearing(day)) {
    for (const device of node.devices) {
      yield csvLine([
        device.id,
        timeText(node.presentFrom),
        endText(day, node.presentUntil),
        device.parent?.id,
        node.id,
        device.parent === undefined ? 'gpu' : 'mig',
        device.gpu.model,
        device.migProfile,
        device.shareUnits,
      ]);
    }
  }
}

/** Who holds what, as the scheduler tells it: a row for each device of the attempts that begin on this day. */
export function* allocationLines(day: OrganisationDay): Generator<string> {
  for (const attempt of day.begun) {
    if (attempt.job.pool.scheduler === 'none') continue;
    const devices = attempt.groups.flatMap((group) => group.devices);
    const slotOnNode = new Map<Node, number>();
    for (const device of devices.toSorted(byPlace)) {
      const slot = slotOnNode.get(device.node) ?? 0;
      slotOnNode.set(device.node, slot + 1);
      yield allocationLine(day, attempt, device, slot);
    }
  }
}

function allocationLine(day: OrganisationDay, attempt: Attempt, device: Device, slot: number): string {
  const { job } = attempt;
  const { pool } = job;
  const isOver = attempt.until <= day.scope.until;
  return csvLine([
    pool.scheduler,
    job.id,
    attempt.number,
    device.node.id,
    slot,
    timeText(attempt.from),
    isOver ? timeText(attempt.until) : undefined,
    // The list is drawn up when the window ends, and says so: a fleet whose sensors are silent by then does not end earlier.
    timeText(day.scope.until),
    device.id,
    1,
    device.parent !== undefined ? 'mig' : pool.sharing === 'time-slice' ? 'time-slice' : 'whole',
    Math.round(attempt.cpusPerGpu * 1000),
    pool.cluster,
    namespaceOf(job),
    accountOf(job),
    job.user,
    workloadKind(job),
    job.name,
    labels(job),
    attempt.askedAt === undefined ? undefined : timeText(attempt.askedAt),
    isOver ? attempt.outcome : 'running',
  ]);
}

/** Who waits, as the scheduler tells it when the window ends: of the days before, what began later has its own time of asking. */
export function* waitingLines({ world, scope, until, waiting }: OrganisationDay): Generator<string> {
  if (until < scope.until) return;
  const served = new Set<Pool>();
  for (const { job, askedAt } of waiting) {
    const { pool } = job;
    if (pool.scheduler === 'none') continue;
    const isNext = !served.has(pool);
    served.add(pool);
    yield csvLine([
      pool.scheduler,
      job.id,
      timeText(askedAt),
      timeText(scope.until),
      job.gpus,
      world.gpus[pool.gpu]?.model,
      // Slurm says of the first that it waits for machines and of the others that they wait for the first.
      pool.scheduler === 'kubernetes' ? 'Unschedulable' : isNext ? 'Resources' : 'Priority',
      pool.cluster,
      namespaceOf(job),
      accountOf(job),
      job.user,
      workloadKind(job),
      job.name,
      labels(job),
    ]);
  }
}

function namespaceOf({ pool, tagged, team }: Job): string | undefined {
  return pool.scheduler === 'kubernetes' ? (tagged ? team.name : 'default') : undefined;
}

function accountOf({ pool, tagged, team }: Job): string | undefined {
  return pool.scheduler === 'slurm' && tagged ? team.name : undefined;
}

function workloadKind({ habit, pool }: Job): string {
  switch (habit.kind) {
    case 'notebook':
      return 'Notebook';
    case 'serving':
      return 'Deployment';
    case 'training':
      return pool.scheduler === 'kubernetes' && habit.class === 'training' ? 'PyTorchJob' : 'Job';
    case 'sweep':
    case 'box':
      return 'Job';
  }
}

/** Slurm knows no labels; its comment field carries the class where people were asked to fill it in. */
function labels({ habit, tagged, team, pool }: Job): string | undefined {
  if (!tagged) return undefined;
  const workClass = habit.kind === 'training' ? habit.class : habit.kind === 'sweep' ? 'training' : undefined;
  const pairs = {
    ...(pool.scheduler === 'kubernetes' && { team: team.name }),
    ...(workClass !== undefined && { class: workClass }),
  };
  return Object.keys(pairs).length === 0 ? undefined : JSON.stringify(pairs);
}

function appearing(day: OrganisationDay): Node[] {
  return day.nodes.filter(({ presentFrom }) => presentFrom >= day.from);
}

/** Nothing is said of the time after the window. */
function endText(day: OrganisationDay, until: number): string | undefined {
  return until > day.scope.until ? undefined : timeText(until);
}

function byPlace(a: Device, b: Device): number {
  if (a.node.id !== b.node.id) return a.node.id < b.node.id ? -1 : 1;
  return a.index - b.index;
}
