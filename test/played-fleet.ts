import type { Haul, PullRequest, Source, SourceHealth } from '../src/facts/source.ts';

const DAY_MS = 86_400_000;

export interface PlayedFleet {
  readonly name?: string;
  readonly gpus: number;
  readonly model?: string;
  /** What each of its hauls waits for, e.g. a deadline; the number of the day, newest first. */
  readonly beforeDay?: (day: number, request: PullRequest) => Promise<void>;
  readonly health?: SourceHealth;
  readonly label?: string;
}

/**
 * A source that tells of a fleet as a Prometheus would in a first look: the newest day first, as many GPUs as asked for.
 * Each GPU is held by one job of its own for years; of the even ones the engine works, of the odd ones it stands still.
 */
export function playedFleet(fleet: PlayedFleet): Source & { readonly asked: PullRequest[] } {
  const { name = 'played', gpus, health } = fleet;
  const asked: PullRequest[] = [];
  return {
    asked,
    name,
    kind: 'prometheus',
    reads: `a played fleet of ${gpus} GPUs`,
    priority: 10,
    pollS: 60,
    check: async () => health ?? { state: 'ok', says: `${gpus} GPUs`, gpus, advice: [] },
    async *pull(_, request) {
      asked.push(request);
      yield* hauls(fleet, request);
    },
  };
}

async function* hauls(
  { gpus, model = 'NVIDIA H100 80GB HBM3', beforeDay, label = '' }: PlayedFleet,
  request: PullRequest,
): AsyncGenerator<Haul> {
  const read = Math.min(gpus, request.gpusMax ?? gpus);
  const every = Math.max(1, Math.floor(gpus / read));
  const devices = Array.from({ length: read }, (_, index) => `GPU-${String(index * every).padStart(6, '0')}`);
  const node = (index: number): string => `node-${Math.floor((index * every) / 8)}${label}`;
  const longAgo = new Date(request.now.getTime() - 700 * DAY_MS);
  const nodes = [...new Set(devices.map((_, index) => node(index)))];
  const holding = (index: number) => ({
    source: 'kubernetes',
    allocation_id: `job-${devices[index]}${label}`,
    node_id: node(index),
    device_id: devices[index],
    held_from: longAgo,
    gpu_count: 1,
    user_name: index % 2 === 0 ? 'kim' : `lee${label}`,
    observed_at: request.now,
    poll_s: 60,
  });
  const facts: Haul['facts'] = [
    {
      table: 'node',
      batch: 'nodes',
      mode: 'replace',
      rows: nodes.map((id) => ({ node_id: id, present_from: longAgo, gpu_count: 8, model })),
    },
    {
      table: 'device',
      batch: 'devices',
      mode: 'replace',
      rows: devices.map((id, index) => ({ device_id: id, node_id: node(index), model, present_from: longAgo })),
    },
    { table: 'allocation', batch: 'open', mode: 'replace', rows: devices.map((_, index) => holding(index)) },
  ];
  const today = Math.floor(request.now.getTime() / DAY_MS) * DAY_MS;
  const since = request.since?.getTime() ?? today;
  for (let day = 0; today - day * DAY_MS >= since; day += 1) {
    await beforeDay?.(day, request);
    if (request.signal.aborted) return;
    const from = today - day * DAY_MS;
    const until = Math.min(from + DAY_MS, request.now.getTime());
    yield {
      facts: day === 0 ? facts : [],
      samples: [samplesOf(devices, from, until, request.lookStepS ?? 300)],
      cursor: { day },
      coveredUntil: request.now,
      gpus: { seen: gpus, notRead: gpus - read },
    };
  }
}

function samplesOf(devices: readonly string[], from: number, until: number, stepS: number) {
  const times: number[] = [];
  for (let at = from; at < until; at += stepS * 1000) times.push(at / 1000);
  const rows = devices.length * times.length;
  const [deviceIndex, tsSeconds] = [new Uint32Array(rows), new Uint32Array(rows)];
  const [engine, power] = [new Int32Array(rows), new Int32Array(rows)];
  for (let device = 0, row = 0; device < devices.length; device += 1) {
    for (const time of times) {
      deviceIndex[row] = device;
      tsSeconds[row] = time;
      engine[row] = device % 2 === 0 ? 760 : 0;
      power[row] = device % 2 === 0 ? 600 : 70;
      row += 1;
    }
  }
  return {
    batch: `look/samples/${new Date(from).toISOString().slice(0, 10)}`,
    mode: 'replace' as const,
    devices,
    rows,
    deviceIndex,
    tsSeconds,
    stepS,
    metrics: new Map([
      ['engine_permille', engine],
      ['power_w', power],
    ]),
  };
}
