import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { GaugesReply } from './routes/spend/gauges.ts';

/** What only the server knows of itself. */
export interface ServerState {
  /** How long the last derivation took; undefined before the first. */
  readonly deriveSeconds: number | undefined;
  /** Questions that wait for an asker. */
  readonly waiting: number;
  readonly eventClients: number;
  readonly now: Date;
}

export interface Metrics {
  /** One answered request: `route` is a path as the document has it, so that ids make no series. */
  observe(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
  /** The page Prometheus reads; without gauges where the ledger could not be read. */
  text(gauges: GaugesReply | undefined, state: ServerState): Promise<string>;
  readonly contentType: string;
}

/** Whole answers from memory take a millisecond, a month of the waterfall a second. */
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of one server, in a registry of its own. Money is floats here, because Prometheus has nothing else. */
export function serverMetrics(version: string): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = gaugesIn(registry);
  gauge('bursar_up', 'The server answers').set(1);
  gauge('bursar_build_info', 'Which Bursar this is', ['version', 'node']).set({ version, node: process.version }, 1);
  const requests = new Histogram({
    name: 'bursar_http_request_duration_seconds',
    help: 'How long requests took, by route',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const own = ownGauges(gauge);
  const fleet = fleetGauges(gauge);
  return {
    contentType: registry.contentType,
    observe: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    text: (gauges, state) => {
      // Set and read in one go: two scrapes at once cannot mix.
      own(gauges !== undefined, state);
      fleet(gauges, state.now);
      return registry.metrics();
    },
  };
}

type GaugeOf = (name: string, help: string, labelNames?: readonly string[]) => Gauge;

function gaugesIn(registry: Registry): GaugeOf {
  return (name, help, labelNames = []) => new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
}

function ownGauges(gauge: GaugeOf): (isReadable: boolean, state: ServerState) => void {
  const readable = gauge('bursar_ledger_readable', '1 where the ledger could be asked for this page');
  const derive = gauge('bursar_derive_seconds', 'How long the last derivation took');
  const waiting = gauge('bursar_queue_length', 'Questions that wait for their turn');
  const clients = gauge('bursar_event_clients', 'Pages that follow new data');
  return (isReadable, { deriveSeconds, waiting: length, eventClients }) => {
    readable.set(isReadable ? 1 : 0);
    setKnown(derive, deriveSeconds);
    waiting.set(length);
    clients.set(eventClients);
  };
}

/** What is not known has no sample: a 0 would be a figure. */
function fleetGauges(gauge: GaugeOf): (gauges: GaugesReply | undefined, now: Date) => void {
  const generation = gauge('bursar_ledger_generation', 'Grows by one with every change of facts or ledger');
  const stale = gauge('bursar_ledger_stale_rows', 'Rows of facts that are not in the ledger yet');
  const age = gauge('bursar_horizon_age_seconds', 'How old the newest fact is');
  const difference = gauge('bursar_bill_difference_usd', 'How far the ledger is from the bills; 0 where it is equal');
  const sourceAge = gauge('bursar_source_age_seconds', 'Since the source last answered', ['source', 'kind']);
  const sourcePoll = gauge('bursar_source_poll_seconds', 'How often the source is asked', ['source', 'kind']);
  const sourceError = gauge('bursar_source_failing', '1 where the last try failed', ['source', 'kind']);
  const paid = gauge('bursar_day_paid_usd', 'Paid for the last day that is over', ['team', 'category']);
  const held = gauge('bursar_day_gpu_seconds', 'GPU-seconds of the last day that is over', ['team', 'category']);
  const unpriced = gauge('bursar_day_unpriced_gpu_seconds', 'GPU-seconds of that day without a price: in no sum');
  const dayStart = gauge('bursar_day_start_timestamp_seconds', 'When the last day that is over began');
  const unknown = gauge('bursar_day_unknown_ratio', 'Of the time held on that day, the part nobody measured');
  const heldNow = gauge('bursar_held_gpus', 'GPUs that somebody holds now');
  const silent = gauge('bursar_silent_gpus', 'GPUs held now of which nothing is known');
  const idle = gauge('bursar_idle_gpus', 'GPUs held now that nobody uses');
  const idleRate = gauge('bursar_idle_usd_per_hour', 'What an hour of the idle GPUs costs now');
  const findings = gauge('bursar_open_findings', 'Findings nobody has dealt with, when last looked', ['kind']);
  return (gauges, now) => {
    setKnown(generation, gauges?.generation);
    setKnown(stale, gauges?.staleRows);
    setKnown(age, ageSeconds(gauges?.horizon, now));
    setKnown(difference, usd(gauges?.billDifferenceUsdMicros));
    setKnown(dayStart, gauges?.day == null ? undefined : Date.parse(gauges.day) / 1000);
    setKnown(unknown, gauges?.unknownPermille == null ? undefined : gauges.unknownPermille / 1000);
    setKnown(heldNow, gauges?.heldGpus);
    setKnown(silent, gauges?.silentGpus);
    setKnown(idle, gauges?.idleGpus);
    setKnown(idleRate, usd(gauges?.idleUsdMicrosPerHour));
    const teams = gauges?.teams ?? [];
    setKnown(unpriced, gauges?.day == null ? undefined : teams.reduce((sum, each) => sum + each.unpricedSeconds, 0));
    for (const each of [sourceAge, sourcePoll, sourceError, paid, held, findings]) each.reset();
    for (const { name, kind, lastOkAt, pollSeconds, isFailing } of gauges?.sources ?? []) {
      const since = ageSeconds(lastOkAt, now);
      if (since !== undefined) sourceAge.set({ source: name, kind }, since);
      sourcePoll.set({ source: name, kind }, pollSeconds);
      sourceError.set({ source: name, kind }, isFailing ? 1 : 0);
    }
    for (const { team, category, costUsdMicros, gpuSeconds } of teams) {
      const money = usd(costUsdMicros);
      if (money !== undefined) paid.set({ team, category }, money);
      held.set({ team, category }, gpuSeconds);
    }
    for (const { kind, count } of gauges?.openFindings ?? []) findings.set({ kind }, count);
  };
}

function setKnown(gauge: Gauge, value: number | null | undefined): void {
  if (value == null) gauge.remove();
  else gauge.set(value);
}

function usd(micros: string | null | undefined): number | undefined {
  return micros == null ? undefined : Number(micros) / 1e6;
}

function ageSeconds(time: string | null | undefined, now: Date): number | undefined {
  return time == null ? undefined : Math.max(0, (now.getTime() - Date.parse(time)) / 1000);
}
