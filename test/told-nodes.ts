import type { Row } from './stage-on.ts';

const U = 63_000;
export const WINDOW = { from: '2026-03-01', until: '2026-03-04' };
export const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];

/** One node of four GPUs: hours in which jobs hold so many of them, as `DD HH` up to `DD HH`; the rest of the time is unallocated. */
export interface ToldNode {
  readonly id?: string;
  readonly held: readonly (readonly [from: string, until: string, gpus: number])[];
  readonly reason?: string;
  readonly purchase?: string | null;
  readonly provider?: string | null;
  readonly gpus?: number;
  /** When it was there, as `DD HH`; all the time where left out. */
  readonly there?: readonly (readonly [from: string, until: string])[];
}

/** `DD HH`, or `DD HH:MM`. */
const at = (text: string): number =>
  Date.parse(`2026-03-${text.replace(' ', 'T')}${text.includes(':') ? '' : ':00'}:00Z`);
const timeOf = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

interface NodeTables {
  readonly stint_day: Row[];
  readonly subject_day: Row[];
  readonly subject: Row[];
  readonly presence: Row[];
  readonly waiting: Row[];
}

/** Rows of the nodes of cluster `a`, and of who waits. */
export function rowsOf(nodes: readonly ToldNode[], waiting: readonly Row[] = []): Record<string, Row[]> {
  const tables: NodeTables = { stint_day: [], subject_day: [], subject: [], presence: [], waiting: [...waiting] };
  for (const node of nodes) {
    const { id = 'n1' } = node;
    const of = { day: '2026-03-03', cluster: 'a' };
    const named = { resource_id: `i-${id}`, region: 'us-east-1', node_id: id };
    tables.subject.push({ ...of, ...named, subject: `node ${id}`, what: 'node' });
    tables.subject.push({ ...of, subject: `job ${id}`, what: 'job', source: 'slurm' });
    for (const day of DAYS) addDay(tables, node, day);
  }
  return { ...tables };
}

function addDay(tables: NodeTables, node: ToldNode, day: string): void {
  const { id = 'n1', held, reason = 'empty', purchase = 'on-demand', provider = 'AWS', gpus = 4 } = node;
  const { there = [['01 00', '04 00']] } = node;
  const cut = (from: string, until: string): readonly [number, number] => [
    Math.max(at(from), Date.parse(day)),
    Math.min(at(until), Date.parse(day) + 86_400_000),
  ];
  const isThere = ([from, until]: readonly [number, number]): boolean => from < until;
  const today = held
    .map(([from, until, count]) => ({ span: cut(from, until), count }))
    .filter(({ span }) => isThere(span));
  const spans = there.map(([from, until]) => cut(from, until)).filter(isThere);
  const secondsOf = ([from, until]: readonly [number, number]): number => (until - from) / 1000;
  const thereS = spans.reduce((sum, span) => sum + secondsOf(span), 0);
  for (let gpu = 0; gpu < gpus; gpu += 1) {
    const device = { day, node_id: id, device_id: `${id}/g${gpu}` };
    const of = { ...device, cluster: 'a', model: 'H100', purchase, provider };
    for (const [place, { span, count }] of today.entries())
      if (gpu < count)
        tables.stint_day.push({
          ...device,
          subject: `job ${place}`,
          held_from: timeOf(span[0]),
          held_until: timeOf(span[1]),
        });
    for (const [from, until] of spans)
      tables.presence.push({
        ...of,
        from_at: timeOf(from),
        until_at: timeOf(until),
        state: reason === 'empty' ? 'up' : reason,
      });
    const heldS = today.reduce((sum, { span, count }) => sum + (gpu < count ? secondsOf(span) : 0), 0);
    const row = { ...of, usd_micros: 1, marginal_usd_micros: 1 };
    if (heldS > 0) tables.subject_day.push({ ...row, subject: 'job', category: 'computing', gpu_units: heldS * U });
    const free = { subject: `node ${id}`, category: 'unallocated', reason, gpu_units: (thereS - heldS) * U };
    if (heldS < thereS) tables.subject_day.push({ ...row, ...free });
  }
}

export const job = (gpus: number, more: Row = {}): Row => ({
  source: 'slurm',
  allocation_id: String(gpus),
  submitted_at: '2026-03-02 00:00:00',
  observed_at: '2026-03-03 23:50:00',
  gpu_count: gpus,
  model: 'H100',
  cluster: 'a',
  held_back_by: 'Resources',
  ...more,
});

/** A job that began on a machine of the cluster: asked for, got and given back at `DD HH`, in the words of its holding. */
export function begun(
  gpus: number,
  times: { readonly asked: string; readonly got: string; readonly again?: string },
  more: Row = {},
): Record<string, Row[]> {
  const lives = [times.got, ...(times.again === undefined ? [] : [times.again])];
  const tables = { holding: [] as Row[], stint_day: [] as Row[] };
  for (const [attempt, got] of lives.entries()) {
    const of = { day: `2026-03-${got.slice(0, 2)}`, source: 'slurm', allocation_id: '77', attempt, cluster: 'a' };
    const from = timeOf(at(got));
    for (let gpu = 0; gpu < gpus; gpu += 1) {
      const device = { node_id: 'm9', device_id: `m9/g${gpu}`, held_from: from };
      tables.holding.push({ ...of, ...device, submitted_at: timeOf(at(times.asked)), gpu_count: 1, ...more });
      tables.stint_day.push({
        ...of,
        ...device,
        subject: `job slurm/77/${attempt}`,
        model: 'H100',
        held_since: from,
        held_until: timeOf(at(got) + 60_000),
        ...more,
      });
    }
  }
  return tables;
}

/** The rows of both. */
export function together(a: Record<string, Row[]>, b: Record<string, Row[]>): Record<string, Row[]> {
  return {
    ...a,
    ...Object.fromEntries(Object.entries(b).map(([name, rows]) => [name, [...(a[name] ?? []), ...rows]])),
  };
}

export const BUSY = { held: [['01 00', '04 00', 4]] } as const;
