import { quote } from '../../lake/engine.ts';
import { addDays, parseTime, startOf } from '../../lake/calendar.ts';
import { groupedBy } from '../../report/finding-detail.ts';
import type { FindingPart } from '../../report/finding-explanation.ts';
import type { ReadSpace } from '../workspace.ts';
import type { FindingsRequest } from './find-findings.ts';
import { judgedSpan } from './ask-detectors.ts';
import type { JudgedSpan } from './ask-detectors.ts';
import { subjectOwners } from './finding-owners.ts';
import type { Owner } from './finding-owners.ts';

/** What a finding has of one job, machine or resource. */
export interface FindingSubject extends Owner {
  readonly subject: string;
  /** What people call it. */
  readonly name: string;
  readonly devices: number;
  readonly days: number;
  readonly gpuUnits: bigint;
  /** Null where none of it has a price. */
  readonly usdMicros: bigint | null;
  readonly marginalUsdMicros: bigint | null;
  readonly lastComputingAt: Date | null;
}

/** An hour: permille of the known time that computed, `unknown` where most of it was not measured, null where nobody had it. */
export type StripHour = number | 'unknown' | null;

export interface FindingStrip extends Pick<FindingSubject, 'subject' | 'name' | 'lastComputingAt'> {
  readonly hours: readonly StripHour[];
}

export interface FindingStrips {
  readonly from: Date;
  readonly until: Date;
  readonly rows: readonly FindingStrip[];
}

const STRIPS_MAX = 12;
const STRIPS_ASKED = 60;
const STRIP_DAYS = 7;
const HOURS_A_DAY = 24;
const HOUR_MS = 3_600_000;

/** Question: which jobs, machines and resources is a finding's money of, the dearest first? They add up to it. */
export async function findingSubjects(
  space: ReadSpace,
  rows: readonly FindingPart[],
  request: FindingsRequest,
): Promise<readonly FindingSubject[]> {
  const parts = groupedBy(rows, ({ subject }) => subject);
  if (parts.size === 0) return [];
  const span = judgedSpan(request.window, request.now);
  const owners = await subjectOwners(space, new Set(parts.keys()), span);
  const known = await namesOf(space, [...parts.keys()], span);
  const sum = (amounts: readonly (bigint | null)[]): bigint | null => {
    const priced = amounts.filter((amount) => amount !== null);
    return priced.length === 0 ? null : priced.reduce((a, b) => a + b, 0n);
  };
  return [...parts]
    .map(([subject, own]) => ({
      subject,
      name: known.get(subject)?.name ?? subject.slice(subject.indexOf(' ') + 1),
      team: owners.get(subject)?.team ?? null,
      user: owners.get(subject)?.user ?? null,
      devices: new Set(own.map(({ deviceId }) => deviceId)).size,
      days: new Set(own.map(({ day }) => day)).size,
      gpuUnits: own.reduce((total, { gpuUnits }) => total + gpuUnits, 0n),
      usdMicros: sum(own.map(({ usdMicros }) => usdMicros)),
      marginalUsdMicros: sum(own.map(({ marginalUsdMicros }) => marginalUsdMicros)),
      lastComputingAt: timeOf(known.get(subject)?.lastComputingAt ?? null),
    }))
    .toSorted((a, b) => compareAmounts(b, a) || (a.subject < b.subject ? -1 : 1));
}

function compareAmounts(a: FindingSubject, b: FindingSubject): number {
  const [x, y] = [a.usdMicros ?? -1n, b.usdMicros ?? -1n];
  if (x !== y) return x < y ? -1 : 1;
  return a.gpuUnits === b.gpuUnits ? 0 : a.gpuUnits < b.gpuUnits ? -1 : 1;
}

interface KnownName {
  readonly name: string | null;
  readonly lastComputingAt: string | null;
}

function timeOf(text: string | null): Date | null {
  return text === null ? null : parseTime(text);
}

async function namesOf(
  space: ReadSpace,
  subjects: readonly string[],
  { first, last }: JudgedSpan,
): Promise<ReadonlyMap<string, KnownName>> {
  const rows = await space.ask<KnownName & { readonly subject: string }>({
    tables: [{ table: 'life_day', first, last }],
    sql: `
      SELECT subject, max(workload_name) AS name, max(last_computing_at) AS "lastComputingAt"
      FROM life_day WHERE subject IN (${subjects.map(quote).join(', ')}) GROUP BY subject`,
  });
  return new Map(rows.map(({ subject, ...known }) => [subject, known]));
}

/**
 * Question: what did the dearest subjects of a finding do, hour by hour, in the last seven days it speaks of?
 *
 * A machine is shown by what anybody held of it, so that whoever looks for one team is shown its jobs alone.
 */
export async function findingStrips(
  space: ReadSpace,
  parts: readonly FindingPart[],
  subjects: readonly FindingSubject[],
  { team }: Pick<FindingsRequest, 'team'> = {},
): Promise<FindingStrips> {
  const isShown = team === undefined ? /^(job|node) / : /^job /;
  const shown = subjects.filter(({ subject }) => isShown.test(subject));
  const days = parts.map(({ day }) => day).toSorted();
  const last = days.at(-1);
  if (last === undefined) return { from: new Date(0), until: new Date(0), rows: [] };
  const first = addDays(last, 1 - STRIP_DAYS);
  const [from, until] = [startOf(first), startOf(addDays(last, 1))];
  const asked = shown.slice(0, STRIPS_ASKED);
  const names = asked.map(({ subject }) => subject);
  const rows = names.length === 0 ? [] : await hoursOf(space, names, first, last);
  // Whoever held nothing in these days would be an empty line.
  const wanted = asked.filter(({ subject }) => rows.some((row) => row.subject === subject)).slice(0, STRIPS_MAX);
  return {
    from,
    until,
    rows: wanted.map(({ subject, name, lastComputingAt }) => {
      const hours: StripHour[] = Array.from({ length: STRIP_DAYS * HOURS_A_DAY }, () => null);
      for (const row of rows.filter((each) => each.subject === subject)) {
        hours[Math.round((parseTime(row.hour).getTime() - from.getTime()) / HOUR_MS)] = hourOf(row);
      }
      return { subject, name, lastComputingAt, hours };
    }),
  };
}

interface SubjectHour {
  readonly subject: string;
  readonly hour: string;
  readonly heldUnits: bigint;
  readonly computingUnits: bigint;
  readonly unknownUnits: bigint;
}

function hourOf({ heldUnits, computingUnits, unknownUnits }: SubjectHour): StripHour {
  if (heldUnits <= 0n) return null;
  const knownUnits = heldUnits - unknownUnits;
  return 2n * unknownUnits > heldUnits || knownUnits <= 0n ? 'unknown' : Number((computingUnits * 1000n) / knownUnits);
}

/** Of a job what it held, of a machine what anybody held of it. */
async function hoursOf(
  space: ReadSpace,
  subjects: readonly string[],
  first: string,
  last: string,
): Promise<readonly SubjectHour[]> {
  const nodes = subjects.flatMap((subject) => (subject.startsWith('node ') ? [subject.slice('node '.length)] : []));
  const list = (texts: readonly string[]): string => (texts.length === 0 ? 'NULL' : texts.map(quote).join(', '));
  return space.ask<SubjectHour>({
    tables: ['gpu_hour', 'life_day'].map((table) => ({ table, first, last })),
    sql: `
      WITH holder AS (
        SELECT DISTINCT subject, source, allocation_id, attempt FROM life_day WHERE subject IN (${list(subjects)})
      ), own AS (
        SELECT h.subject, g.hour_start, g.units, g.computing_units, g.unknown_units
        FROM gpu_hour g JOIN holder h ON g.source = h.source AND g.allocation_id = h.allocation_id AND g.attempt = h.attempt
        WHERE g.disposition = 'held'
        UNION ALL
        SELECT 'node ' || node_id, hour_start, units, computing_units, unknown_units
        FROM gpu_hour WHERE disposition = 'held' AND node_id IN (${list(nodes)})
      )
      SELECT subject, hour_start AS hour, CAST(sum(units) AS BIGINT) AS "heldUnits",
             CAST(sum(computing_units) AS BIGINT) AS "computingUnits", CAST(sum(unknown_units) AS BIGINT) AS "unknownUnits"
      FROM own GROUP BY subject, hour_start ORDER BY subject, hour_start`,
  });
}
