import { SHARE_UNITS } from '../facts/column.ts';
import { nearestName } from '../facts/nearest-name.ts';
import { OperationError } from '../facts/operation-error.ts';
import { addDays, dayOf, parseTime } from '../lake/calendar.ts';
import { quote } from '../lake/engine.ts';
import type { MeAnswer, MyHolding, MyRun, MySpend } from '../report/me-page.ts';
import type { Filter } from './filter.ts';
import { filterOn, parseDimensions } from './filter.ts';
import { LIFE_GPUS, MODEL_TABLES, WITH_MODEL } from './held-model.ts';
import { idleNow } from './idle.ts';
import { decideNow, lastKnownMoment } from './now.ts';
import { waitingNow } from './queue/waiting-now.ts';
import { spend } from './spend.ts';
import { daysOf, ledgerWindow } from './window.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

export interface MeRequest {
  readonly user: string;
  /** The user was named, not taken from the machine. */
  readonly isNamed: boolean;
  readonly asOf?: Date;
  readonly window: string;
  readonly clock: Date;
}

const RUNS_SHOWN = 8;
/** Names given as examples where none is like the one asked for. */
const NAMES_SHOWN = 8;

/**
 * Question: what do I hold now, what does it cost, what of it is idle, and what did my runs cost?
 *
 * Reads: ownership, held, presence, ledger_entry, waterfall, allocation, and what `idleNow`, `waitingNow` and `spend` read.
 */
export async function me(space: ReadSpace, request: MeRequest): Promise<MeAnswer> {
  const now = decideNow(request.asOf, space.scope?.horizon, request.clock);
  const window = ledgerWindow(request.window, now.at, space.scope);
  const names = await namesOf(space, request);
  const isMine = (user: string | null): boolean => user !== null && names.includes(user);
  const idle = (await idleNow(space, now, { users: names })).holdings;
  const moment = space.scope === undefined ? undefined : lastKnownMoment(now.at, space.scope.horizon);
  const holdings = moment === undefined ? [] : await holdingsOf(space, moment, names);
  return {
    asOf: now.at,
    asOfBy: now.by,
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    names,
    holdings: holdings.map((holding) => {
      const unused = idle.find(
        ({ source, allocationId }) => source === holding.source && allocationId === holding.allocationId,
      );
      return { ...holding, idle: unused };
    }),
    spent: await spentBy(space, window, names),
    runs: await runsOf(space, window, now.at, names),
    waiting: (await waitingNow(space, now))?.filter(({ user }) => isMine(user)),
  };
}

/** The names a person goes by in the facts: as written, in other letters, or before an `@`. */
async function namesOf(space: ReadSpace, { user, isNamed }: MeRequest): Promise<string[]> {
  const rows = await space.ask<{ name: string }>({
    tables: [{ table: 'allocation' }, { table: 'waiting' }],
    sql: `SELECT DISTINCT user_name AS name FROM (SELECT user_name FROM allocation UNION ALL SELECT user_name FROM waiting) u
          WHERE user_name IS NOT NULL ORDER BY name`,
  });
  const known = rows.map(({ name }) => name);
  const plain = (name: string): string => (name.split('@')[0] ?? name).toLowerCase();
  const found = known.filter((name) => name === user || plain(name) === plain(user));
  if (found.length > 0) return found;
  const near = nearestName(user, known);
  const some = near === undefined ? known.slice(0, NAMES_SHOWN) : [near];
  const more = near === undefined && known.length > some.length ? ' …' : '';
  throw new OperationError('unknown-user', `nothing here belongs to ${user}`, {
    hint:
      known.length === 0
        ? 'No holding names its user; Kubernetes users come from labels, see docs/sources/kubernetes.md.'
        : `Say who you are there with --user${isNamed ? '' : `; the machine calls you ${user}`}. Known: ${some.join(', ')}${more}`,
  });
}

interface HeldRow {
  readonly source: string;
  readonly allocationId: string;
  readonly attempt: bigint;
  readonly job: string | null;
  readonly team: string | null;
  readonly shareUnits: bigint;
  readonly model: string | null;
  readonly nodeId: string | null;
  readonly heldFrom: string;
}

async function holdingsOf(
  space: ReadSpace,
  moment: Date,
  names: readonly string[],
): Promise<Omit<MyHolding, 'idle'>[]> {
  const last = dayOf(new Date(moment.getTime() - 1000));
  const first = addDays(last, -1);
  const rows = await space.ask<HeldRow>({
    tables: ['held', 'presence', 'ownership', 'holding'].map((table) => ({ table, first, last })),
    params: { moment, recent: new Date(moment.getTime() - 3_600_000) },
    sql: `
      WITH piece AS (
        SELECT * FROM (
          SELECT held.*, rank() OVER (PARTITION BY device_id ORDER BY from_at DESC) AS recency
          FROM held WHERE from_at < $moment
        ) ranked WHERE recency = 1 AND disposition = 'held' AND allocation_id IS NOT NULL AND until_at > $recent
      ), model AS (SELECT device_id, max(model) AS model FROM presence GROUP BY device_id
      ), mine AS (
        SELECT subject, max(workload_name) AS job, max(team) AS team FROM ownership
        WHERE user_name IN (${names.map(quote).join(', ')}) GROUP BY subject
      ), since AS (
        SELECT source, allocation_id, attempt, min(held_from) AS held_from FROM holding GROUP BY source, allocation_id, attempt
      )
      SELECT p.source, p.allocation_id AS "allocationId", p.attempt, m.job, m.team, p.share_units AS "shareUnits", d.model,
             p.node_id AS "nodeId", s.held_from AS "heldFrom"
      FROM piece p
      JOIN mine m ON m.subject = 'job ' || p.source || '/' || p.allocation_id || '/' || CAST(p.attempt AS VARCHAR)
      JOIN since s ON p.source = s.source AND p.allocation_id = s.allocation_id AND p.attempt = s.attempt
      LEFT JOIN model d ON p.device_id = d.device_id
      ORDER BY s.held_from, p.allocation_id, p.node_id, p.device_id`,
  });
  const groups = new Map<string, HeldRow[]>();
  for (const row of rows) {
    const subject = `job ${row.source}/${row.allocationId}/${row.attempt}`;
    groups.set(subject, [...(groups.get(subject) ?? []), row]);
  }
  if (groups.size === 0) return [];
  const money = await moneyOf(space, [...groups.keys()], dayOf(earliest(rows)), last, moment);
  return [...groups].flatMap(([subject, group]) => {
    const row = group[0];
    if (row === undefined) return [];
    const shareUnits = group.reduce((sum, each) => sum + each.shareUnits, 0n);
    const paid = money.get(subject);
    return [
      {
        source: row.source,
        allocationId: row.allocationId,
        job: row.job,
        team: row.team,
        shareUnits,
        models: [...new Set(group.flatMap(({ model }) => model ?? []))],
        nodes: [...new Set(group.flatMap(({ nodeId }) => nodeId ?? []))],
        heldFrom: parseTime(row.heldFrom),
        usdMicrosSoFar: paid?.usdMicros ?? null,
        usdMicrosPerHour:
          paid === undefined || paid.usdMicros === null || paid.pricedUnits === 0n
            ? null
            : (paid.usdMicros * shareUnits * 3600n) / paid.pricedUnits,
        computingPermille:
          paid === undefined || paid.knownUnits === 0n ? null : Number((paid.computingUnits * 1000n) / paid.knownUnits),
      },
    ];
  });
}

function earliest(rows: readonly { readonly heldFrom: string }[]): Date {
  return rows.map(({ heldFrom }) => parseTime(heldFrom)).reduce((a, b) => (a < b ? a : b));
}

interface Money {
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly pricedUnits: bigint;
  readonly computingUnits: bigint;
  readonly knownUnits: bigint;
}

/** What each subject's GPUs cost and did over these days. */
async function moneyOf(
  space: ReadSpace,
  subjects: readonly string[],
  first: string,
  last: string,
  now: Date,
): Promise<Map<string, Money>> {
  const rows = await space.ask<Money & { subject: string }>({
    tables: [{ table: 'waterfall', first, last }],
    params: { now },
    sql: `SELECT subject, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros", CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits",
                 COALESCE(CAST(sum(gpu_units) FILTER (WHERE usd_micros IS NOT NULL) AS BIGINT), 0) AS "pricedUnits",
                 COALESCE(CAST(sum(gpu_units) FILTER (WHERE category = 'computing') AS BIGINT), 0) AS "computingUnits",
                 COALESCE(CAST(sum(gpu_units) FILTER (WHERE category <> 'unknown') AS BIGINT), 0) AS "knownUnits"
          FROM waterfall WHERE subject IN (${subjects.map(quote).join(', ')}) AND hour_start < $now GROUP BY subject`,
  });
  return new Map(rows.map(({ subject, ...money }) => [subject, money]));
}

async function spentBy(space: ReadSpace, window: LedgerWindow, names: readonly string[]): Promise<MySpend[]> {
  const [first, ...others] = names;
  if (first === undefined) return [];
  const filter: Filter = { ...filterOn('user', first), values: [first, ...others] };
  const { rows } = await spend(space, { by: parseDimensions('class,category'), window, filters: [filter] });
  const classes = [...new Set(rows.map(({ values }) => values[0] ?? null))];
  return classes.map((name) => {
    const mine = rows.filter(({ values }) => (values[0] ?? null) === name);
    const sum = (category?: string): bigint =>
      mine
        .filter(({ values }) => category === undefined || values[1] === category)
        .reduce((total, { heldUnits }) => total + heldUnits, 0n);
    return {
      class: name,
      usdMicros: mine.reduce<bigint | null>(
        (total, { costUsdMicros }) => (costUsdMicros === null ? total : (total ?? 0n) + costUsdMicros),
        null,
      ),
      gpuUnits: sum(),
      computingUnits: sum('computing'),
      unknownUnits: sum('unknown'),
    };
  });
}

/** The runs that ended last in the window. */
async function runsOf(space: ReadSpace, window: LedgerWindow, now: Date, names: readonly string[]): Promise<MyRun[]> {
  if (window.days.length === 0) return [];
  const rows = await space.ask<{
    source: string;
    allocationId: string;
    attempt: bigint;
    job: string | null;
    outcome: string | null;
    gpus: bigint;
    isShared: boolean;
    heldFrom: string;
    heldUntil: string;
    model: string | null;
  }>({
    tables: MODEL_TABLES,
    params: { from: window.from, now },
    sql: `
      SELECT source, allocation_id AS "allocationId", attempt, min(workload_name) AS job, min(outcome) AS outcome,
             ${LIFE_GPUS} AS gpus, bool_or(isolation <> 'whole') AS "isShared", min(held_from) AS "heldFrom",
             max(held_until) AS "heldUntil", min(held_model) AS model
      FROM ${WITH_MODEL} a WHERE user_name IN (${names.map(quote).join(', ')})
      GROUP BY source, allocation_id, attempt
      HAVING count(*) = count(held_until) AND max(held_until) >= $from AND max(held_until) <= $now
      ORDER BY max(held_until) DESC, allocation_id LIMIT ${RUNS_SHOWN}`,
  });
  if (rows.length === 0) return [];
  const subject = (row: (typeof rows)[number]): string => `job ${row.source}/${row.allocationId}/${row.attempt}`;
  const money = await moneyOf(space, rows.map(subject), dayOf(earliest(rows)), daysOf(window).last, now);
  return rows.map((row) => {
    const paid = money.get(subject(row));
    const [heldFrom, heldUntil] = [parseTime(row.heldFrom), parseTime(row.heldUntil)];
    const seconds = BigInt(Math.round((heldUntil.getTime() - heldFrom.getTime()) / 1000));
    // What a slice or a share of a GPU comes to is the ledger's to say.
    const isPart = row.isShared && paid !== undefined && seconds > 0n;
    return {
      source: row.source,
      allocationId: row.allocationId,
      attempt: Number(row.attempt),
      job: row.job,
      outcome: row.outcome,
      shareUnits: isPart ? paid.gpuUnits / seconds : row.gpus * BigInt(SHARE_UNITS),
      model: row.model,
      heldFrom,
      heldUntil,
      usdMicros: paid?.usdMicros ?? null,
      computingUnits: paid?.computingUnits ?? 0n,
      knownUnits: paid?.knownUnits ?? 0n,
      gpuUnits: paid?.gpuUnits ?? 0n,
    };
  });
}
