import { SUBJECT_DAY_COLUMNS } from '../../ledger/subject-day.ts';
import type { TableNeed } from '../../lake/ask.ts';
import type { Params } from '../../lake/engine.ts';
import type { Filter } from '../filter.ts';
import { daysOf, hoursSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';

export interface SubjectRows {
  readonly tables: readonly TableNeed[];
  readonly params: Params;
  readonly sql: string;
}

/** Rows by subject and day from `subject_day`, where it knows all that is asked; the waterfall says the rest. */
export function subjectRows(window: LedgerWindow, filters: readonly Filter[] = []): SubjectRows {
  const { whole, cut } = window;
  const isKnown = filters.every(({ dimension: { entryColumn, name } }) => {
    const column = name === 'day' ? 'day' : entryColumn.replace(/^w\./, '');
    return entryColumn.startsWith('o.') || SUBJECT_DAY_COLUMNS.some((each) => each === column);
  });
  const sums = 'usd_micros, gpu_units, unpriced_units';
  const days = isKnown ? whole : undefined;
  const hours = hoursSql(days === undefined ? window : { ...window, whole: undefined }, 'hour_start');
  const needsHours = days === undefined || cut.length > 0;
  const cutDays = days === undefined ? daysOf(window) : { first: cut[0]?.day ?? '', last: cut.at(-1)?.day ?? '' };
  // The other columns are those that only the waterfall has; a filter may ask for them.
  const others = isKnown ? '' : 'hour_start, account, component, basis, bill_id, ';
  const selects = [
    ...(days === undefined ? [] : [`SELECT ${SUBJECT_DAY_COLUMNS.join(', ')}, ${sums} FROM subject_day`]),
    ...(needsHours
      ? [
          `SELECT ${SUBJECT_DAY_COLUMNS.join(', ')}, ${others}usd_micros, gpu_units,
                  CASE WHEN usd_micros IS NULL THEN gpu_units ELSE 0 END AS unpriced_units
           FROM waterfall WHERE ${hours.sql}`,
        ]
      : []),
  ];
  return {
    tables: [
      ...(days === undefined ? [] : [{ table: 'subject_day', ...days }]),
      ...(needsHours ? [{ table: 'waterfall', ...cutDays }] : []),
    ],
    params: needsHours ? hours.params : {},
    sql: selects.join(' UNION ALL '),
  };
}
