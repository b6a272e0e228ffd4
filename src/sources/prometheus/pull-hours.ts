import type { FactRow, FactRows, Haul, PullRequest } from '../../facts/source.ts';
import { cursorOf, startCursor, type Cursor } from './cursor.ts';
import { namesBetween } from './discover.ts';
import { silenceGaps } from './kube-state/kube-reading.ts';
import { machineRows, NO_NODES } from './kube-state/node-rows.ts';
import { beginMs, DAY_MS, dayName, HOUR_MS, hourName, pullContext, type PullContext } from './pull-context.ts';
import { countedNodes, dayWindow, habitsOf, readHolders, readNodes, unlistedCluster } from './read-holders.ts';
import { readWork } from './read-work.ts';
import { readSpan } from './samples/read-span.ts';
import { DevicePresence } from './samples/device-presence.ts';
import { keptMachines, machinesAfter, machinesOf, standing as standingOf } from './samples/machines.ts';
import { bindingsOf } from './samples/series-devices.ts';
import { shardsFor } from './samples/shards.ts';
import { silences, type Silence } from './samples/silence.ts';
import type { PrometheusOptions } from './prometheus-options.ts';

/** Samples that come later than this after their hour are not waited for. */
const LATE_MS = 15 * 60_000;
/** Of an hour that is not over, so much is read again: scrapes under way and clocks that differ a little. */
const OVERLAP_MS = 3 * 60_000;

/** A server spends at most one second in this many on our questions about pods. */
const PODS_SHARE = 20;

/** Where a pull stands between two hauls. */
interface Standing {
  cursor: Cursor;
  presence: DevicePresence;
  /** Machines kube-state-metrics lists on the day being read; the others are inferred from what is measured on them. */
  listed: ReadonlySet<string>;
  /** How far apart samples are, as the last hour that was read showed. */
  stepS: number;
}

/**
 * Promise: everything the server has, oldest first, an hour at a time; pods after each day.
 *
 * An hour is read when it is over, and once more a quarter of an hour later; the hour that is not over is read on at each pull. Each
 * haul writes the same batch again with the same facts when it is repeated.
 */
export async function* pullHours(
  options: PrometheusOptions,
  pollS: number,
  given: unknown,
  request: PullRequest,
): AsyncGenerator<Haul, void, undefined> {
  request.progress('asking what it has');
  const cursor = cursorOf(given) ?? startCursor((await beginMs(options, request)) / 1000);
  const context = await pullContext(options, pollS, request, Math.min(cursor.settledS, cursor.podsS) * 1000);
  const standing: Standing = {
    cursor,
    presence: new DevicePresence(cursor.devices),
    listed: standingOf(machinesOf(cursor.machines)),
    stepS: context.stepS,
  };
  standing.presence.list(machinesOf(cursor.machines));
  const firstDay = Math.floor(Math.min(cursor.settledS, cursor.podsS) / 86_400) * DAY_MS;
  for (let dayMs = firstDay; dayMs < context.nowMs; dayMs += DAY_MS) yield* pullDay(context, standing, dayMs);
}

async function* pullDay(
  context: PullContext,
  standing: Standing,
  dayMs: number,
): AsyncGenerator<Haul, void, undefined> {
  const fromMs = Math.max(dayMs, standing.cursor.beginS * 1000);
  const untilMs = Math.min(dayMs + DAY_MS, context.nowMs);
  if (untilMs <= fromMs) return;
  const begunMs = performance.now();
  const everyS = Math.max(context.pollS, PODS_SHARE * standing.cursor.podsTookS);
  const arePodsDue = podsAreDue(standing.cursor, dayMs, untilMs, everyS);
  const window = arePodsDue ? await dayWindow(context, fromMs, untilMs) : undefined;
  const {
    rows: nodes,
    replicas,
    sliced,
    heardS,
  } = window === undefined ? NO_NODES : await readNodes(context, window, standing.presence.nodeIds());
  if (nodes.length > 0) {
    const machines = machinesAfter(machinesOf(standing.cursor.machines), machineRows(nodes, sliced), {
      fromS: fromMs / 1000,
      untilS: untilMs / 1000,
      ...(heardS !== undefined && { heardS }),
    });
    standing.listed = new Set(nodes.map((row) => row.node_id));
    standing.presence.list(machines);
    standing.cursor = { ...standing.cursor, machines: keptMachines(machines) };
  }
  const nodesTookMs = performance.now() - begunMs;
  for (let hourMs = dayMs; hourMs < untilMs; hourMs += HOUR_MS) {
    if (context.request.signal.aborted) return;
    if (hourMs + HOUR_MS > standing.cursor.settledS * 1000) yield* pullHour(context, standing, hourMs);
  }
  if (window === undefined || context.request.signal.aborted) return;
  context.request.progress(`pods of ${dayName(fromMs)}`);
  const podsBegunMs = performance.now();
  const counted = countedNodes(context, nodes, standing.presence.gpusBesideSlices());
  const nodeFacts: FactRows[] =
    nodes.length === 0 ? [] : [{ table: 'node', batch: `nodes/${dayName(fromMs)}`, mode: 'replace', rows: counted }];
  const facts = [...nodeFacts, ...(await readHolders(context, window, { pollS: everyS, replicas }))];
  const isDone = context.nowMs >= dayMs + DAY_MS + LATE_MS;
  standing.cursor = {
    ...standing.cursor,
    ...(isDone && { podsS: (dayMs + DAY_MS) / 1000 }),
    podsAtS: Math.floor(untilMs / 1000),
    podsTookS: Math.round((nodesTookMs + performance.now() - podsBegunMs) / 1000),
  };
  yield { facts, gaps: silenceGaps(window), cursor: standing.cursor, coveredUntil: new Date(untilMs) };
}

/** Pods of a day that is not over are asked for at each poll, unless the server would do little else. */
function podsAreDue(cursor: Cursor, dayMs: number, untilMs: number, everyS: number): boolean {
  if (dayMs < cursor.podsS * 1000) return false;
  const wasReadToday = cursor.podsAtS * 1000 > dayMs;
  return untilMs % DAY_MS === 0 || !wasReadToday || untilMs / 1000 - cursor.podsAtS >= everyS - 1;
}

async function* pullHour(
  context: PullContext,
  standing: Standing,
  hourMs: number,
): AsyncGenerator<Haul, void, undefined> {
  const { api, nowMs, request, discovery } = context;
  const endMs = hourMs + HOUR_MS;
  const isOver = nowMs >= endMs;
  const isLateIn = nowMs >= endMs + LATE_MS;
  const wasOver = standing.cursor.fullS * 1000 >= endMs;
  if (isOver && wasOver && !isLateIn) return;
  const openMs = standing.cursor.openS * 1000;
  const goesOn = !isOver && openMs > hourMs && openMs <= nowMs;
  const fromMs = goesOn ? Math.max(hourMs, Math.floor((openMs - OVERLAP_MS) / 60_000) * 60_000) : hourMs;
  const names = await namesBetween(
    api,
    discovery.metrics.map(({ metric }) => metric),
    context.gpuMatchers,
    fromMs,
    endMs - 1,
    request.signal,
  );
  const metrics = discovery.metrics.filter(({ metric }) => names.has(metric));
  request.progress(`samples of ${hourName(hourMs).replace('T', ' ')}:00`);
  const shards = shardsFor(context.seriesMax, standing.stepS, discovery.deviceLabel);
  const marks = new Uint8Array((endMs - fromMs) / 1000);
  // Before the first sample ever there is no gap: the source had not begun.
  const hadBegun = standing.presence.nodeIds().size > 0;
  const gpus = { seen: 0 };
  for (const [index, shard] of shards.entries()) {
    const matchers = [context.gpuMatchers, shard.matcher].filter((each) => each !== undefined).join(', ') || undefined;
    const read = await readSpan(api, {
      fromMs,
      untilMs: endMs,
      metrics,
      matchers,
      habits: habitsOf(context),
      stepS: standing.stepS,
      nowMs,
      parallel: context.options.parallel ?? 2,
      signal: request.signal,
    });
    for (const [second, mark] of read.columns.marks().entries()) if (mark === 1) marks[second] = 1;
    gpus.seen += read.columns.deviceCount;
    const seen = read.devices.seen();
    standing.presence.see(seen);
    const isLast = index === shards.length - 1;
    const batch = `samples/${hourName(hourMs)}${shard.name === '' ? '' : `/${shard.name}`}`;
    const untilMs = Math.min(endMs, nowMs);
    if (isLast) {
      if (marks.includes(1)) standing.presence.settle(untilMs / 1000);
      standing.cursor = advanced(standing, hourMs, isOver, isLateIn, nowMs);
    }
    const block = read.columns.block(batch, goesOn ? 'extend' : 'replace', standing.stepS);
    if (block.rows > 0) standing.stepS = block.stepS ?? standing.stepS;
    const changes = standing.presence.changes(standing.stepS, unlistedCluster(context), standing.listed);
    const work = isLast ? await readWork(context, hourMs) : { facts: [], skipped: [] };
    yield {
      facts: [...presenceFacts(changes.devices, changes.nodes), ...work.facts],
      samples: [block],
      bindings: bindingsOf(seen),
      skipped: [...read.skipped, ...work.skipped],
      ...(isLast && { gaps: gapsOf(marks, hadBegun, fromMs, untilMs, standing.stepS) }),
      cursor: standing.cursor,
      coveredUntil: new Date(untilMs),
      ...(isLast && { gpus: context.gpus ?? { seen: gpus.seen, notRead: 0 } }),
    };
  }
}

function gapsOf(marks: Uint8Array, hadBegun: boolean, fromMs: number, untilMs: number, stepS: number): Silence[] {
  const holes = silences(marks.subarray(0, Math.floor((untilMs - fromMs) / 1000)), fromMs, stepS);
  return hadBegun ? holes : holes.filter(({ from }) => from.getTime() > fromMs);
}

function presenceFacts(devices: readonly FactRow[], nodes: readonly FactRow[]): FactRows[] {
  return [
    ...(nodes.length === 0 ? [] : [{ table: 'node', batch: 'machines', mode: 'extend', rows: nodes } as const]),
    ...(devices.length === 0 ? [] : [{ table: 'device', batch: 'devices', mode: 'extend', rows: devices } as const]),
  ];
}

function advanced(
  { cursor, presence }: Standing,
  hourMs: number,
  isOver: boolean,
  isLateIn: boolean,
  nowMs: number,
): Cursor {
  const endS = (hourMs + HOUR_MS) / 1000;
  const devices = presence.kept(endS);
  if (!isOver) return { ...cursor, openS: Math.floor(nowMs / 1000), devices };
  return {
    ...cursor,
    fullS: Math.max(cursor.fullS, endS),
    ...(isLateIn && { settledS: Math.max(cursor.settledS, endS) }),
    devices,
  };
}
