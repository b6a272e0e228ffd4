import { nearestName } from '../facts/nearest-name.ts';
import { OperationError } from '../facts/operation-error.ts';
import { shellWord } from '../facts/shell-word.ts';
import { addDays, dayOf, parseTime } from '../lake/calendar.ts';
import { quote } from '../lake/engine.ts';
import { counted } from '../report/figures.ts';
import type { JobAnswer, JobAttempt, JobDevice } from '../report/job-page.ts';
import { hiddenCosts } from './beside/hidden-costs.ts';
import { filterOn } from './filter.ts';
import { subjectOwners } from './findings/finding-owners.ts';
import type { Filter } from './filter.ts';
import { decideNow } from './now.ts';
import { ledgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

export interface JobRequest {
  /** Its allocation id, or `source/allocation_id`. */
  readonly id: string;
  readonly asOf?: Date;
  readonly clock: Date;
  /** Only where it is this team's; of another's nothing is said, not even that it is there. */
  readonly team?: string;
}

interface HoldingRow {
  readonly source: string;
  readonly allocationId: string;
  readonly attempt: bigint;
  readonly heldFrom: string;
  readonly heldUntil: string | null;
  readonly outcome: string | null;
  readonly gpus: bigint;
}

interface MoneyRow {
  /** Null for what stands beside the GPU: storage and traffic of its machines. */
  readonly deviceId: string | null;
  readonly nodeId: string | null;
  readonly model: string | null;
  readonly basis: string;
  readonly category: JobAnswer['categories'][number]['category'];
  /** What bound it, of what computed. */
  readonly reason: string | null;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
}

type Owner = Pick<JobAnswer, 'name' | 'user' | 'team' | 'project' | 'class' | 'cluster'>;

const NEAREST_SHOWN = 3;
const CATEGORIES = ['computing', 'idle', 'starved', 'lost', 'unknown'] as const;

/**
 * Question: what did one job cost, and what did its GPUs do meanwhile?
 *
 * Reads: allocation, and of the days it held anything waterfall, ledger_entry, stint_day, ownership and what `hiddenCosts` reads.
 */
export async function job(space: ReadSpace, request: JobRequest): Promise<JobAnswer> {
  const now = decideNow(request.asOf, space.scope?.horizon, request.clock).at;
  const { team } = request;
  const holdings = await holdingsOf(space, request.id, now);
  const first = holdings[0];
  if (first === undefined)
    throw team === undefined ? await unknownJob(space, request.id, now) : notOfTeam(request.id, team);
  const sources = [...new Set(holdings.map(({ source }) => source))];
  if (sources.length > 1) {
    // That an id is known twice says as much of others' jobs as that it is known.
    if (team !== undefined) throw notOfTeam(request.id, team);
    throw new OperationError('ambiguous-job', `${request.id} is a job of ${sources.join(' and of ')}`, {
      hint: `Say which: ${sources.map((source) => `bursar job ${source}/${first.allocationId}`).join(', or ')}.`,
    });
  }
  const attempts = attemptsOf(holdings, now);
  const days = {
    first: dayOf(attempts.map(({ heldFrom }) => heldFrom).reduce((a, b) => (a < b ? a : b))),
    last: dayOf(attempts.map(({ heldUntil }) => heldUntil ?? now).reduce((a, b) => (a > b ? a : b))),
  };
  const subjects = [...new Set(holdings.map((row) => `job ${row.source}/${row.allocationId}/${row.attempt}`))];
  const owner = await ownerOf(space, subjects, days);
  // Before anything is worked out: how long it takes says nothing about others' jobs either.
  if (team !== undefined && owner.team !== team) throw notOfTeam(request.id, team);
  const money = await moneyOf(space, subjects, days, now);
  const sum = (rows: readonly MoneyRow[]): bigint | null => sumMicros(rows);
  return {
    asOf: now,
    source: first.source,
    allocationId: first.allocationId,
    ...owner,
    attempts,
    categories: CATEGORIES.map((category) => {
      const rows = money.filter((row) => row.category === category);
      return { category, usdMicros: rows.length === 0 ? 0n : sum(rows), gpuUnits: sumUnits(rows) };
    }),
    computingBy: reasonsOf(money.filter(({ category }) => category === 'computing')),
    usdMicros: money.length === 0 ? 0n : sum(money),
    unpricedUnits: sumUnits(money.filter(({ usdMicros }) => usdMicros === null)),
    conflictUnits: await conflictOf(space, subjects, days, now),
    sharedSeconds: await sharedOf(space, subjects, days),
    basisUsdMicros: Object.fromEntries(
      [...new Set(money.map(({ basis }) => basis))]
        .filter((basis) => basis !== 'unpriced')
        .map((basis) => [basis, sum(money.filter((row) => row.basis === basis)) ?? 0n]),
    ),
    devices: devicesOf(money),
    beside: await besideOf(space, first, days, now),
    findings: await findingsOf(space, subjects, days, team),
  };
}

/** What bound the time that computed, the longest first. */
function reasonsOf(computing: readonly MoneyRow[]): JobAnswer['computingBy'] {
  return [...new Set(computing.map(({ reason }) => reason))]
    .map((reason) => {
      const rows = computing.filter((row) => row.reason === reason);
      return { reason, usdMicros: sumMicros(rows), gpuUnits: sumUnits(rows) };
    })
    .toSorted((a, b) => Number(b.gpuUnits - a.gpuUnits) || (a.reason ?? '').localeCompare(b.reason ?? '', 'en'));
}

/** Others of a finding may have held GPUs so long before or after the job. */
const FINDING_DAYS = 31;

/** What the last look at everything found about it, and nobody has set aside; for a team only what is about nothing but its own. */
async function findingsOf(
  space: ReadSpace,
  subjects: readonly string[],
  days: DayRange,
  team: string | undefined,
): Promise<JobAnswer['findings']> {
  const about = space.findings
    .records()
    .filter((record) => record.subjects.some((subject) => subjects.includes(subject)))
    .filter(({ state }) => state !== 'fixed' && state !== 'dismissed');
  const others = new Set(about.flatMap((record) => record.subjects));
  const span = { first: addDays(days.first, -FINDING_DAYS), last: addDays(days.last, FINDING_DAYS) };
  const owners = team === undefined ? new Map<string, never>() : await subjectOwners(space, others, span);
  return about
    .filter((record) => team === undefined || record.subjects.every((subject) => owners.get(subject)?.team === team))
    .map(({ number, what, state }) => ({ number, what, state }));
}

/** The same words for what is not there and for what is another team's. */
function notOfTeam(id: string, team: string): OperationError {
  return new OperationError('unknown-job', `no job ${id} of team ${team} is known`, {
    hint: 'A viewer of one team sees the jobs of that team; /jobs lists them. Two sources may have one id: say source/id.',
  });
}

/** What its machines cost beside the GPU, and who waited while its GPUs were idle. */
async function besideOf(
  space: ReadSpace,
  { source, allocationId }: HoldingRow,
  days: DayRange,
  now: Date,
): Promise<JobAnswer['beside']> {
  const ofSource: Filter = { dimension: { name: 'source', entryColumn: 'w.source' }, values: [source] };
  const window = ledgerWindow(`${days.first}/${addDays(days.last, 1)}`, now, space.scope);
  const { parts, waiting } = await hiddenCosts(space, [filterOn('job', allocationId), ofSource], window);
  return { parts, waiting };
}

/** Rows of the job that began before now; ends after now are not known yet. */
async function holdingsOf(space: ReadSpace, id: string, now: Date): Promise<HoldingRow[]> {
  return space.ask<HoldingRow>({
    tables: [{ table: 'allocation' }],
    params: { id, now },
    sql: `SELECT source, allocation_id AS "allocationId", attempt, held_from AS "heldFrom",
                 CASE WHEN held_until <= $now THEN held_until END AS "heldUntil",
                 CASE WHEN held_until <= $now THEN outcome END AS outcome, gpu_count AS gpus
          FROM allocation WHERE (allocation_id = $id OR source || '/' || allocation_id = $id) AND held_from < $now
          ORDER BY source, attempt, held_from, node_id, slot`,
  });
}

function attemptsOf(holdings: readonly HoldingRow[], now: Date): JobAttempt[] {
  const byAttempt = new Map<bigint, HoldingRow[]>();
  for (const row of holdings) byAttempt.set(row.attempt, [...(byAttempt.get(row.attempt) ?? []), row]);
  return [...byAttempt].map(([attempt, rows]) => {
    const ends = rows.map(({ heldUntil }) => (heldUntil === null ? null : parseTime(heldUntil)));
    const isOpen = ends.includes(null);
    return {
      attempt: Number(attempt),
      heldFrom: rows.map(({ heldFrom }) => parseTime(heldFrom)).reduce((a, b) => (a < b ? a : b)),
      heldUntil: isOpen ? null : ends.map((end) => end ?? now).reduce((a, b) => (a > b ? a : b)),
      outcome: rows.find(({ outcome }) => outcome !== null)?.outcome ?? null,
      gpus: Number(mostAtOnce(rows, now)),
    };
  });
}

/** GPUs held at one time. A device that was replaced while the job ran has two rows, one after the other: that is one GPU. */
function mostAtOnce(rows: readonly HoldingRow[], now: Date): bigint {
  const changes = rows.flatMap(({ heldFrom, heldUntil, gpus }) => {
    const from = parseTime(heldFrom).getTime();
    const until = heldUntil === null ? now.getTime() : parseTime(heldUntil).getTime();
    // What ended as it began was held all the same.
    return [
      { at: from, gpus },
      { at: Math.max(until, from + 1), gpus: -gpus },
    ];
  });
  let [held, most] = [0n, 0n];
  for (const { gpus } of changes.toSorted((a, b) => a.at - b.at || Number(a.gpus - b.gpus))) {
    held += gpus;
    if (held > most) most = held;
  }
  return most;
}

interface DayRange {
  readonly first: string;
  readonly last: string;
}

function among(subjects: readonly string[]): string {
  return `subject IN (${subjects.map(quote).join(', ')})`;
}

async function moneyOf(space: ReadSpace, subjects: readonly string[], days: DayRange, now: Date): Promise<MoneyRow[]> {
  return space.ask<MoneyRow>({
    tables: [{ table: 'waterfall', ...days }],
    params: { now },
    sql: `SELECT device_id AS "deviceId", min(node_id) AS "nodeId", min(model) AS model, basis, category,
                 CASE WHEN category = 'computing' THEN reason END AS reason,
                 CAST(sum(usd_micros) AS BIGINT) AS "usdMicros", CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits"
          FROM waterfall WHERE ${among(subjects)} AND hour_start < $now
          GROUP BY device_id, basis, category, CASE WHEN category = 'computing' THEN reason END
          ORDER BY min(node_id), device_id, basis, category, reason`,
  });
}

async function conflictOf(space: ReadSpace, subjects: readonly string[], days: DayRange, now: Date): Promise<bigint> {
  const [row] = await space.ask<{ gpuUnits: bigint | null }>({
    tables: [{ table: 'ledger_entry', ...days }],
    params: { now },
    sql: `SELECT CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits" FROM ledger_entry
          WHERE conflict AND ${among(subjects)} AND hour_start < $now`,
  });
  return row?.gpuUnits ?? 0n;
}

/** For how long others held its GPUs too, whole hours of a job that is open included. */
async function sharedOf(space: ReadSpace, subjects: readonly string[], days: DayRange): Promise<number> {
  const [row] = await space.ask<{ sharedS: bigint | null }>({
    tables: [{ table: 'stint_day', ...days }],
    sql: `SELECT CAST(sum(shared_s) AS BIGINT) AS "sharedS" FROM stint_day WHERE ${among(subjects)}`,
  });
  return Number(row?.sharedS ?? 0n);
}

/** What the last day says of it. */
async function ownerOf(space: ReadSpace, subjects: readonly string[], days: DayRange): Promise<Owner> {
  const owners = await space.ask<Omit<Owner, 'cluster'>>({
    tables: [{ table: 'ownership', ...days }],
    sql: `SELECT workload_name AS name, user_name AS "user", team, project, class FROM ownership
          WHERE ${among(subjects)} ORDER BY day DESC, subject DESC LIMIT 1`,
  });
  const clusters = await space.ask<{ cluster: string | null }>({
    tables: [{ table: 'holding', ...days }],
    sql: `SELECT cluster FROM holding
          WHERE 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) IN (${subjects.map(quote).join(', ')})
          ORDER BY day DESC, cluster LIMIT 1`,
  });
  const nobody = { name: null, user: null, team: null, project: null, class: null };
  return { ...(owners[0] ?? nobody), cluster: clusters[0]?.cluster ?? null };
}

function devicesOf(money: readonly MoneyRow[]): JobDevice[] {
  const byDevice = new Map<string, MoneyRow[]>();
  for (const row of money) {
    if (row.deviceId !== null) byDevice.set(row.deviceId, [...(byDevice.get(row.deviceId) ?? []), row]);
  }
  return [...byDevice].map(([deviceId, rows]) => {
    const units = (category: string): bigint => sumUnits(rows.filter((row) => row.category === category));
    return {
      deviceId,
      nodeId: rows[0]?.nodeId ?? null,
      model: rows[0]?.model ?? null,
      usdMicros: sumMicros(rows),
      computingUnits: units('computing'),
      idleUnits: units('idle'),
      starvedUnits: units('starved'),
      lostUnits: units('lost'),
      unknownUnits: units('unknown'),
    };
  });
}

function sumUnits(rows: readonly { readonly gpuUnits: bigint }[]): bigint {
  return rows.reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n);
}

function sumMicros(rows: readonly { readonly usdMicros: bigint | null }[]): bigint | null {
  return rows.reduce<bigint | null>((sum, { usdMicros }) => (usdMicros === null ? sum : (sum ?? 0n) + usdMicros), null);
}

/** Ids that are looked through where none begins like the one that was asked for. */
const IDS_COMPARED = 10_000;
const PREFIX_LENGTH_MAX = 40;
/** Among ten thousand ids of letters and digits, one shares a third of its pairs by chance. */
const IDS_ALIKE_MIN = 0.5;
const NAMESAKES_SHOWN = 5;

async function unknownJob(space: ReadSpace, id: string, now: Date): Promise<OperationError> {
  const named = await jobsNamed(space, id, now);
  if (named !== undefined) return named;
  const near = await nearestIds(space, id.slice(id.indexOf('/') + 1));
  const hint =
    near === undefined
      ? 'No allocations are in the data folder: bursar import allocations FILE.'
      : near.length > 0
        ? `Nearest: ${near.join(', ')}.`
        : 'bursar spend --by job lists those that cost most.';
  return new OperationError('unknown-job', `no job ${id} is known`, { hint });
}

/** Screens show names, so people type them: which jobs go by this one, the newest first. Undefined where none does. */
async function jobsNamed(space: ReadSpace, name: string, now: Date): Promise<OperationError | undefined> {
  const rows = await space.ask<{ id: string; heldFrom: string; jobs: bigint }>({
    tables: [{ table: 'allocation' }],
    params: { name, now },
    sql: `SELECT source || '/' || allocation_id AS id, min(held_from) AS "heldFrom", count(*) OVER () AS jobs
          FROM allocation WHERE workload_name = $name AND held_from < $now
          GROUP BY source, allocation_id ORDER BY min(held_from) DESC, id LIMIT ${NAMESAKES_SHOWN}`,
  });
  const [newest] = rows;
  if (newest === undefined) return undefined;
  const told = rows.map(({ id, heldFrom }) => `${id} (from ${dayOf(parseTime(heldFrom))})`).join(', ');
  const more = newest.jobs > rows.length ? ', …' : '';
  const word = shellWord(newest.id);
  return new OperationError(
    'unknown-job',
    `${name} is the name of ${counted(Number(newest.jobs), 'job')}: ${told}${more}`,
    { hint: `Ask for one by its id: bursar job ${word}, or bursar receipt ${word}.` },
  );
}

/**
 * Ids are counted up, so that the nearest begin alike, half of them at least; where none does, the one most alike. Undefined where there
 * are none at all.
 */
async function nearestIds(space: ReadSpace, id: string): Promise<readonly string[] | undefined> {
  const lengths = Array.from({ length: Math.min(id.length, PREFIX_LENGTH_MAX) }, (_, place) => place + 1).toReversed();
  const alike = lengths.map((length) => `WHEN substr(id, 1, ${length}) = ${quote(id.slice(0, length))} THEN ${length}`);
  const alikeSql = alike.length === 0 ? '0' : `CASE ${alike.join(' ')} ELSE 0 END`;
  const ask = async (sql: string, params: Readonly<Record<string, bigint>>): Promise<string[]> => {
    const rows = await space.ask<{ id: string }>({ tables: [{ table: 'allocation' }], params, sql });
    return rows.map((row) => row.id);
  };
  const ids = 'SELECT DISTINCT allocation_id AS id FROM allocation';
  const near = await ask(
    `SELECT id FROM (SELECT id, ${alikeSql} AS alike FROM (${ids}) known) ranked WHERE alike > 0 AND 2 * alike >= $length
     ORDER BY alike DESC, abs(length(id) - $length), id LIMIT ${NEAREST_SHOWN}`,
    { length: BigInt(id.length) },
  );
  if (near.length > 0) return near;
  const known = await ask(`${ids} ORDER BY id LIMIT ${IDS_COMPARED}`, {});
  return known.length === 0 ? undefined : [nearestName(id, known, IDS_ALIKE_MIN)].flatMap((other) => other ?? []);
}
