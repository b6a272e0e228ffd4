import { gpuSeconds, isoTime } from './figures.ts';
import type { FindingPart } from './finding-explanation.ts';
import { csvLine } from './safe-text.ts';

interface SubjectMoney {
  readonly team: string | null;
  readonly gpuUnits: bigint;
  readonly usdMicros: bigint | null;
  readonly marginalUsdMicros: bigint | null;
}

interface DetailSubject extends SubjectMoney {
  readonly subject: string;
  readonly name: string;
  readonly user: string | null;
  readonly devices: number;
  readonly days: number;
  readonly lastComputingAt: Date | null;
}

interface DetailStrips {
  readonly from: Date;
  readonly until: Date;
  readonly rows: readonly (Pick<DetailSubject, 'subject' | 'name' | 'lastComputingAt'> & {
    readonly hours: readonly (number | 'unknown' | null)[];
  })[];
}

/** A page has room for so many rows; the rest stands in one. */
const SUBJECTS_SHOWN = 40;

/** What a finding's page shows beside the finding: whose rows its money is of, and what they did hour by hour. */
export function findingDetailJson(subjects: readonly DetailSubject[], strips: DetailStrips): object {
  const rest = subjects.slice(SUBJECTS_SHOWN);
  return {
    subjects: subjects.slice(0, SUBJECTS_SHOWN).map(({ gpuUnits, lastComputingAt, ...subject }) => ({
      ...subject,
      gpuSeconds: gpuSeconds(gpuUnits),
      lastComputingAt: timeJson(lastComputingAt),
    })),
    otherSubjects: rest.length === 0 ? null : { count: rest.length, ...sumJson(rest) },
    teams: [...groupedBy(subjects, ({ team }) => team)]
      .map(([team, own]) => ({ team, subjects: own.length, ...sumJson(own) }))
      .toSorted((a, b) => Number(a.team === null) - Number(b.team === null) || b.gpuSeconds - a.gpuSeconds),
    strips: {
      from: isoTime(strips.from),
      until: isoTime(strips.until),
      rows: strips.rows.map((row) => ({ ...row, lastComputingAt: timeJson(row.lastComputingAt) })),
    },
  };
}

function timeJson(time: Date | null): string | null {
  return time === null ? null : isoTime(time);
}

function sumJson(subjects: readonly SubjectMoney[]) {
  const sum = (amounts: readonly (bigint | null)[]): bigint | null => {
    const priced = amounts.filter((amount) => amount !== null);
    return priced.length === 0 ? null : priced.reduce((a, b) => a + b, 0n);
  };
  return {
    gpuSeconds: gpuSeconds(subjects.reduce((total, { gpuUnits }) => total + gpuUnits, 0n)),
    usdMicros: sum(subjects.map(({ usdMicros }) => usdMicros)),
    marginalUsdMicros: sum(subjects.map(({ marginalUsdMicros }) => marginalUsdMicros)),
  };
}

type PartRow = Pick<FindingPart, 'day' | 'subject' | 'deviceId' | 'category' | 'reason' | 'permille'> & {
  readonly usdMicros: string | null;
  readonly marginalUsdMicros: string | null;
  readonly gpuSeconds: number;
};

/** The rows of the ledger's days behind a finding, one line each. */
export function findingPartsCsv(id: string | null, parts: readonly PartRow[]): string {
  const micros = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
  const columns = ['finding', 'day', 'subject', 'device', 'category', 'reason', 'permille'];
  return [
    csvLine([...columns, 'usdMicros', 'marginalUsdMicros', 'gpuSeconds']),
    ...parts.map((part) =>
      csvLine([
        id,
        part.day,
        part.subject,
        part.deviceId,
        part.category,
        part.reason,
        part.permille,
        micros(part.usdMicros),
        micros(part.marginalUsdMicros),
        part.gpuSeconds,
      ]),
    ),
  ].join('');
}

/** Rows by a key, in the order in which keys first appear. */
export function groupedBy<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): ReadonlyMap<Key, readonly Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}
