import type { FactRows, Haul, PullRequest, Skipped, Source } from '../../facts/source.ts';
import { activityOffer, activitySamples } from './aws/aws-activity.ts';
import type { ActivityOffer } from './aws/aws-activity.ts';
import { awsHealth } from './aws/aws-check.ts';
import { awsInventory } from './aws/aws-inventory.ts';
import type { AwsInventory } from './aws/aws-inventory.ts';
import { deviceIdOf, periodAt } from './aws/aws-metrics.ts';
import { openAws } from './aws/aws-reader.ts';
import type { AwsReader } from './aws/aws-reader.ts';
import { cursorOf, readCursor } from './cloud-cursor.ts';
import { wholeSecond } from './json-fields.ts';
import type { CloudVm } from './vm.ts';
import { compareLists, vmFacts } from './vm-lives.ts';
import type { VmMemory } from './vm-lives.ts';

const PRIORITY = 5;
const POLL_S = 300;
/** CloudWatch charges for each metric that is asked for, so it is asked four times an hour, not at every poll. */
const ACTIVITY_EVERY_S = 900;
/** The last minutes are still coming in. */
const ACTIVITY_LAG_S = 180;
const ACTIVITY_DAYS_KEPT = 15;
const DAY_MS = 86_400_000;

export interface AwsSourceOptions {
  readonly name: string;
  /** Undefined: every region the account has. */
  readonly regions?: readonly string[];
  readonly profile?: string;
  /** Something else that speaks like AWS, for tests. */
  readonly endpoint?: string;
  readonly cluster?: string;
  readonly pollS?: number;
}

/**
 * The GPU instances of an AWS account, by read-only credentials: what runs, since when, whose, and what CloudWatch knows of
 * their GPUs. Nothing but the actions of docs/sources/aws-policy.json is asked.
 */
export function awsSource(options: AwsSourceOptions): Source {
  const { name, regions, profile, endpoint, pollS = POLL_S } = options;
  const where = regions === undefined || regions.length === 0 ? 'every region' : regions.join(', ');
  const open = (): Promise<AwsReader> =>
    openAws({ ...(profile !== undefined && { profile }), ...(endpoint !== undefined && { endpoint }) });
  return {
    name,
    kind: 'aws',
    reads: `GPU instances and their CloudWatch metrics in ${where} of AWS${profile === undefined ? '' : `, profile ${profile}`}`,
    priority: PRIORITY,
    pollS,
    check: (signal) => awsHealth(open, regions, signal),
    async *pull(cursor, request) {
      const aws = await open();
      try {
        yield* pullAws(aws, { ...options, pollS }, cursor, request);
      } finally {
        aws.close();
      }
    },
  };
}

type PullOptions = AwsSourceOptions & { readonly pollS: number };

async function* pullAws(
  aws: AwsReader,
  options: PullOptions,
  cursor: unknown,
  request: PullRequest,
): AsyncGenerator<Haul> {
  const now = wholeSecond(request.now);
  const { memory, rest } = readCursor(cursor);
  const inventory = await awsInventory(aws, options.regions, request.signal, { progress: request.progress });
  const { read, notRead } = chosen(inventory.vms, request.gpusMax);
  const refused = new Set(inventory.unanswered.map(({ region }) => region));
  const change = compareLists(memory, read, now, ({ region }) => !refused.has(region ?? ''));
  const activity = readActivity(rest);
  yield {
    facts: vmFacts(change, { cluster: options.cluster ?? options.name, pollS: options.pollS }),
    skipped: skippedOf(inventory, change.vanished),
    gaps: inventory.unanswered.map(({ region, failure }) => ({
      from: lastSeen(memory, region) ?? now,
      until: now,
      reason: failure.message,
    })),
    cursor: cursorOf(change.memory, { activity }),
    coveredUntil: now,
    gpus: { seen: gpusIn(running(inventory.vms)), notRead },
  };
  yield* pullActivity(aws, change.memory, activity, read, request);
}

interface ActivityCursor {
  /** Samples are read up to here. */
  readonly until?: string;
  /** Machines whose GPUs were told one by one. */
  readonly measured: readonly string[];
}

function readActivity(rest: Readonly<Record<string, unknown>>): ActivityCursor {
  const given = rest['activity'];
  if (typeof given !== 'object' || given === null) return { measured: [] };
  const until = 'until' in given && typeof given.until === 'string' ? new Date(given.until) : undefined;
  const measured = 'measured' in given && Array.isArray(given.measured) ? given.measured : [];
  return {
    measured: measured.filter((id): id is string => typeof id === 'string'),
    ...(until !== undefined && !Number.isNaN(until.getTime()) && { until: until.toISOString() }),
  };
}

/** Samples in days: oldest first and kept, or, for a first look, newest first and thinned out, which the true ones replace. */
async function* pullActivity(
  aws: AwsReader,
  memory: VmMemory,
  before: ActivityCursor,
  vms: readonly CloudVm[],
  request: PullRequest,
): AsyncGenerator<Haul> {
  const { now, signal, lookStepS, since } = request;
  const isLook = lookStepS !== undefined;
  const until = new Date(Math.floor((now.getTime() / 1000 - ACTIVITY_LAG_S) / 60) * 60_000);
  const oldest = new Date(now.getTime() - ACTIVITY_DAYS_KEPT * DAY_MS);
  const from = before.until === undefined || isLook ? (since ?? oldest) : new Date(before.until);
  if (until.getTime() - from.getTime() < (before.until === undefined ? 60 : ACTIVITY_EVERY_S) * 1000) return;
  request.progress('asking CloudWatch which GPUs it knows');
  const offer = await activityOffer(aws, vms, signal);
  const listed = new Set(vms.map(({ id }) => id));
  const measured = new Set([
    ...before.measured.filter((id) => listed.has(id)),
    ...offer.regions.flatMap(({ series }) => series.map(({ vmId }) => vmId)),
  ]);
  let facts: readonly FactRows[] = [newDevices(vms, measured, before.measured)];
  let skipped = activitySkipped(offer, vms);
  const days = daysBetween(from, until);
  for (const [index, day] of (isLook ? days.toReversed() : days).entries()) {
    request.progress(`GPU activity of ${day.name}, ${index + 1} of ${days.length} days`);
    const periodS = periodAt(day.from, now, lookStepS ?? 60);
    const batch = `${isLook ? 'look/' : ''}samples/${day.name}`;
    const samples = await activitySamples(aws, offer.regions, { ...day, periodS, batch }, signal);
    // A first look leaves no mark: the true samples are still to be read.
    const reached = isLook ? before.until : day.until.toISOString();
    yield {
      facts,
      samples,
      skipped,
      cursor: cursorOf(memory, {
        activity: { measured: [...measured], ...(reached !== undefined && { until: reached }) },
      }),
      coveredUntil: day.until,
    };
    facts = [];
    skipped = [];
  }
}

/**
 * The GPUs of machines CloudWatch measures, one by one and under the names of its samples. Machines that nobody measures stay
 * known by their count, so that a better source can name their GPUs.
 */
function newDevices(vms: readonly CloudVm[], measured: ReadonlySet<string>, before: readonly string[]): FactRows {
  const fresh = vms.filter(({ id }) => measured.has(id) && !before.includes(id));
  return {
    table: 'device',
    batch: 'devices',
    mode: 'extend',
    rows: fresh.flatMap(({ id, from, gpus }) =>
      Array.from({ length: gpus.count }, (_, index) => ({
        device_id: deviceIdOf(id, index),
        node_id: id,
        present_from: from,
        model: gpus.model,
      })),
    ),
  };
}

function daysBetween(from: Date, until: Date): { name: string; from: Date; until: Date }[] {
  const days: { name: string; from: Date; until: Date }[] = [];
  for (let start = from.getTime(); start < until.getTime();) {
    const end = Math.min(until.getTime(), (Math.floor(start / DAY_MS) + 1) * DAY_MS);
    days.push({ name: new Date(start).toISOString().slice(0, 10), from: new Date(start), until: new Date(end) });
    start = end;
  }
  return days;
}

/** Machines, evenly chosen, with at most so many GPUs. */
function chosen(vms: readonly CloudVm[], gpusMax: number | undefined): { read: readonly CloudVm[]; notRead: number } {
  const total = gpusIn(running(vms));
  if (gpusMax === undefined || total <= gpusMax) return { read: vms, notRead: 0 };
  const sorted = vms.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  let passed = 0;
  const read = sorted.filter(({ gpus }) => {
    const before = Math.floor((passed * gpusMax) / total);
    passed += gpus.count;
    return Math.floor((passed * gpusMax) / total) - before >= gpus.count;
  });
  return { read, notRead: total - gpusIn(running(read)) };
}

function running(vms: readonly CloudVm[]): CloudVm[] {
  return vms.filter(({ until }) => until === undefined);
}

function gpusIn(vms: readonly CloudVm[]): number {
  return vms.reduce((sum, { gpus }) => sum + gpus.count, 0);
}

function lastSeen({ open }: VmMemory, region: string): Date | undefined {
  return open.find(({ vm }) => vm.region === region)?.seenAt;
}

function skippedOf({ skipped, unanswered, troubles }: AwsInventory, vanished: readonly CloudVm[]): Skipped[] {
  return [
    ...skipped,
    ...unanswered.map(({ region, failure }) => ({ reason: failure.message, count: 1, example: region })),
    ...troubles.map(({ region, failure }) => ({ reason: failure.message, count: 1, example: region })),
    ...(vanished.length === 0
      ? []
      : [
          {
            reason: 'gone without a word on when: taken to have ended when last seen',
            count: vanished.length,
            example: vanished[0]?.id ?? '',
          },
        ]),
  ];
}

function activitySkipped({ skipped, troubles }: ActivityOffer, vms: readonly CloudVm[]): Skipped[] {
  const unknown = troubles.map(({ message }) => ({
    reason: `${message}: GPU activity stays unknown`,
    count: gpusIn(running(vms)),
    example: running(vms)[0]?.id ?? '',
  }));
  return [...skipped, ...unknown];
}
