import { PROFILE_ATTRIBUTES } from '../../ledger/subject.ts';
import { ownersSql } from '../rules/owners-sql.ts';
import { quote } from '../../lake/engine.ts';
import { windowSpend } from '../rules/window-spend.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

/** A profile, what it cost in the window, and whose it is by the rules in force on the window's last day. */
export interface ProfileMoney {
  /** Attributes by the name of their column; labels and tags as `label.KEY`, `tag.KEY`. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly team: string | null;
  readonly class: string | null;
  readonly pool: string | null;
  readonly usdMicros: bigint;
  /** What of it is for GPUs. */
  readonly gpuUsdMicros: bigint;
  /** What of it was paid for, and nothing ran on it. */
  readonly strandedUsdMicros: bigint;
  readonly example: string;
}

interface Row {
  readonly team: string | null;
  readonly class: string | null;
  readonly pool: string | null;
  readonly usd: bigint;
  readonly gpuUsd: bigint;
  readonly strandedUsd: bigint;
  readonly example: string;
  readonly labels: string | null;
  readonly tags: string | null;
  readonly [attribute: string]: string | bigint | null;
}

const SCALARS = PROFILE_ATTRIBUTES.filter(([, type]) => type === 'VARCHAR').map(([name]) => name);

/** Question: what did each profile cost in a window, and whose is it? Reads: what `windowSpend` reads. */
export async function profileMoney(space: ReadSpace, window: LedgerWindow): Promise<ProfileMoney[]> {
  if (window.days.length === 0) return [];
  const { tables, params, sql } = windowSpend(window);
  const lastDay = window.days.at(-1) ?? '';
  const profiles = `SELECT * REPLACE (DATE ${quote(lastDay)} AS day) FROM known_profile`;
  const rows = await space.ask<Row>({
    tables,
    params,
    sql: `
      SELECT ${SCALARS.map((name) => `p.${name}`).join(', ')}, CAST(to_json(p.labels) AS VARCHAR) AS labels,
             CAST(to_json(p.tags) AS VARCHAR) AS tags, p.example, o.team, o.class, o.pool, s.usd, s.gpu_usd AS "gpuUsd",
             s.stranded_usd AS "strandedUsd"
      FROM (
        SELECT profile_no, CAST(COALESCE(sum(usd_micros), 0) AS BIGINT) AS usd,
               CAST(COALESCE(sum(usd_micros) FILTER (WHERE component = 'gpu'), 0) AS BIGINT) AS gpu_usd,
               CAST(COALESCE(sum(usd_micros) FILTER (WHERE category = 'stranded'), 0) AS BIGINT) AS stranded_usd
        FROM (${sql}) d GROUP BY profile_no
      ) s
      JOIN known_profile p ON s.profile_no = p.profile_no
      JOIN (${ownersSql(space.rules, profiles, ['profile_no'])}) o ON s.profile_no = o.profile_no
      ORDER BY s.usd DESC, p.example`,
  });
  return rows.map((row) => ({
    attributes: new Map([
      ...SCALARS.flatMap((name) =>
        typeof row[name] === 'string' && row[name] !== '' ? [[name, row[name]] as const] : [],
      ),
      ...mapEntries('label', row.labels),
      ...mapEntries('tag', row.tags),
    ]),
    team: row.team,
    class: row.class,
    pool: row.pool,
    usdMicros: row.usd,
    gpuUsdMicros: row.gpuUsd,
    strandedUsdMicros: row.strandedUsd,
    example: row.example,
  }));
}

function mapEntries(prefix: string, json: string | null): (readonly [string, string])[] {
  if (json === null) return [];
  const map = JSON.parse(json) as Readonly<Record<string, string | null>>;
  return Object.entries(map).flatMap(([key, value]) =>
    value === null || value === '' ? [] : [[`${prefix}.${key}`, value] as const],
  );
}
