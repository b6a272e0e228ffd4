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

/** What rows are counted by; `subject_day` has these and no others. */
const COLUMNS = [
  'day',
  'subject',
  'source',
  'allocation_id',
  'attempt',
  'node_id',
  'device_id',
  'model',
  'cluster',
  'provider',
  'region',
  'purchase',
  'category',
  'reason',
] as const;

/** Rows by subject and day from `subject_day`, where it knows all that is asked; the waterfall says the rest. */
export function subjectRows(window: LedgerWindow, filters: readonly Filter[] = []): SubjectRows {
  const { whole, cut } = window;
  const isKnown = filters.every(({ dimension: { entryColumn, name } }) => {
    const column = name === 'day' ? 'day' : entryColumn.replace(/^w\./, '');
    return entryColumn.startsWith('o.') || COLUMNS.some((each) => each === column);
  });
  const sums = 'usd_micros, gpu_units, unpriced_units';
  const days = isKnown ? whole : undefined;
  const hours = hoursSql(days === undefined ? window : { ...window, whole: undefined }, 'hour_start');
  const needsHours = days === undefined || cut.length > 0;
  const cutDays = days === undefined ? daysOf(window) : { first: cut[0]?.day ?? '', last: cut.at(-1)?.day ?? '' };
  // The other columns are those that only the waterfall has; a filter may ask for them.
  const others = isKnown ? '' : 'hour_start, account, component, basis, bill_id, ';
  const selects = [
    ...(days === undefined ? [] : [`SELECT ${COLUMNS.join(', ')}, ${sums} FROM subject_day`]),
    ...(needsHours
      ? [
          `SELECT ${COLUMNS.join(', ')}, ${others}usd_micros, gpu_units,
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
