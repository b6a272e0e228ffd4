import type { FactRows, Haul, PullRequest } from '../../facts/source.ts';
import type { GpuMetric } from '../gpu-metrics/metric-columns.ts';
import { cursorOf, startCursor } from './cursor.ts';
import { silenceGaps } from './kube-state/kube-reading.ts';
import { machineRows, type NodeRow } from './kube-state/node-rows.ts';
import type { PrometheusOptions } from './prometheus-options.ts';
import { beginMs, DAY_MS, dayName, pullContext, type PullContext } from './pull-context.ts';
import { countedNodes, dayWindow, habitsOf, readHolders, readNodes, unlistedCluster } from './read-holders.ts';
import { DevicePresence } from './samples/device-presence.ts';
import { machinesAfter, NO_MACHINES } from './samples/machines.ts';
import { readSpan } from './samples/read-span.ts';
import { bindingsOf, type SeenSeries } from './samples/series-devices.ts';

/** Without `since` a look goes back this far. */
const LOOK_MS = 7 * DAY_MS;
/** What tells idle from working; the rest can wait for the true samples. */
const LOOK_COLUMNS = new Set(['engine_permille', 'util_permille', 'fb_used_mib', 'power_w']);

/** What the days before have shown. */
interface Looked {
  readonly all: SeenSeries[];
  readonly nodes: Map<string, NodeRow>;
  readonly sliced: Set<string>;
  readonly told: Set<string>;
}

/** Promise: a first impression, thinned out, newest day first; whenever it is cut off, what it gave is whole days. */
export async function* pullLook(
  options: PrometheusOptions,
  pollS: number,
  given: unknown,
  request: PullRequest,
  stepS: number,
): AsyncGenerator<Haul, void, undefined> {
  request.progress('asking what it has');
  const nowMs = Math.floor(request.now.getTime() / 1000) * 1000;
  const since = request.since ?? new Date(nowMs - LOOK_MS);
  const fromMs = await beginMs(options, { ...request, since });
  const context = await pullContext(options, pollS, request, fromMs);
  // The true samples are read from the beginning afterwards, whatever a look has seen.
  const cursor = cursorOf(given) ?? startCursor(fromMs / 1000);
  const looked: Looked = { all: [], nodes: new Map(), sliced: new Set(), told: new Set() };
  for (let dayMs = Math.floor((nowMs - 1) / DAY_MS) * DAY_MS; dayMs + DAY_MS > fromMs; dayMs -= DAY_MS) {
    if (request.signal.aborted) return;
    const span = { fromMs: Math.max(dayMs, fromMs), untilMs: Math.min(dayMs + DAY_MS, nowMs) };
    if (span.untilMs <= span.fromMs) continue;
    request.progress(`a first look at ${dayName(dayMs)}`);
    yield await lookAtDay(context, span, stepS, looked, cursor);
  }
}

async function lookAtDay(
  context: PullContext,
  span: { readonly fromMs: number; readonly untilMs: number },
  stepS: number,
  { all, nodes, sliced, told }: Looked,
  cursor: unknown,
): Promise<Haul> {
  const window = await dayWindow(context, span.fromMs, span.untilMs);
  const read = await readSpan(context.api, {
    ...span,
    metrics: lookMetrics(context.discovery.metrics),
    matchers: context.gpuMatchers,
    habits: habitsOf(context),
    stepS: context.stepS,
    nowMs: context.nowMs,
    parallel: context.options.parallel ?? 2,
    thinS: stepS,
    signal: context.request.signal,
  });
  const seen = read.devices.seen();
  all.push(...seen);
  const { rows, replicas, ...kube } = await readNodes(context, window, new Set(all.map(({ nodeId }) => nodeId)));
  for (const nodeId of kube.sliced) sliced.add(nodeId);
  for (const row of rows) {
    const key = `${row.node_id} ${row.present_from.getTime()}`;
    // Days come newest first: what a later day said of the machine stays.
    if (!nodes.has(key)) nodes.set(key, row);
  }
  const presence = new DevicePresence();
  const fromS = span.fromMs / 1000;
  const stretch = { fromS, untilS: context.nowMs / 1000, heardS: kube.heardS ?? fromS };
  presence.list(machinesAfter(NO_MACHINES, machineRows([...nodes.values()], sliced), stretch));
  presence.see(all);
  presence.settle(context.nowMs / 1000);
  const listed = new Set([...nodes.values()].map((row) => row.node_id));
  const changes = presence.changes(stepS, unlistedCluster(context), listed);
  const counted = countedNodes(context, [...nodes.values()], presence.gpusBesideSlices());
  const facts: FactRows[] = [
    { table: 'node', batch: 'look/nodes', mode: 'replace', rows: [...counted, ...changes.nodes] },
    { table: 'device', batch: 'look/devices', mode: 'replace', rows: changes.devices },
    ...(await readHolders(context, window, { pollS: context.pollS, replicas, prefix: 'look/' })).map((each) =>
      notTold(each, told),
    ),
  ];
  return {
    facts,
    samples: [read.columns.block(`look/samples/${dayName(span.fromMs)}`, 'replace', stepS)],
    bindings: bindingsOf(seen),
    skipped: read.skipped,
    gaps: silenceGaps(window),
    cursor,
    coveredUntil: new Date(span.untilMs),
    gpus: context.gpus ?? { seen: new Set(all.map(({ deviceId }) => deviceId)).size, notRead: 0 },
  };
}

/** A pod of several days is told by the newest of them: it knows its end, and begins the same. */
function notTold(facts: FactRows, told: Set<string>): FactRows {
  if (facts.table !== 'allocation') return facts;
  const isNew = facts.rows.map((row) => {
    const key = JSON.stringify([row['allocation_id'], row['node_id'], row['slot'], row['held_from']]);
    const isFirst = !told.has(key);
    told.add(key);
    return isFirst;
  });
  return {
    ...facts,
    rows: facts.rows.filter((_, index) => isNew[index]),
    ...(facts.hints !== undefined && { hints: facts.hints.filter((_, index) => isNew[index]) }),
  };
}

function lookMetrics(metrics: readonly GpuMetric[]): readonly GpuMetric[] {
  const hasEngine = metrics.some(({ column }) => column === 'engine_permille');
  return metrics.filter(({ column }) => LOOK_COLUMNS.has(column) || (!hasEngine && column === 'sm_permille'));
}
