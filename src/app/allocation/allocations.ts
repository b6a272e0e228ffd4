import { OperationError } from '../../facts/operation-error.ts';
import type { TableNeed } from '../../lake/ask.ts';
import type { Params } from '../../lake/engine.ts';
import type { Allocations, AllocationSum } from '../../report/opencost-allocation.ts';
import { windowSpend } from '../rules/window-spend.ts';
import { daysOf, hoursSql, stepSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

const DAY_S = 86_400;
const SETS_MAX = 1000;
const PARTS_MAX = 5;

export interface AllocationRequest {
  readonly window: LedgerWindow;
  /** As OpenCost writes them: `namespace`, `label:app`; none for everything together. */
  readonly aggregate: readonly string[];
  readonly stepSeconds: number | undefined;
  readonly team: string | undefined;
}

interface Place {
  /** Over `known_profile p` or `subject p`; undefined where sums by day do not know it. */
  readonly coarse?: string;
  /** Over `waterfall w`, `subject p`, `ownership o`. */
  readonly fine: string;
}

const KIND = `lower(p.workload_kind)`;
const PLACES: Readonly<Record<string, Place>> = {
  cluster: { coarse: 'w.cluster', fine: 'w.cluster' },
  namespace: { coarse: 'p.namespace', fine: 'p.namespace' },
  controllerKind: { coarse: KIND, fine: KIND },
  controller: { fine: `COALESCE(${KIND} || ':', '') || p.workload_name` },
  node: { fine: 'w.node_id' },
  pod: { fine: 'w.allocation_id' },
  team: { fine: 'o.team' },
};

interface Row {
  readonly step: bigint | null;
  readonly first: string;
  readonly last: string;
  readonly is_free: boolean;
  readonly cluster: string | null;
  readonly category: string;
  readonly component: string;
  readonly micros: bigint | null;
  readonly units: bigint;
  readonly unpriced: bigint;
  readonly [value: `v${number}`]: string | null;
}

/**
 * Question: what was allocated to whom in a window, in the words of OpenCost?
 *
 * Its idle is capacity nobody claimed, which is our *unallocated*; GPUs that somebody holds and does not use are the holder's.
 * Reads `spend_day` where days and profiles suffice, else the waterfall.
 */
export async function allocations(space: ReadSpace, request: AllocationRequest): Promise<Allocations> {
  const { window, stepSeconds, aggregate } = request;
  const seconds = (window.until.getTime() - window.from.getTime()) / 1000;
  if (stepSeconds !== undefined && seconds / stepSeconds > SETS_MAX) {
    throw new OperationError('bad-step', `that would be more than ${SETS_MAX} steps`, {
      hint: 'a longer step, or a shorter window',
    });
  }
  const places = aggregate.map((name, place) => placeOf(name, place));
  const needsEntries =
    request.team !== undefined ||
    places.some(({ coarse }) => coarse === undefined) ||
    (stepSeconds !== undefined && (stepSeconds % DAY_S !== 0 || window.from.getTime() % (DAY_S * 1000) !== 0));
  const part = needsEntries ? entryPart(request, places) : dayPart(request, places);
  const rows = window.days.length === 0 ? [] : await space.ask<Row>(question(request, part));
  return {
    window,
    aggregate,
    stepSeconds: stepSeconds ?? seconds,
    unitSeconds: needsEntries ? 3600 : DAY_S,
    horizon: space.scope?.horizon,
    sums: rows.map((row) => sumOf(row, aggregate.length)),
  };
}

function placeOf(name: string, place: number): Place {
  if (place >= PARTS_MAX) {
    throw new OperationError('bad-aggregate', `aggregate takes at most ${PARTS_MAX} names`, {
      hint: 'namespace,label:app',
    });
  }
  if (name.startsWith('label:') && name.length > 6) {
    const label = `p.labels[$label${place}]`;
    return { coarse: label, fine: label };
  }
  const known = PLACES[name];
  if (known !== undefined) return known;
  throw new OperationError('bad-aggregate', `"${name}" is not something to aggregate by here`, {
    hint: `One of ${Object.keys(PLACES).join(', ')}, label:NAME.`,
  });
}

interface Part {
  readonly tables: readonly TableNeed[];
  readonly params: Params;
  readonly sql: string;
}

function question({ aggregate, window, stepSeconds }: AllocationRequest, { tables, params, sql }: Part) {
  const names = aggregate.map((_, place) => `v${place}, `).join('');
  const labels = aggregate.flatMap((name, place) =>
    name.startsWith('label:') ? [[`label${place}`, name.slice(6)]] : [],
  );
  return {
    tables,
    params: {
      ...params,
      ...(Object.fromEntries(labels) as Record<string, string>),
      windowFrom: window.from,
      stepSeconds: stepSeconds ?? 1,
    },
    sql: `
      SELECT ${names}step, is_free, category, component, CAST(min(began) AS VARCHAR) AS first, CAST(max(began) AS VARCHAR) AS last,
             CASE WHEN min(cluster) = max(cluster) AND count(cluster) = count(*) THEN min(cluster) END AS cluster,
             CAST(sum(micros) AS BIGINT) AS micros, CAST(sum(units) AS BIGINT) AS units,
             CAST(sum(unpriced) AS BIGINT) AS unpriced
      FROM (${sql}) s GROUP BY ${names}step, is_free, category, component`,
  };
}

const values = (places: readonly Place[], of: 'coarse' | 'fine'): string =>
  places.map((each, place) => `CAST(${each[of] ?? 'NULL'} AS VARCHAR) AS v${place}, `).join('');

function dayPart({ window, stepSeconds }: AllocationRequest, places: readonly Place[]): Part {
  const { tables, params, sql } = windowSpend(window);
  const elapsed = `date_diff('day', CAST($windowFrom AS DATE), w.day) * ${DAY_S}`;
  return {
    tables,
    params,
    sql: `
      SELECT ${values(places, 'coarse')}${stepSql(stepSeconds, elapsed)} AS step, CAST(w.day AS TIMESTAMP) AS began,
             w.category = 'unallocated' AS is_free, w.cluster, w.category, w.component, w.usd_micros AS micros,
             w.gpu_units AS units, w.unpriced_units AS unpriced
      FROM (${sql}) w LEFT JOIN known_profile p ON w.profile_no = p.profile_no`,
  };
}

function entryPart({ window, stepSeconds, team }: AllocationRequest, places: readonly Place[]): Part {
  const hours = hoursSql(window, 'w.hour_start');
  return {
    tables: ['waterfall', 'subject', 'ownership'].map((table) => ({ table, ...daysOf(window) })),
    params: { ...hours.params, ...(team !== undefined && { team }) },
    sql: `
      SELECT ${values(places, 'fine')}${stepSql(stepSeconds, `date_diff('second', $windowFrom, w.hour_start)`)} AS step,
             w.hour_start AS began, w.category = 'unallocated' AS is_free, w.cluster, w.category, w.component,
             w.usd_micros AS micros, w.gpu_units AS units,
             CASE WHEN w.usd_micros IS NULL THEN w.gpu_units ELSE 0 END AS unpriced
      FROM waterfall w LEFT JOIN subject p ON w.day = p.day AND w.subject = p.subject
      LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject
      WHERE ${hours.sql}${team === undefined ? '' : ' AND o.team = $team'}`,
  };
}

function sumOf(row: Row, parts: number): AllocationSum {
  return {
    step: Number(row.step ?? 0n),
    values: Array.from({ length: parts }, (_, place) => row[`v${place}`] ?? null),
    isFree: row.is_free,
    cluster: row.cluster,
    category: row.category,
    component: row.component,
    first: new Date(`${row.first.replace(' ', 'T')}Z`),
    last: new Date(`${row.last.replace(' ', 'T')}Z`),
    usdMicros: row.micros,
    units: row.units,
    unpricedUnits: row.unpriced,
  };
}
