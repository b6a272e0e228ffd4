import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { sqlCount } from '../facts/sql-row.ts';
import { commentLine } from './stop-command.ts';
import { countWords, gpuHoursOfWords, moneyWords } from './wording.ts';

/** GPU time without a team that one rule would catch. */
const Untagged = z.object({
  what: z.string(),
  namespace: z.string().nullable(),
  userName: z.string().nullable(),
  stem: z.string().nullable(),
  nodeId: z.string().nullable(),
  subjects: sqlCount,
  units: z.bigint(),
  /** What of it has a price; null where nothing has. */
  usdMicros: z.bigint().nullable(),
  /** The team that the same person's other work belongs to; null where there is none, or several. */
  team: z.string().nullable(),
});
type Untagged = z.infer<typeof Untagged>;

const Held = z.object({ units: z.bigint(), usdMicros: z.bigint().nullable() });

const HELD = "('unknown', 'idle', 'starved', 'lost', 'computing')";

/** Rules speak of profiles, so that money is added up by profile too; single subjects are only counted. */
const UNTAGGED = `
  WITH unowned AS (
    SELECT day, profile_no, subject FROM ownership WHERE team IS NULL AND COALESCE(rule, '') NOT LIKE 'shared %'
  ), counted AS (
    SELECT profile_no, count(DISTINCT subject) AS subjects FROM unowned GROUP BY profile_no
  ), untagged AS (
    SELECT d.profile_no, CAST(sum(d.gpu_units) AS BIGINT) AS units, CAST(sum(d.usd_micros) AS BIGINT) AS usd_micros
    FROM spend_day d JOIN (SELECT DISTINCT day, profile_no FROM unowned) o ON d.day = o.day AND d.profile_no = o.profile_no
    WHERE d.category IN ${HELD} GROUP BY d.profile_no HAVING sum(d.gpu_units) > 0
  ), owned AS (
    SELECT user_name, min(team) AS team FROM ownership
    WHERE team IS NOT NULL AND user_name IS NOT NULL GROUP BY user_name HAVING min(team) = max(team)
  ), grouped AS (
    SELECT k.what, k.namespace, k.user_name, CASE WHEN k.user_name IS NULL THEN k.workload_stem END AS stem,
           CASE WHEN k.what = 'job' THEN NULL ELSE k.node_id END AS node_id, CAST(sum(c.subjects) AS BIGINT) AS subjects,
           CAST(sum(u.units) AS BIGINT) AS units, CAST(sum(u.usd_micros) AS BIGINT) AS usd_micros
    FROM untagged u JOIN counted c ON u.profile_no = c.profile_no JOIN known_profile k ON u.profile_no = k.profile_no
    GROUP BY k.what, k.namespace, k.user_name, CASE WHEN k.user_name IS NULL THEN k.workload_stem END,
             CASE WHEN k.what = 'job' THEN NULL ELSE k.node_id END
  )
  SELECT g.what, g.namespace, g.user_name AS "userName", g.stem, g.node_id AS "nodeId", g.subjects, g.units, g.usd_micros AS "usdMicros", o.team
  FROM grouped g LEFT JOIN owned o ON g.user_name = o.user_name
  ORDER BY COALESCE(g.usd_micros, 0) DESC, g.units DESC, g.user_name, g.namespace, g.stem, g.node_id`;

const TOTAL = `SELECT COALESCE(CAST(sum(gpu_units) AS BIGINT), 0) AS units, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros" FROM spend_day WHERE category IN ${HELD}`;

/**
 * Question: which GPU time has no team, and which rule would give it one?
 *
 * It saves nothing and is added to nothing: what has no owner has nobody who acts on it. One finding for all of it, the largest
 * groups first, each with the rule that would catch it.
 *
 * Reads: spend_day, ownership, known_profile.
 */
export const untaggedSpend = detector({
  name: 'untagged-spend',
  title: 'GPU time without a team',
  category: 'computing',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 0,
  blast: 'Reports change, nothing that runs does.',
  effort: 'a few lines of bursar.yaml',
  options: z.object({
    permilleMin: z.number().int().default(10), // A hundredth without a name is what every ledger has.
    groupsMax: z.number().int().min(1).default(6), // More lines are not read; `bursar rules suggest` has them all.
  }),
  ask: () => ({
    untagged: { row: Untagged, tables: ['spend_day', 'known_profile', 'ownership'], sql: UNTAGGED },
    held: { row: Held, tables: ['spend_day'], sql: TOTAL },
  }),
  judge: ({ untagged, held }, { options }) => {
    const all = held[0]?.units ?? 0n;
    const without = untagged.reduce((sum, { units }) => sum + units, 0n);
    if (all === 0n || without * 1000n < all * BigInt(options.permilleMin)) return [];
    return [claimOf(untagged, options.groupsMax, { all, without, usdMicros: held[0]?.usdMicros ?? null })];
  },
});

function claimOf(
  untagged: readonly Untagged[],
  groupsMax: number,
  { all, without, usdMicros }: { readonly all: bigint; readonly without: bigint; readonly usdMicros: bigint | null },
): Claim {
  const shown = untagged.slice(0, groupsMax);
  const rest = untagged.length - shown.length;
  const priced = untagged.flatMap((each) => each.usdMicros ?? []);
  const spent = priced.reduce((sum, each) => sum + each, 0n);
  const money =
    priced.length === 0 || usdMicros === null
      ? ''
      : `${moneyWords(spent)} of ${moneyWords(usdMicros)} that held GPUs cost; `;
  return {
    about: 'team',
    ownerSubject: null,
    what: `${percent(without, all)} of the held GPU time has no team`,
    because: [
      `${money}${gpuHoursOfWords(seconds(without), seconds(all))}, in ${countWords(untagged.length, 'group')}.`,
      ...shown.map(
        (each) =>
          `${each.usdMicros === null ? '' : `${moneyWords(each.usdMicros)}, `}${percent(each.units, all)} of the time: ${groupWords(each)}${each.what === 'job' ? `, ${countWords(each.subjects, 'job')}` : ''}.`,
      ),
      ...(rest > 0 ? [`And ${countWords(rest, 'smaller group')}.`] : []),
    ],
    fix: [
      'bursar rules suggest > suggested.yaml',
      commentLine('or paste into bursar.yaml, with your teams:'),
      'rules:',
      ...shown.map(
        (each) =>
          `  - {when: {${conditionOf(each)}}, set: {team: ${each.team === null ? 'TEAM' : yamlText(each.team)}}}${each.team === null ? '' : '  # the team of the same person’s other work'}`,
      ),
    ],
    unless: 'It belongs to everybody: then it is a shared pool (docs/RULES.md).',
    isQuestion: true,
    takes: [],
  };
}

const seconds = (units: bigint): number => Number(units / 63_000n);
const percent = (part: bigint, whole: bigint): string =>
  part * 100n < whole ? 'under 1 %' : `${Math.round(Number((part * 1000n) / whole) / 10)} %`;

function groupWords({ userName, namespace, stem, nodeId }: Untagged): string {
  if (userName !== null) return `user ${userName}${namespace === null ? '' : ` in namespace ${namespace}`}`;
  if (stem !== null)
    return `jobs named ${stem.replace(/[-_.]0$/, '-*')}${namespace === null ? '' : ` in namespace ${namespace}`}`;
  return nodeId === null ? 'of nothing that has a name' : `machine ${nodeId}, whose holder nobody knows`;
}

/** What a rule would ask: the person, else the name of the work, else the machine. */
function conditionOf({ userName, namespace, stem, nodeId }: Untagged): string {
  const place = namespace === null || namespace === 'default' ? '' : `, namespace: ${yamlText(namespace)}`;
  if (userName !== null) return `user: ${yamlText(userName)}${place}`;
  if (stem !== null) return `name: ${yamlText(stem.replace(/0$/, '*'))}${place}`;
  return nodeId === null ? 'what: device' : `node: ${yamlText(nodeId)}`;
}

/** What JSON leaves as it is and a screen takes out, perhaps with the quote behind it. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text of YAML that is nothing but a text, whatever is in it, and stays so on a screen. */
function yamlText(text: string): string {
  return /^[a-z][a-z0-9-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/.test(text)
    ? text
    : JSON.stringify(text).replaceAll(UNSEEN, (char) => `\\U${char.codePointAt(0)?.toString(16).padStart(8, '0')}`);
}
