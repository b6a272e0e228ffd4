import { OperationError } from '../../facts/operation-error.ts';
import type { Params } from '../../lake/engine.ts';
import { filterSql } from '../filter.ts';
import type { Filter } from '../filter.ts';

/** What devices can be told apart by without opening single entries, and the column of `presence` that says it. */
const PRESENCE_COLUMNS: Readonly<Record<string, string>> = {
  cluster: 'cluster',
  node: 'node_id',
  device: 'device_id',
  model: 'model',
  purchase: 'purchase',
  provider: 'provider',
  region: 'region',
  account: 'billing_account',
};

export interface MachineSql {
  readonly sql: string;
  readonly params: Params;
}

/**
 * Question: which devices are in the window, and where do they stand? One row each, as it was said of it last.
 *
 * Reads: presence.
 */
export function machineSql(filters: readonly Filter[]): MachineSql {
  const { sql, params } = filterSql(filters, ({ name }) => {
    const column = PRESENCE_COLUMNS[name];
    if (column !== undefined) return column;
    throw new OperationError('bad-filter', `the map of GPUs knows no ${name}`, {
      hint: `It is filtered by ${Object.keys(PRESENCE_COLUMNS).join(', ')}; bursar spend takes every dimension.`,
    });
  });
  return {
    params,
    sql: `
      SELECT device_id, max_by(root_device_id, from_at) AS root_device_id, max_by(node_id, from_at) AS node_id,
             max_by(model, from_at) AS model, max_by(cluster, from_at) AS cluster, max_by(purchase, from_at) AS purchase,
             max_by(state, from_at) AS state
      FROM presence WHERE ${sql} GROUP BY device_id`,
  };
}
