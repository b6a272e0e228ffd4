import type {
  IssuedStatement,
  StatementAdjustment,
  StatementClosing,
  StatementKind,
  StatementLine,
  StatementStore,
  StatementTotal,
} from '../facts/statement-record.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';

/**
 * Folders from before statements were issued lack these; every writer adds them. Amounts are text: they are whole numbers of any
 * size, and the driver's integers are not. Of a month at most one closing is in force.
 */
const STATEMENT_TABLES = `
  CREATE TABLE IF NOT EXISTS statement_closing (
    closing_no INTEGER PRIMARY KEY AUTOINCREMENT,
    month TEXT NOT NULL,
    closed_at TEXT NOT NULL,
    generation INTEGER NOT NULL,
    ledger_hash TEXT NOT NULL,
    bills_json TEXT NOT NULL,
    withdrawn_at TEXT
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS statement_closing_in_force ON statement_closing (month) WHERE withdrawn_at IS NULL;
  CREATE TABLE IF NOT EXISTS statement (
    number TEXT PRIMARY KEY,
    closing_no INTEGER NOT NULL REFERENCES statement_closing (closing_no),
    team TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('showback', 'chargeback')),
    cost_centre TEXT,
    account_code TEXT,
    usd_micros TEXT NOT NULL,
    answer_json TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS statement_line (
    number TEXT NOT NULL REFERENCES statement (number),
    line_no INTEGER NOT NULL,
    project TEXT,
    class TEXT,
    component TEXT NOT NULL,
    category TEXT NOT NULL,
    basis TEXT NOT NULL,
    usd_micros TEXT,
    gpu_units TEXT NOT NULL,
    PRIMARY KEY (number, line_no)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS statement_adjustment (
    number TEXT NOT NULL REFERENCES statement (number),
    month TEXT NOT NULL,
    usd_micros TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (number, month)
  ) STRICT, WITHOUT ROWID`;

export function createStatementTables(database: Database): void {
  database.exec(STATEMENT_TABLES);
}

/** `within` runs work on a connection: one that may write, or a reader's. */
export function statementStore(within: <Result>(work: (database: Database) => Result) => Result): StatementStore {
  return {
    closings: () => within((database) => (hasTables(database) ? closingsOf(database) : [])),
    statement: (number) => within((database) => (hasTables(database) ? statementOf(database, number) : undefined)),
    close: (closing, statements) =>
      within((database) => database.transaction('immediate', () => insertClosing(database, closing, statements))),
    withdraw: (month, at) =>
      within((database) =>
        database.transaction('immediate', () =>
          database.run(
            'UPDATE statement_closing SET withdrawn_at = ? WHERE month = ? AND withdrawn_at IS NULL',
            at,
            month,
          ),
        ),
      ),
  };
}

function hasTables(database: Database): boolean {
  return database.all("SELECT 1 AS found FROM sqlite_schema WHERE name = 'statement_closing'").length > 0;
}

function closingsOf(database: Database): StatementClosing[] {
  const adjustments = grouped(
    database.all('SELECT number, month, usd_micros, reason FROM statement_adjustment ORDER BY number, month'),
    'number',
  );
  const statements = grouped(
    database.all('SELECT number, closing_no, team, usd_micros FROM statement ORDER BY number'),
    'closing_no',
  );
  return database.all('SELECT * FROM statement_closing ORDER BY closing_no').map((row) => ({
    month: String(row['month']),
    closedAt: String(row['closed_at']),
    generation: Number(row['generation']),
    ledgerHash: String(row['ledger_hash']),
    bills: JSON.parse(String(row['bills_json'])) as Record<string, string>,
    withdrawnAt: textOf(row['withdrawn_at']),
    statements: (statements.get(String(row['closing_no'])) ?? []).map((each) =>
      totalOf(each, adjustments.get(String(each['number'])) ?? []),
    ),
  }));
}

function statementOf(database: Database, number: string): IssuedStatement | undefined {
  const [row] = database.all('SELECT * FROM statement WHERE number = ?', number);
  if (row === undefined) return undefined;
  const adjustments = database.all('SELECT * FROM statement_adjustment WHERE number = ? ORDER BY month', number);
  const lines = database.all('SELECT * FROM statement_line WHERE number = ? ORDER BY line_no', number);
  return {
    ...totalOf(row, adjustments),
    kind: String(row['kind']) as StatementKind,
    costCentre: textOf(row['cost_centre']),
    accountCode: textOf(row['account_code']),
    lines: lines.map(lineOf),
    answerJson: String(row['answer_json']),
  };
}

function insertClosing(
  database: Database,
  { month, closedAt, generation, ledgerHash, bills }: Omit<StatementClosing, 'withdrawnAt' | 'statements'>,
  statements: readonly IssuedStatement[],
): void {
  database.run(
    `INSERT INTO statement_closing (month, closed_at, generation, ledger_hash, bills_json) VALUES (?, ?, ?, ?, ?)`,
    month,
    closedAt,
    generation,
    ledgerHash,
    JSON.stringify(bills),
  );
  const [closing] = database.all('SELECT max(closing_no) AS closing_no FROM statement_closing');
  for (const { number, lines, adjustments, ...statement } of statements) {
    database.run(
      'INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      number,
      Number(closing?.['closing_no']),
      statement.team,
      statement.kind,
      statement.costCentre,
      statement.accountCode,
      String(statement.usdMicros),
      statement.answerJson,
    );
    for (const [index, line] of lines.entries()) {
      database.run(
        'INSERT INTO statement_line VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        number,
        index,
        line.project,
        line.class,
        line.component,
        line.category,
        line.basis,
        line.usdMicros === null ? null : String(line.usdMicros),
        String(line.gpuUnits),
      );
    }
    for (const { month: about, usdMicros, reason } of adjustments) {
      database.run('INSERT INTO statement_adjustment VALUES (?, ?, ?, ?)', number, about, String(usdMicros), reason);
    }
  }
}

function totalOf(row: SqlRow, adjustments: readonly SqlRow[]): StatementTotal {
  return {
    number: String(row['number']),
    team: textOf(row['team']),
    usdMicros: BigInt(String(row['usd_micros'])),
    adjustments: adjustments.map((each): StatementAdjustment => ({
      month: String(each['month']),
      usdMicros: BigInt(String(each['usd_micros'])),
      reason: String(each['reason']),
    })),
  };
}

function lineOf(row: SqlRow): StatementLine {
  const micros = textOf(row['usd_micros']);
  return {
    project: textOf(row['project']),
    class: textOf(row['class']),
    component: String(row['component']),
    category: String(row['category']),
    basis: String(row['basis']),
    usdMicros: micros === null ? null : BigInt(micros),
    gpuUnits: BigInt(String(row['gpu_units'])),
  };
}

function textOf(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

function grouped(rows: readonly SqlRow[], column: string): ReadonlyMap<string, readonly SqlRow[]> {
  const groups = new Map<string, SqlRow[]>();
  for (const row of rows) {
    const key = String(row[column]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
