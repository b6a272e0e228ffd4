import { z } from 'zod';
import { OperationError } from '../../facts/operation-error.ts';
import type { FactRows, Haul, PullRequest, Skipped, Source, SourceHealth } from '../../facts/source.ts';
import { EnergyPower } from '../gpu-metrics/energy-power.ts';
import { holderFacts, HolderStays } from '../gpu-metrics/holder-stays.ts';
import { factsOfReadings } from '../gpu-metrics/gpu-reading.ts';
import type { GpuReading } from '../gpu-metrics/gpu-reading.ts';
import { deviceChanges, KnownDevicesCursor, NO_DEVICES } from '../gpu-metrics/known-devices.ts';
import { missingMetrics } from '../gpu-metrics/missing-metrics.ts';
import { parseUrl, shownUrl } from '../http/http-failure.ts';
import { CounterMemory, countedWork } from '../serving/counter-memory.ts';
import { podHolders } from './pod-holders.ts';
import { scrapeTarget } from './scrape-target.ts';
import type { Scraped, ScrapeTarget } from './scrape-target.ts';

export interface ScrapeOptions {
  readonly name: string;
  readonly targets: readonly ScrapeTarget[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly pollS?: number;
  readonly cluster?: string;
  /** Take the pods exporters name for holders, where the API server is out of reach. */
  readonly pods?: boolean;
}

const POLL_S = 30;
const PRIORITY = 10;
const AT_ONCE = 16;

/** What is remembered between two looks. A cursor of another shape is a first look. */
const Cursor = z.object({
  known: KnownDevicesCursor,
  answeredAt: z.record(z.string(), z.iso.datetime()),
  energy: z.record(z.string(), z.tuple([z.number(), z.number()])),
  pods: HolderStays,
  counters: CounterMemory.default({}),
});
type Cursor = z.infer<typeof Cursor>;
const FIRST: Cursor = { known: NO_DEVICES, answeredAt: {}, energy: {}, pods: [], counters: {} };

/**
 * Exporters asked one by one: dcgm-exporter, AMD's exporter and others, where no Prometheus keeps what they say.
 *
 * They know only the present, so what was before the first look is a gap. An exporter that does not answer is a gap too, and
 * holds up no other.
 */
export function scrapeSource(options: ScrapeOptions): Source {
  const { name, targets, pollS = POLL_S } = options;
  if (targets.length === 0) {
    throw new OperationError('no-targets', `${name}: no exporter to ask`, {
      hint: 'Name them in bursar.yaml: scrape: [http://gpu-1:9400/metrics]',
    });
  }
  const urls = targets.map(({ url }) => shownUrl(parseUrl(url)));
  const more = urls.length > 2 ? ` and ${urls.length - 2} more` : '';
  return {
    name,
    kind: 'scrape',
    reads: `what exporters measure of GPUs now, from ${urls.slice(0, 2).join(', ')}${more}`,
    priority: PRIORITY,
    pollS,
    check: (signal) => check(options, signal),
    pull: (cursor, request) => pull(options, pollS, cursor, request),
  };
}

async function scrapeAll(
  { targets, headers }: ScrapeOptions,
  at: Date,
  energy: EnergyPower,
  signal: AbortSignal,
  onDone: (done: number) => void,
): Promise<Scraped[]> {
  const all: Scraped[] = [];
  const waiting = [...targets.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, target] = next;
      all[index] = await scrapeTarget(target, { signal, at, energy, ...(headers !== undefined && { headers }) });
      onDone(targets.length - waiting.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, targets.length) }, worker));
  return all;
}

async function check(options: ScrapeOptions, signal: AbortSignal): Promise<SourceHealth> {
  const all = await scrapeAll(options, new Date(), new EnergyPower({}), signal, () => undefined);
  const dead = all.filter(({ failure }) => failure !== undefined);
  const metrics = new Set(all.flatMap((each) => [...each.metrics]));
  const readings = all.flatMap((each) => each.readings);
  const gpus = new Set(readings.filter(({ mig }) => mig === undefined).map(({ deviceId }) => deviceId)).size;
  const first = dead[0]?.failure;
  const servers = all.filter(({ counters }) => counters.length > 0).length;
  const counts = `${all.length - dead.length} of ${all.length} exporters answer, ${gpus} GPU${gpus === 1 ? '' : 's'}${servers === 0 ? '' : `, ${servers} model server${servers === 1 ? '' : 's'}`}`;
  if (dead.length === all.length || (gpus === 0 && servers === 0)) {
    return {
      state: 'down',
      says: first?.message ?? 'exporters answer, but name no GPU',
      todo: first?.hint ?? 'check that these are exporters of GPUs: curl URL | grep -i gpu',
      advice: [],
    };
  }
  return {
    state: dead.length > 0 ? 'partial' : 'ok',
    says: first === undefined ? counts : `${counts}; ${first.message}`,
    ...(first?.hint !== undefined && { todo: first.hint }),
    gpus,
    advice: missingMetrics(metrics),
  };
}

async function* pull(
  options: ScrapeOptions,
  pollS: number,
  given: unknown,
  request: PullRequest,
): AsyncGenerator<Haul> {
  const parsed = Cursor.safeParse(given);
  const before = parsed.success ? parsed.data : FIRST;
  const at = new Date(Math.floor(request.now.getTime() / 1000) * 1000);
  const energy = new EnergyPower(before.energy);
  const scraped = await scrapeAll(options, at, energy, request.signal, (done) =>
    request.progress(`${options.name}: ${done} of ${options.targets.length} exporters`),
  );
  const good = scraped.filter(({ failure }) => failure === undefined);
  const [first] = scraped;
  if (good.length === 0 && first?.failure !== undefined) throw first.failure;
  const { readings, gpus } = chosen(merged(good.flatMap((each) => each.readings)), request.gpusMax);
  const facts = factsOfReadings(readings, { stepS: pollS });
  const changes = deviceChanges(before.known, readings, at, options.cluster);
  const answered = new Set([
    ...readings.map(({ nodeId }) => nodeId),
    ...good.flatMap(({ target }) => target.nodeId ?? []),
  ]);
  const look = { at, pollS, answered };
  const held =
    options.pods === true
      ? holderFacts(before.pods, podHolders(readings, options.cluster), look)
      : { facts: [], stays: [] };
  const work = countedWork(
    before.counters,
    good.flatMap(({ counters }) => counters),
    at,
    options.cluster,
  );
  const answeredAt = { ...before.answeredAt };
  for (const { target } of good) answeredAt[shownUrl(target.url)] = at.toISOString();
  yield {
    facts: [
      ...rowsOf('gpu_sample', `samples/${at.toISOString().slice(0, 13)}`, facts.samples),
      ...rowsOf('device', 'devices', changes.devices),
      ...rowsOf('node', 'nodes', changes.nodes),
      ...held.facts,
      ...rowsOf('work', `work/${at.toISOString().slice(0, 13)}`, work.rows),
    ],
    bindings: facts.bindings,
    skipped: added([...good.flatMap((each) => each.skipped), ...work.skipped]),
    gaps: gapsOf(scraped, before, at, pollS, parsed.success ? undefined : request.since),
    cursor: {
      known: changes.cursor,
      answeredAt,
      energy: energy.cursor(),
      pods: held.stays,
      counters: work.memory,
    } satisfies {
      [Key in keyof Cursor]: unknown;
    },
    coveredUntil: at,
    gpus,
  };
}

function rowsOf(table: FactRows['table'], batch: string, rows: FactRows['rows']): FactRows[] {
  return rows.length === 0 ? [] : [{ table, batch, mode: 'extend', rows }];
}

/** Two exporters may speak of one GPU at one moment: the greater of each value counts, as within one scrape. */
function merged(readings: readonly GpuReading[]): GpuReading[] {
  const byMoment = new Map<string, GpuReading>();
  for (const reading of readings) {
    const key = `${reading.deviceId} ${reading.at.getTime()}`;
    const known = byMoment.get(key);
    if (known === undefined) {
      byMoment.set(key, reading);
      continue;
    }
    const values = { ...known.values };
    for (const [column, value] of Object.entries(reading.values)) {
      values[column] = Math.max(value, values[column] ?? value);
    }
    const pods = [...(known.pods ?? []), ...(reading.pods ?? [])];
    const distinct = new Map(pods.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
    byMoment.set(key, { ...reading, ...known, values, ...(pods.length > 0 && { pods: [...distinct.values()] }) });
  }
  return [...byMoment.values()];
}

/** At most so many GPUs, every n-th by id, with their slices. */
function chosen(
  readings: readonly GpuReading[],
  gpusMax: number | undefined,
): { readings: readonly GpuReading[]; gpus: { seen: number; notRead: number } } {
  const roots = [...new Set(readings.map((each) => each.mig?.parentDeviceId ?? each.deviceId))].toSorted();
  if (gpusMax === undefined || roots.length <= gpusMax) return { readings, gpus: { seen: roots.length, notRead: 0 } };
  const kept = new Set(Array.from({ length: gpusMax }, (_, n) => roots[Math.floor((n * roots.length) / gpusMax)]));
  return {
    readings: readings.filter((each) => kept.has(each.mig?.parentDeviceId ?? each.deviceId)),
    gpus: { seen: roots.length, notRead: roots.length - kept.size },
  };
}

/** The same reason from many exporters is one line. */
function added(skipped: readonly Skipped[]): Skipped[] {
  const byReason = new Map<string, Skipped>();
  for (const each of skipped) {
    const known = byReason.get(each.reason);
    byReason.set(each.reason, known === undefined ? each : { ...known, count: known.count + each.count });
  }
  return [...byReason.values()];
}

function gapsOf(scraped: readonly Scraped[], before: Cursor, at: Date, pollS: number, since: Date | undefined) {
  const gaps: { from: Date; until: Date; reason: string }[] = [];
  if (since !== undefined && since < at) {
    gaps.push({
      from: since,
      until: at,
      reason: 'exporters know only the present: nothing from before the first look',
    });
  }
  for (const { target, failure } of scraped) {
    if (failure === undefined) continue;
    const last = before.answeredAt[shownUrl(target.url)];
    const from = last === undefined ? new Date(at.getTime() - pollS * 1000) : new Date(last);
    gaps.push({ from, until: at, reason: failure.message });
  }
  return gaps;
}
