import type { DeviceBinding } from '../facts/source.ts';
import type { KnownNode, SourceChange, SourceRecord, SourceStore, UnnamedHolder } from '../facts/source-record.ts';
import { podKey } from '../facts/source-record.ts';
import type { Database, SqlRow } from './database.ts';

/** Two sightings of one device in one place this far apart are one stay; longer silence may hide a change. */
const SAME_STAY_MS = 15 * 60_000;

/** Folders from before sources were collected lack these; every writer adds them. */
const SOURCE_TABLES = `
  CREATE TABLE IF NOT EXISTS source (
    name TEXT PRIMARY KEY,
    record_json TEXT NOT NULL,
    cursor_json TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS device_binding (
    device_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    gpu_index INTEGER NOT NULL,
    pod TEXT NOT NULL,
    from_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    PRIMARY KEY (device_id, node_id, gpu_index, pod, from_ms)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS device_binding_by_place ON device_binding (node_id, gpu_index);
  CREATE INDEX IF NOT EXISTS device_binding_by_pod ON device_binding (pod);
  CREATE TABLE IF NOT EXISTS known_node (
    node_id TEXT NOT NULL,
    source TEXT NOT NULL,
    resource_id TEXT,
    alias TEXT,
    priority INTEGER NOT NULL,
    PRIMARY KEY (node_id, source)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS unnamed_holder (
    source TEXT NOT NULL,
    batch TEXT NOT NULL,
    row_key TEXT NOT NULL,
    value_json TEXT NOT NULL,
    PRIMARY KEY (source, batch, row_key)
  ) STRICT, WITHOUT ROWID`;

const NO_INDEX = -1;

export function createSourceTables(database: Database): void {
  database.exec(SOURCE_TABLES);
}

/** `within` runs work on a connection: one that may write, or a reader's. */
export function sourceStore(within: <Result>(work: (database: Database) => Result) => Result): SourceStore {
  return {
    records: () => within((database) => (hasTables(database) ? database.all(RECORDS).map(recordOf) : [])),
    cursor: (name) => within((database) => (hasTables(database) ? cursorOf(database, name) : undefined)),
    save: (change) => within((database) => database.transaction('immediate', () => save(database, change))),
    bindings: (asked) => within((database) => (hasTables(database) ? bindingsOf(database, asked) : [])),
    knownNodes: () => within((database) => (hasTables(database) ? database.all(NODES).map(nodeOf) : [])),
    keepUnnamed: (holders) =>
      within((database) =>
        database.transaction('immediate', () => {
          for (const { source, batch, ...value } of holders) {
            const key = holderKey(value);
            database.run(
              'INSERT OR REPLACE INTO unnamed_holder VALUES (?, ?, ?, ?)',
              source,
              batch,
              key,
              JSON.stringify(value),
            );
          }
        }),
      ),
    unnamed: () => within((database) => (hasTables(database) ? database.all(UNNAMED).map(holderOf) : [])),
    forgetUnnamed: (holders) =>
      within((database) =>
        database.transaction('immediate', () => {
          for (const { source, batch, ...value } of holders) {
            database.run(
              'DELETE FROM unnamed_holder WHERE source = ? AND batch = ? AND row_key = ?',
              source,
              batch,
              holderKey(value),
            );
          }
        }),
      ),
  };
}

const RECORDS = 'SELECT record_json FROM source ORDER BY name';
const NODES =
  'SELECT node_id, source, resource_id, alias, priority FROM known_node ORDER BY node_id, priority DESC, source';

const UNNAMED = 'SELECT source, batch, value_json FROM unnamed_holder ORDER BY source, batch, row_key LIMIT 100000';

function holderKey({ row }: Pick<UnnamedHolder, 'row'>): string {
  return JSON.stringify([
    row['source'],
    row['allocation_id'],
    row['attempt'] ?? 0,
    row['node_id'] ?? '',
    row['held_from'],
  ]);
}

function holderOf(row: SqlRow): UnnamedHolder {
  const value = JSON.parse(String(row['value_json'])) as Omit<UnnamedHolder, 'source' | 'batch'>;
  return { source: String(row['source']), batch: String(row['batch']), ...value };
}

function hasTables(database: Database): boolean {
  return database.all("SELECT 1 AS found FROM sqlite_schema WHERE name = 'source'").length > 0;
}

function cursorOf(database: Database, name: string): unknown {
  const [row] = database.all('SELECT cursor_json FROM source WHERE name = ?', name);
  const text = row?.['cursor_json'];
  return typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined;
}

function save(database: Database, { record, cursor, bindings = [], nodes = [] }: SourceChange): void {
  database.run(
    `INSERT INTO source (name, record_json, cursor_json) VALUES (?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET record_json = excluded.record_json,
       cursor_json = CASE WHEN ? = 1 THEN excluded.cursor_json ELSE cursor_json END`,
    record.name,
    JSON.stringify(record),
    cursor === undefined ? null : JSON.stringify(cursor.value ?? null),
    cursor === undefined ? 0 : 1,
  );
  for (const binding of bindings) saveBinding(database, binding);
  for (const { nodeId, source, resourceId, alias, priority } of nodes) {
    database.run(
      'INSERT OR REPLACE INTO known_node VALUES (?, ?, ?, ?, ?)',
      nodeId,
      source,
      resourceId ?? null,
      alias ?? null,
      priority,
    );
  }
}

/** Sightings that touch become one stay, in whatever order they come. */
function saveBinding(database: Database, binding: DeviceBinding): void {
  const { deviceId, nodeId, gpuIndex = NO_INDEX, pod } = binding;
  const place = [deviceId, nodeId, gpuIndex, pod === undefined ? '' : podKey(pod)] as const;
  const [fromMs, untilMs] = [binding.from.getTime(), binding.until.getTime()];
  const touching = database.all(
    `SELECT from_ms, until_ms FROM device_binding
     WHERE device_id = ? AND node_id = ? AND gpu_index = ? AND pod = ? AND from_ms <= ? AND until_ms >= ?`,
    ...place,
    untilMs + SAME_STAY_MS,
    fromMs - SAME_STAY_MS,
  );
  const within = touching.some((row) => Number(row['from_ms']) <= fromMs && Number(row['until_ms']) >= untilMs);
  if (within) return;
  for (const row of touching) {
    database.run(
      'DELETE FROM device_binding WHERE device_id = ? AND node_id = ? AND gpu_index = ? AND pod = ? AND from_ms = ?',
      ...place,
      Number(row['from_ms']),
    );
  }
  const first = Math.min(fromMs, ...touching.map((row) => Number(row['from_ms'])));
  const last = Math.max(untilMs, ...touching.map((row) => Number(row['until_ms'])));
  database.run('INSERT INTO device_binding VALUES (?, ?, ?, ?, ?, ?)', ...place, first, last);
}

/** SQLite takes a bounded number of values in one statement. */
const ASKED_AT_ONCE = 500;

function bindingsOf(
  database: Database,
  { nodeIds = [], pods = [] }: { readonly nodeIds?: readonly string[]; readonly pods?: readonly string[] },
): DeviceBinding[] {
  const found: DeviceBinding[] = [];
  for (const [column, asked] of [
    ['node_id', nodeIds],
    ['pod', pods],
  ] as const) {
    for (let at = 0; at < asked.length; at += ASKED_AT_ONCE) {
      const some = asked.slice(at, at + ASKED_AT_ONCE);
      const rows = database.all(
        `SELECT device_id, node_id, gpu_index, pod, from_ms, until_ms FROM device_binding
         WHERE ${column} IN (${some.map(() => '?').join(', ')}) ORDER BY from_ms, device_id`,
        ...some,
      );
      for (const row of rows) found.push(bindingOf(row));
    }
  }
  return found;
}

function bindingOf(row: SqlRow): DeviceBinding {
  const gpuIndex = Number(row['gpu_index']);
  const pod = String(row['pod']);
  const slash = pod.indexOf('/');
  return {
    deviceId: String(row['device_id']),
    nodeId: String(row['node_id']),
    ...(gpuIndex !== NO_INDEX && { gpuIndex }),
    ...(slash >= 0 && { pod: { namespace: pod.slice(0, slash), name: pod.slice(slash + 1) } }),
    from: new Date(Number(row['from_ms'])),
    until: new Date(Number(row['until_ms'])),
  };
}

function nodeOf(row: SqlRow): KnownNode {
  const { resource_id: resourceId, alias } = row;
  return {
    nodeId: String(row['node_id']),
    ...(typeof resourceId === 'string' && { resourceId }),
    ...(typeof alias === 'string' && { alias }),
    priority: Number(row['priority']),
    source: String(row['source']),
  };
}

const TIMES = new Set(['firstTriedAt', 'lastTriedAt', 'lastOkAt', 'coveredUntil', 'at', 'from', 'until']);

/** Dates are text in the file. */
function recordOf(row: SqlRow): SourceRecord {
  return JSON.parse(String(row['record_json']), (key, value: unknown) =>
    TIMES.has(key) && typeof value === 'string' ? new Date(value) : value,
  ) as SourceRecord;
}
