import type { Row } from './stage-on.ts';

type Span = readonly [from: string, until: string];

/** A holder as a test tells of it: which GPUs it had from when to when, and what each did. Times are `MM-DD HH:MM` of 2026. */
export interface ToldHolder {
  readonly id?: string;
  readonly source?: string;
  readonly manner?: 'job' | 'serving' | 'interactive' | null;
  readonly kind?: string;
  readonly name?: string;
  readonly stem?: string;
  readonly user?: string;
  /** None at all where null. */
  readonly namespace?: string | null;
  readonly account?: string;
  readonly cluster?: string;
  readonly model?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly outcome?: string;
  readonly from: string;
  readonly until: string;
  /** Still there at the end of what is known. */
  readonly isOpen?: boolean;
  readonly gpus: Readonly<Record<string, ToldGpu>>;
}

export interface ToldGpu {
  readonly node?: string;
  readonly computing?: readonly Span[];
  readonly unknown?: readonly Span[];
  /** Further columns of its days. */
  readonly more?: Row;
}

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(`2026-${text.replace(' ', 'T')}:00Z`);
const timeOf = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

/** The rows of `stint_day`, `subject` and `subject_day` of some holders, added up from what is told of them. */
export function holderRows(holders: readonly ToldHolder[]): Record<'stint_day' | 'subject' | 'subject_day', Row[]> {
  const stints = holders.flatMap(stintsOf);
  return {
    stint_day: stints.map(({ stint }) => stint),
    subject: holders.flatMap((holder) =>
      daysOf(at(holder.from), at(holder.until)).map(({ day }) => ({
        day,
        subject: subjectOf(holder),
        what: 'job',
        source: holder.source ?? 'kubernetes',
        cluster: holder.cluster ?? 'a',
        namespace: holder.namespace === undefined ? 'nlp' : holder.namespace,
        account: holder.account ?? null,
        user_name: holder.user ?? 'mchen',
        workload_kind: holder.kind ?? 'Job',
        workload_name: holder.name ?? 'train',
        workload_stem: holder.stem ?? holder.name ?? 'train',
        labels: holder.labels ?? {},
      })),
    ),
    subject_day: stints.map(({ stint, holder }) => ({
      day: stint['day'] ?? null,
      subject: subjectOf(holder),
      node_id: stint['node_id'] ?? null,
      device_id: stint['device_id'] ?? null,
      cluster: holder.cluster ?? 'a',
      model: holder.model ?? 'H100',
      category: 'idle',
      usd_micros: 1_000_000,
      marginal_usd_micros: 0,
      gpu_units: Number(stint['held_s']) * 63_000,
    })),
  };
}

export const subjectOf = ({ source = 'kubernetes', id = '1' }: ToldHolder): string => `job ${source}/${id}/0`;

function stintsOf(holder: ToldHolder): { stint: Row; holder: ToldHolder }[] {
  return Object.entries(holder.gpus).flatMap(([deviceId, gpu]) =>
    daysOf(at(holder.from), at(holder.until)).map(({ day, from, until }) => ({
      holder,
      stint: { ...holderColumns(holder), ...gpuDay(gpu, from, until), day, device_id: deviceId, ...gpu.more },
    })),
  );
}

function holderColumns(holder: ToldHolder): Row {
  return {
    subject: subjectOf(holder),
    source: holder.source ?? 'kubernetes',
    allocation_id: holder.id ?? '1',
    attempt: 0,
    manner: holder.manner === undefined ? 'job' : holder.manner,
    workload_kind: holder.kind ?? 'Job',
    workload_name: holder.name ?? 'train',
    held_since: timeOf(at(holder.from)),
    ended_at: holder.isOpen ? null : timeOf(at(holder.until)),
    outcome: holder.isOpen ? null : (holder.outcome ?? 'completed'),
  };
}

function gpuDay({ node = 'n1', computing = [], unknown = [] }: ToldGpu, from: number, until: number): Row {
  const cut = (spans: readonly Span[]): (readonly [number, number])[] =>
    spans
      .map(([a, b]) => [Math.max(at(a), from), Math.min(at(b), until)] as const)
      .filter(([a, b]) => a < b)
      .toSorted(([a], [b]) => a - b);
  const seconds = (spans: readonly (readonly [number, number])[]): number =>
    spans.reduce((sum, [a, b]) => sum + (b - a) / 1000, 0);
  const [busy, dark] = [cut(computing), cut(unknown)];
  const held = (until - from) / 1000;
  const knownUntil = dark.some(([, b]) => b === until) ? (dark.at(-1)?.[0] ?? until) : until;
  const lastAt = busy.at(-1)?.[1];
  const hasKnown = seconds(dark) < held;
  return {
    node_id: node,
    held_from: timeOf(from),
    held_until: timeOf(until),
    held_s: held,
    computing_s: seconds(busy),
    unknown_s: seconds(dark),
    idle_s: held - seconds(busy) - seconds(dark),
    units: held * 63_000,
    first_computing_at: busy[0] === undefined ? null : timeOf(busy[0][0]),
    last_computing_at: lastAt === undefined ? null : timeOf(lastAt),
    known_until: hasKnown ? timeOf(knownUntil) : null,
    inner_idle_s:
      busy.length > 1 ? Math.max(...busy.slice(1).map(([a], index) => (a - (busy[index]?.[1] ?? a)) / 1000)) : null,
    idle_from: hasKnown && (lastAt ?? from) < knownUntil ? timeOf(lastAt ?? from) : null,
    engine_permille: busy.length > 0 ? 900 : null,
    power_w_max: 400,
    power_w_min: 70,
    throttled_samples: 0,
    samples: hasKnown ? Math.round((held - seconds(dark)) / 300) : 0,
    lying_samples: 0,
  };
}

function daysOf(from: number, until: number): { day: string; from: number; until: number }[] {
  const days = [];
  for (let start = from - (from % DAY_MS); start < until; start += DAY_MS) {
    days.push({
      day: new Date(start).toISOString().slice(0, 10),
      from: Math.max(start, from),
      until: Math.min(start + DAY_MS, until),
    });
  }
  return days;
}
