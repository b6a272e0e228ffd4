import type { TableNeed } from '../../lake/ask.ts';
import type { Params } from '../../lake/engine.ts';
import { SPEND_DAY_COLUMNS, SPEND_DAY_GROUPS } from '../../ledger/spend-day.ts';
import { daysOf, hoursSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';

/** Rows with the columns of `spend_day` for a window, the profiles they name as `known_profile`, and what to read for both. */
export interface WindowSpend {
  readonly tables: readonly TableNeed[];
  readonly params: Params;
  readonly sql: string;
}

/** From the sums of whole days, and sums of the same form of the hours that count of days that are cut. */
export function windowSpend(window: LedgerWindow): WindowSpend {
  const { whole, cut } = window;
  const cutDays = { first: cut[0]?.day ?? '', last: cut.at(-1)?.day ?? '' };
  const hours = hoursSql({ ...window, whole: undefined }, 'w.hour_start');
  const cutSql = `SELECT ${SPEND_DAY_COLUMNS} FROM waterfall w
    LEFT JOIN subject s ON w.day = s.day AND w.subject = s.subject WHERE ${hours.sql} GROUP BY ${SPEND_DAY_GROUPS}`;
  return {
    tables: [
      { table: 'known_profile', ...daysOf(window) },
      ...(whole === undefined ? [] : [{ table: 'spend_day', ...whole }]),
      ...(cut.length === 0 ? [] : ['waterfall', 'subject'].map((table) => ({ table, ...cutDays }))),
    ],
    params: cut.length === 0 ? {} : hours.params,
    sql: [...(whole === undefined ? [] : ['SELECT * FROM spend_day']), ...(cut.length === 0 ? [] : [cutSql])].join(
      ' UNION ALL BY NAME ',
    ),
  };
}
