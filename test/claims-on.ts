import { z } from 'zod';
import type { Claim, Detector } from '../src/facts/detector.ts';
import { openEngine } from '../src/lake/engine.ts';
import type { Stage } from '../src/facts/stage.ts';
import { bareTime } from '../src/ledger/bare-time.ts';
import { lifeDay } from '../src/ledger/life-day.ts';
import { nodeDay } from '../src/ledger/node-day.ts';
import { tableOf, type Row } from './stage-on.ts';

interface Asked {
  readonly from?: string;
  readonly until?: string;
  readonly now?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** `ownership` is no table of the lake but said when asked; a test says it. */
const OWNERSHIP = [
  ['day', 'DATE'],
  ['subject', 'VARCHAR'],
  ['profile_no', 'BIGINT'],
  ['workload_name', 'VARCHAR'],
  ['team', 'VARCHAR'],
  ['user_name', 'VARCHAR'],
  ['rule', 'VARCHAR'],
] as const;

type Tables = Readonly<Record<string, readonly Row[]>>;

const HOLDER_COLUMNS = ['cluster', 'namespace', 'account', 'user_name', 'workload_stem'];

/** What `subject` says of a holder and `subject_day` of a device, the ledger writes beside each stint; a test says it once. */
function withHolders({ stint_day: stints = [], subject: known = [], subject_day: paid = [] }: Tables): readonly Row[] {
  return stints.map((stint) => {
    const same = known.filter(({ subject }) => subject === stint['subject']);
    const holder = same.find((row) => row['day'] === stint['day']) ?? same[0];
    const device = paid.find(
      ({ device_id: id, subject, model }) =>
        model !== undefined && (id === undefined ? subject === stint['subject'] : id === stint['device_id']),
    );
    const said = HOLDER_COLUMNS.flatMap((name) =>
      holder?.[name] === undefined ? [] : [[name, holder[name]] as const],
    );
    return { ...Object.fromEntries(said), ...(device && { model: device['model'] ?? null }), ...stint };
  });
}

const HELD = new Set(['unknown', 'idle', 'starved', 'lost', 'computing']);

/** What `subject_day` says a replica cost, the ledger writes beside it; a test says it once. */
function withMoney({ service_day: replicas = [], subject_day: paid = [] }: Tables): readonly Row[] {
  return replicas.map((replica) => {
    const own = paid.filter(
      ({ day: paidDay, subject, category }) =>
        paidDay === replica['day'] &&
        subject === replica['subject'] &&
        typeof category === 'string' &&
        HELD.has(category),
    );
    const sum = (column: string): number => own.reduce((total, row) => total + Number(row[column] ?? 0), 0);
    const unpriced = own.filter((row) => row['usd_micros'] === undefined || row['usd_micros'] === null);
    return {
      ...(own.length > unpriced.length && { usd_micros: sum('usd_micros') }),
      paid_units: sum('gpu_units'),
      unpriced_units: unpriced.reduce((total, row) => total + Number(row['gpu_units'] ?? 0), 0),
      ...replica,
    };
  });
}

/**
 * What a detector claims of rows written down by hand, by its own SQL on a real engine. The window is the month up to
 * 2026-03-04 and now its end, unless said otherwise; tables a detector reads and nobody gives are empty.
 */
export async function claimsOn(
  asked: Detector,
  tables: Tables,
  { from = '2026-02-02', until = '2026-03-04', now = until, options = {} }: Asked = {},
): Promise<readonly Claim[]> {
  const context = { options: asked.options.parse(options), from: day(from), until: day(until), now: day(now) };
  const engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
  try {
    const queries = Object.entries(asked.ask(context.options));
    const read = queries.flatMap(([, { tables: named }]) =>
      named.map((need) => (typeof need === 'string' ? need : need.table)),
    );
    const given: Tables = { ...tables, stint_day: withHolders(tables), service_day: withMoney(tables) };
    for (const name of new Set(read.flatMap(withInputs))) await engine.run(madeOf(name, given[name] ?? []));
    const answers: Record<string, readonly unknown[]> = {};
    for (const [name, query] of queries) {
      const { from: start, until: end, now: moment } = context;
      const rows = await engine.rows(query.sql, { ...query.params, from: start, until: end, now: moment });
      answers[name] = z.array(query.row).parse(rows);
    }
    return asked.judge(answers, context);
  } finally {
    engine.close();
  }
}

/** Added up as the ledger does it: a test says what each holder made of each device, and where its money went. */
const ADDED_UP: ReadonlyMap<string, Stage> = new Map([lifeDay, nodeDay, bareTime].map((stage) => [stage.name, stage]));

/** Tables whose rows the ledger gives their subject as a number too. */
const KEYED: ReadonlySet<string> = new Set(['stint_day', 'subject_day']);

/** A table after those it is added up of. */
function withInputs(name: string): readonly string[] {
  const stage = ADDED_UP.get(name);
  return stage === undefined ? [name] : [...stage.reads.flatMap(({ table }) => withInputs(table)), name];
}

function madeOf(name: string, rows: readonly Row[]): string {
  const stage = ADDED_UP.get(name);
  if (stage !== undefined) return `CREATE TABLE ${name} AS ${stage.sql}`;
  if (name === 'known_profile') return `${tableOf('profile', rows)}; ALTER TABLE profile RENAME TO known_profile`;
  if (KEYED.has(name)) return `${tableOf(name, rows)}; UPDATE ${name} SET subject_key = text_digest(subject)`;
  if (name !== 'ownership') return tableOf(name, rows);
  const select = (row: Row): string =>
    `SELECT ${OWNERSHIP.map(([column, type]) => `CAST(${literal(row[column])} AS ${type}) AS ${column}`).join(', ')}`;
  return `CREATE TABLE ownership AS ${rows.length > 0 ? rows.map(select).join(' UNION ALL ') : `${select({})} WHERE FALSE`}`;
}

function literal(value: Row[string] | undefined): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : 'NULL';
}

function day(written: string): Date {
  return new Date(written.length === 10 ? `${written}T00:00:00Z` : `${written.replace(' ', 'T')}Z`);
}
