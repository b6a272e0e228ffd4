import type { Stage } from '../facts/stage.ts';

/**
 * Labels that are different for every job by nature. They say nothing about an owner, and would make a profile of its own of
 * every job: they are left out. A rule cannot ask for them.
 */
export const LEFT_OUT_LABELS =
  '^(controller-uid|job-name|uid|statefulset\\.kubernetes\\.io/pod-name|apps\\.kubernetes\\.io/pod-index|controller-revision-hash|' +
  'batch\\.kubernetes\\.io/.*|(.*/)?(replica-index|pod-index|completion-index|job-completion-index|rank|worker-index)|' +
  '(.*[-_./])?(hash|uid|uuid|guid|run[-_]id|job[-_]id|trace[-_]id|timestamp|created[-_]at|generation))$';

/**
 * The end of a name that a machine put there: numbers, hashes, the five letters Kubernetes draws. Read as `-0`, so that the
 * thousand runs of one sweep have one name.
 */
export const DRAWN_NAME_END =
  '([-_.]([0-9]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{8,}|' +
  '[bcdfghjklmnpqrstvwxz2456789]{5}|[bcdfghjklmnpqrstvwxz2456789]{8,10}))+$';

/** A workload's name as rules see it. */
export const nameStem = (column: string): string => `regexp_replace(${column}, '${DRAWN_NAME_END}', '-0')`;

/** What a rule may ask of a subject. Jobs have the first half, nodes and resources the other. */
export const PROFILE_ATTRIBUTES = [
  ['what', 'VARCHAR'],
  ['source', 'VARCHAR'],
  ['cluster', 'VARCHAR'],
  ['namespace', 'VARCHAR'],
  ['account', 'VARCHAR'],
  ['user_name', 'VARCHAR'],
  ['workload_kind', 'VARCHAR'],
  ['workload_stem', 'VARCHAR'],
  ['provider', 'VARCHAR'],
  ['cloud_account', 'VARCHAR'],
  ['sub_account', 'VARCHAR'],
  ['service', 'VARCHAR'],
  ['region', 'VARCHAR'],
  ['resource_id', 'VARCHAR'],
  ['resource_name', 'VARCHAR'],
  ['node_id', 'VARCHAR'],
  ['state', 'VARCHAR'],
  ['labels', 'MAP(VARCHAR, VARCHAR)'],
  ['tags', 'MAP(VARCHAR, VARCHAR)'],
] as const satisfies Stage['writes'];

const COLUMNS = PROFILE_ATTRIBUTES.map(([name]) => name);
const SCALARS = PROFILE_ATTRIBUTES.filter(([, type]) => type === 'VARCHAR').map(([name]) => name);

/** All a rule may ask as one text, in which what is not there is not empty. */
const KEY_TEXT = [
  ...SCALARS.map((name) => `COALESCE('=' || replace(${name}, chr(31), chr(31) || chr(31)), '-')`),
  ...['labels', 'tags'].flatMap((name) => [
    `COALESCE('=' || array_join(map_keys(${name}), chr(30)), '-')`,
    `COALESCE('=' || array_join(map_values(${name}), chr(30)), '-')`,
  ]),
].join(' || chr(31) || ');

const NO_MAP = 'CAST(NULL AS MAP(VARCHAR, VARCHAR))';
const NO_KEYS = 'map_keys(CAST(map() AS MAP(VARCHAR, VARCHAR)))';

/**
 * Question: what is known of everything money is posted to: of whom, where, with which labels and tags?
 *
 * No rule is read: to whom a subject belongs is said when somebody asks. Subjects that are alike in all a rule may ask have one
 * number, their profile, on whatever day: 63 bits of a digest of it.
 *
 * Reads: holding, node (all rows), charge_hour, resource_day, waterfall.
 */
export const subject: Stage = {
  name: 'subject',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'holding', days: [0] },
    { table: 'node', days: 'all' },
    { table: 'charge_hour', days: [0] },
    { table: 'resource_day', days: [0] },
    { table: 'waterfall', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['subject', 'VARCHAR'],
    ['profile_no', 'BIGINT'],
    ['workload_name', 'VARCHAR'],
    ...PROFILE_ATTRIBUTES,
  ],
  orderBy: 'subject',
  sql: `
    WITH holder AS (
      SELECT * FROM (
        SELECT h.day, 'job ' || h.source || '/' || h.allocation_id || '/' || CAST(h.attempt AS VARCHAR) AS subject,
               h.source, h.cluster, h.labels, h.account, h.namespace, h.user_name, h.workload_kind, h.workload_name,
               row_number() OVER (PARTITION BY h.day, h.source, h.allocation_id, h.attempt
                 ORDER BY h.node_id, h.slot, h.held_from, h.device_id) AS place
        FROM holding h WHERE h.day >= CAST($from AS DATE) AND h.day < CAST($until AS DATE)
      ) ranked WHERE place = 1
    ), holder_label AS (
      SELECT h.day, h.subject, map(array_agg(l.label_key ORDER BY l.label_key),
               array_agg(h.labels[l.label_key] ORDER BY l.label_key)) AS labels
      FROM holder h CROSS JOIN UNNEST(map_keys(h.labels)) AS l(label_key)
      WHERE h.labels[l.label_key] IS NOT NULL AND NOT regexp_like(l.label_key, '${LEFT_OUT_LABELS}')
      GROUP BY h.day, h.subject
    ), resource_of AS (
      SELECT * FROM (
        SELECT r.day, r.resource_id, r.resource_name, r.provider, r.billing_account, r.sub_account, r.service_name, r.region,
               r.tags, row_number() OVER (PARTITION BY r.day, r.resource_id ORDER BY r.bill_id) AS place
        FROM resource_day r WHERE r.day >= CAST($from AS DATE) AND r.day < CAST($until AS DATE)
      ) ranked WHERE place = 1
    ), node_bill AS (
      SELECT day, node_id, min(resource_id) AS resource_id FROM charge_hour
      WHERE node_id IS NOT NULL AND day >= CAST($from AS DATE) AND day < CAST($until AS DATE) GROUP BY day, node_id
    ), last_node AS (
      SELECT * FROM (
        SELECT d.day, n.node_id, n.cluster, n.provider, n.billing_account, n.region, n.state, n.tags, n.resource_id,
               row_number() OVER (PARTITION BY d.day, n.node_id ORDER BY n.present_from DESC) AS place
        FROM node n JOIN calendar_day d ON n.present_from < d.day_end
      ) ranked WHERE place = 1
    ), posted AS (
      SELECT day, subject, min(node_id) AS node_id, min(resource_id) AS resource_id, min(cluster) AS cluster,
             min(provider) AS provider, min(account) AS account
      FROM waterfall WHERE day >= CAST($from AS DATE) AND day < CAST($until AS DATE) AND source IS NULL
      GROUP BY day, subject
    ), known AS (
      SELECT h.day, h.subject, h.workload_name, 'job' AS what, h.source, h.cluster, h.namespace, h.account, h.user_name,
             h.workload_kind, ${nameStem('h.workload_name')} AS workload_stem, CAST(NULL AS VARCHAR) AS provider,
             CAST(NULL AS VARCHAR) AS cloud_account, CAST(NULL AS VARCHAR) AS sub_account, CAST(NULL AS VARCHAR) AS service,
             CAST(NULL AS VARCHAR) AS region, CAST(NULL AS VARCHAR) AS resource_id, CAST(NULL AS VARCHAR) AS resource_name,
             CAST(NULL AS VARCHAR) AS node_id, CAST(NULL AS VARCHAR) AS state, l.labels, ${NO_MAP} AS tags
      FROM holder h LEFT JOIN holder_label l ON h.day = l.day AND h.subject = l.subject
      UNION ALL
      SELECT p.day, p.subject, NULL, 'node', NULL, COALESCE(n.cluster, p.cluster), NULL, NULL, NULL, NULL, NULL,
             COALESCE(n.provider, p.provider), COALESCE(n.billing_account, p.account), r.sub_account, r.service_name,
             COALESCE(n.region, r.region), COALESCE(b.resource_id, n.resource_id), r.resource_name, p.node_id, n.state,
             ${NO_MAP}, CASE WHEN r.tags IS NULL THEN n.tags WHEN n.tags IS NULL THEN r.tags
                        ELSE map_concat(r.tags, n.tags) END
      FROM posted p LEFT JOIN last_node n ON p.day = n.day AND p.node_id = n.node_id
      LEFT JOIN node_bill b ON p.day = b.day AND p.node_id = b.node_id
      LEFT JOIN resource_of r ON b.day = r.day AND b.resource_id = r.resource_id
      WHERE p.subject LIKE 'node %'
      UNION ALL
      SELECT p.day, p.subject, NULL, 'resource', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             COALESCE(r.provider, p.provider), COALESCE(r.billing_account, p.account), r.sub_account, r.service_name, r.region,
             p.resource_id, r.resource_name, NULL, NULL, ${NO_MAP}, r.tags
      FROM posted p LEFT JOIN resource_of r ON p.day = r.day AND p.resource_id = r.resource_id
      WHERE p.subject LIKE 'resource %'
      UNION ALL
      SELECT p.day, p.subject, NULL, CASE WHEN p.subject LIKE 'bill %' THEN 'bill' ELSE 'device' END, NULL, p.cluster, NULL,
             NULL, NULL, NULL, NULL, p.provider, p.account, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ${NO_MAP}, ${NO_MAP}
      FROM posted p WHERE p.subject NOT LIKE 'node %' AND p.subject NOT LIKE 'resource %' AND p.subject NOT LIKE 'job %'
    ), plain AS (
      SELECT day, subject, workload_name, ${SCALARS.join(', ')},
             CASE WHEN map_keys(labels) <> ${NO_KEYS} THEN labels END AS labels,
             CASE WHEN map_keys(tags) <> ${NO_KEYS} THEN tags END AS tags
      FROM known
    )
    SELECT day, subject, text_digest(${KEY_TEXT}) AS profile_no, workload_name, ${COLUMNS.join(', ')}
    FROM plain`,
};
