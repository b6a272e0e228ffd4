import { OperationError } from '../../facts/operation-error.ts';
import { ask } from '../../lake/ask.ts';
import { printTime } from '../../lake/calendar.ts';
import { STAGES } from '../../ledger/stages.ts';
import { parseDecimal } from '../../money/usd.ts';
import type { RecordedWork } from '../../report/work-page.ts';
import { writeHaul } from '../collect/write-haul.ts';
import { withWriter } from '../workspace.ts';
import type { WriteSpace } from '../workspace.ts';
import { QUANTITY_DIGITS } from './work-done.ts';

export interface RecordWorkRequest {
  readonly dataDir: string;
  readonly run: string;
  readonly unit: string;
  /** A decimal, as the person wrote it. */
  readonly quantity: string;
  /** The moment it was done by; without `at`, `from` and `until` it is now. */
  readonly at?: Date;
  readonly from?: Date;
  readonly until?: Date;
  readonly job?: string;
  readonly id?: string;
  readonly clock: Date;
}

const SOURCE = 'recorded';
const MOST = 1_000_000_000_000_000n;

/**
 * Promise: one row of work is in the lake when this returns, or nothing has changed.
 *
 * The same id, unit and time again is refused with what is there: a script that is run twice must not double what was achieved.
 */
export async function recordWork(request: RecordWorkRequest): Promise<RecordedWork> {
  const row = checkedRow(request);
  return withWriter(request.dataDir, 'work record', async (space) => {
    await refuseRecorded(space, row);
    const report = await writeHaul(
      space,
      { name: 'work', reads: 'bursar work record', priority: 0 },
      {
        facts: [
          {
            table: 'work',
            batch: `recorded/${row.from.toISOString().slice(0, 10)}`,
            mode: 'extend',
            rows: [factOf(row)],
          },
        ],
      },
    );
    const [problem] = report.skipped;
    if (problem !== undefined) {
      throw new OperationError('bad-work', `it cannot be recorded: ${problem.reason} ${problem.example}`, {
        hint: 'docs/FACTS.md has what the columns of work may hold.',
      });
    }
    return row;
  });
}

function factOf({ workId, unit, quantity, run, job, from, until, recordedAt }: RecordedWork) {
  return {
    source: SOURCE,
    work_id: workId,
    unit,
    window_from: from,
    window_until: until ?? undefined,
    quantity,
    allocation_id: job ?? undefined,
    run,
    observed_at: recordedAt,
  };
}

function checkedRow({ run, unit, quantity, at, from, until, job, id, clock }: RecordWorkRequest): RecordedWork {
  const amount = /^\d{1,16}(?:\.\d{1,6})?$/.test(quantity.trim()) ? parseDecimal(quantity, QUANTITY_DIGITS) : undefined;
  if (amount === undefined || amount > MOST * 1_000_000n) {
    throw new OperationError('bad-quantity', `--quantity ${quantity} is not a number of units`, {
      hint: 'A number from 0 to a thousand million millions, with at most six decimals: --quantity 1200.',
    });
  }
  for (const [option, text] of Object.entries({ run, unit, id, job })) {
    if (text !== undefined && text.trim() === '') {
      throw new OperationError('bad-option', `--${option} is empty`, { hint: `For example --${option} train-7b.` });
    }
  }
  if (at !== undefined && (from !== undefined || until !== undefined)) {
    throw new OperationError('bad-option', '--at is a moment, --from and --until a window: both cannot be meant', {
      hint: 'Give --at T, or --from T --until T.',
    });
  }
  if ((from === undefined) !== (until === undefined)) {
    throw new OperationError('bad-option', 'a window has a beginning and an end', { hint: 'Give --from T --until T.' });
  }
  if (from !== undefined && until !== undefined && until <= from) {
    throw new OperationError('bad-option', '--until does not lie after --from', { hint: 'Exchange them.' });
  }
  const second = (time: Date): Date => new Date(Math.floor(time.getTime() / 1000) * 1000);
  return {
    workId: id ?? run,
    run,
    unit: unit.trim(),
    quantity: quantity.trim(),
    from: second(from ?? at ?? clock),
    until: until === undefined ? null : second(until),
    job: job ?? null,
    recordedAt: second(clock),
  };
}

/** Windows of one id and unit may not overlap either: what lies in both would count twice. */
async function refuseRecorded({ engine, dataDir, manifest }: WriteSpace, row: RecordedWork): Promise<void> {
  const [there] = await ask<{ quantity: string; from: string; until: string | null; recorded: string }>(
    engine,
    dataDir,
    manifest.snapshot(),
    STAGES,
    {
      tables: [{ table: 'work' }],
      params: { source: SOURCE, id: row.workId, unit: row.unit, rowFrom: row.from, rowUntil: row.until ?? row.from },
      sql: `SELECT CAST(CAST(quantity AS DECIMAL(38, 6)) AS VARCHAR) AS quantity, window_from AS "from", window_until AS "until",
                   observed_at AS recorded
            FROM work
            WHERE source = $source AND work_id = $id AND unit = $unit
              AND (window_from = $rowFrom OR (window_from < $rowUntil AND COALESCE(window_until, window_from) > $rowFrom))
            ORDER BY window_from LIMIT 1`,
    },
  );
  if (there === undefined) return;
  const quantity = there.quantity.replace(/\.?0+$/, '');
  const window = there.until === null ? `at ${there.from}` : `from ${there.from} to ${there.until}`;
  throw new OperationError(
    'already-recorded',
    `${quantity} ${row.unit} of ${row.workId} ${window} UTC are recorded already, at ${there.recorded}; nothing was added`,
    {
      hint: `If this is other work, tell it apart: another --at than ${printTime(row.from)}, or --id.`,
    },
  );
}
