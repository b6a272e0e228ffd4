import type { Attempt, Device, Holding, Node, NodeState, OrganisationDay, Scope } from '../organisation.ts';
import { NOTHING, type Part, type Seconds, type Span } from '../timeline.ts';
import { unmanaged } from '../world/unmanaged.ts';
import type { Pool, Provider, World } from '../world/world-schema.ts';

/** Organisations small enough to reckon by hand, for the tests of the books. */

export const DAY_S = 86_400;
/** 2026-10-29T00:00:00Z: the window ends in another month. */
export const FROM: Seconds = 1_793_232_000;

export const scopeOf = (days: number, seed = 1): Scope => ({
  seed,
  gpus: 1,
  from: FROM,
  until: FROM + days * DAY_S,
  stepS: 300,
});

/** A provider that charges for machines and nothing else. */
export const providerOf = (changes: Partial<Provider> = {}): Provider => ({
  name: 'Cloud',
  account: 'C-1',
  currency: 'USD',
  usd_per_unit: 1,
  bills_by: 'hour',
  storage_percent: 0,
  egress_percent: 0,
  support_percent: 0,
  tax_percent: 0,
  credit_percent: 0,
  corrected_hours: 0,
  reissued: false,
  unlisted_percent: 0,
  ...changes,
});

export const poolOf = (changes: Partial<Pool> = {}): Pool => ({
  name: 'rent',
  cluster: 'atlas',
  scheduler: 'slurm',
  share_percent: 100,
  gpu: 'h100',
  gpus_per_node: 2,
  cpus_per_gpu: 8,
  instance_type: 'big.2',
  ...(changes.purchase !== 'owned' && { provider: 'Cloud' }),
  region: 'north-1',
  purchase: 'on-demand',
  price_per_gpu_hour: 2.5,
  list_price_per_gpu_hour: 4,
  sharing: 'whole',
  placement: 'pack',
  days_between_failures: 100,
  hours_broken: { p0: 1, p10: 1, p50: 1, p90: 1, p99: 1, p100: 1 },
  drained_percent: 0,
  tags: { team: 'nlp' },
  ...changes,
});

export const worldOf = (providers: Provider[], pools: Pool[]): World => ({ ...unmanaged, providers, pools });

interface MachinePlan {
  readonly from?: Seconds;
  readonly until?: Seconds;
  /** States after the first, which is up: each from its moment on. */
  readonly states?: readonly (readonly [from: Seconds, state: NodeState])[];
  /** Units of the slices each GPU is cut into. */
  readonly slices?: readonly number[];
}

export function machineOf(pool: Pool, name: string, plan: MachinePlan = {}): Node {
  const { from = FROM, until = FROM + 60 * DAY_S, slices = [] } = plan;
  const begins: (readonly [Seconds, NodeState])[] = [[from, 'up'], ...(plan.states ?? [])];
  const states = begins.map(([begin, state], index) => ({
    from: begin,
    until: begins[index + 1]?.[0] ?? until,
    state,
  }));
  const devices: Device[] = [];
  const node: Node = {
    id: name,
    resourceId: pool.provider === undefined ? '' : `i-${name}`,
    pool,
    presentFrom: from,
    presentUntil: until,
    states,
    devices,
  };
  const gpu = unmanaged.gpus['h100']!;
  for (let place = 0; place < pool.gpus_per_node; place += 1) {
    const whole = { id: `GPU-${name}-${place}`, node, shareUnits: 63_000, isCut: slices.length > 0, gpu };
    const parent: Device = { ...whole, index: devices.length };
    devices.push(parent);
    for (const [index, shareUnits] of slices.entries()) {
      const id = `MIG-${name}-${place}-${index}`;
      devices.push({ id, node, index: devices.length, parent, shareUnits, isCut: false, gpu });
    }
  }
  return node;
}

interface SpanPlan {
  readonly parts: readonly Part[];
  readonly pause?: { readonly everyS: number; readonly forS: number; readonly reason: Part['reason'] };
}

export const spanFrom = (from: Seconds, until: Seconds, { parts, pause }: SpanPlan): Span => ({
  from,
  until,
  parts,
  levels: NOTHING,
  ...(pause !== undefined && { pause: { ...pause, levels: NOTHING } }),
});

/** A job on some devices of one pool, which does on all of them what the spans say. */
export function attemptOf(id: string, devices: readonly Device[], spans: readonly Span[]): Attempt {
  const { pool } = devices[0]!.node;
  const team = unmanaged.teams[0]!;
  const [from, until] = [spans[0]!.from, spans.at(-1)!.until];
  const place = { index: 0, of: 1 };
  const job = { id, habit: unmanaged.habits[0]!, team, pool, user: 'ada', name: id, gpus: devices.length };
  return {
    job: { ...job, submittedAt: from, tagged: true, place, key: [1, id] },
    number: 0,
    from,
    until,
    outcome: 'completed',
    cpusPerGpu: 8,
    groups: [{ devices, spans }],
  };
}

export function daysOf(
  world: World,
  scope: Scope,
  nodes: readonly Node[],
  attempts: readonly Attempt[] = [],
): OrganisationDay[] {
  const days: OrganisationDay[] = [];
  for (let from = scope.from; from < scope.until; from += DAY_S) {
    const until = from + DAY_S;
    const onDevice = new Map<Device, Holding[]>();
    for (const attempt of attempts.toSorted((a, b) => a.from - b.from)) {
      if (attempt.from >= until || attempt.until <= from) continue;
      for (const { devices, spans } of attempt.groups) {
        for (const device of devices) onDevice.set(device, [...(onDevice.get(device) ?? []), { attempt, spans }]);
      }
    }
    days.push({
      world,
      scope,
      from,
      until,
      nodes: nodes.filter((node) => node.presentFrom < until && node.presentUntil > from),
      begun: attempts.filter((attempt) => attempt.from >= from && attempt.from < until),
      onDevice,
      waiting: [],
    });
  }
  return days;
}

/** The cells of a line by the names of its header. */
export function cellsOf(header: string, line: string): Readonly<Record<string, string>> {
  const cells = [...line.trimEnd().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
  return Object.fromEntries(
    header
      .trimEnd()
      .split(',')
      .map((name, index) => [name, cells[index] ?? 'missing']),
  );
}
