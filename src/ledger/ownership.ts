import type { Stage } from '../facts/stage.ts';

const label = (column: string, key: string): string =>
  `CASE WHEN contains(map_keys(${column}), '${key}') THEN ${column}['${key}'] END`;

/**
 * Question: to whom does each subject belong, by which rule?
 *
 * The default rules: labels speak first, then the scheduler's account, then the namespace. Money is posted to subjects,
 * never to teams, so that a change of rules runs this stage and what follows, never the posting.
 *
 * Reads: holding, node (all rows), charge_hour.
 */
export const ownership: Stage = {
  name: 'ownership',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'holding', days: [0] },
    { table: 'node', days: 'all' },
    { table: 'charge_hour', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['subject', 'VARCHAR'],
    ['workload_name', 'VARCHAR'],
    ['team', 'VARCHAR'],
    ['project', 'VARCHAR'],
    ['user_name', 'VARCHAR'],
    ['environment', 'VARCHAR'],
    ['class', 'VARCHAR'],
    ['rule', 'VARCHAR'],
  ],
  orderBy: 'subject',
  sql: `
    WITH holder AS (
      SELECT * FROM (
        SELECT h.day, 'job ' || h.source || '/' || h.allocation_id || '/' || CAST(h.attempt AS VARCHAR) AS subject,
               h.labels, h.account, h.namespace, h.user_name, h.workload_kind, h.workload_name,
               row_number() OVER (PARTITION BY h.day, h.source, h.allocation_id, h.attempt
                 ORDER BY h.node_id, h.slot, h.held_from, h.device_id) AS place
        FROM holding h WHERE h.day >= CAST($from AS DATE) AND h.day < CAST($until AS DATE)
      ) ranked WHERE place = 1
    ), tagged_node AS (
      SELECT * FROM (
        SELECT d.day, 'node ' || n.node_id AS subject, n.tags,
               row_number() OVER (PARTITION BY d.day, n.node_id ORDER BY n.present_from DESC) AS place
        FROM node n JOIN calendar_day d ON n.present_from < d.day_end
      ) ranked WHERE place = 1
    )
    SELECT day, subject, workload_name,
           COALESCE(${label('labels', 'team')}, account, namespace) AS team,
           ${label('labels', 'project')} AS project, user_name, ${label('labels', 'environment')} AS environment,
           COALESCE(${label('labels', 'class')},
             CASE WHEN workload_kind = 'Notebook' THEN 'experimentation'
                  WHEN workload_kind IN ('Deployment', 'StatefulSet', 'InferenceService', 'RayService') THEN 'inference'
                  WHEN workload_kind IN ('PyTorchJob', 'MPIJob', 'TFJob', 'RayJob') THEN 'training'
                  WHEN workload_kind = 'CronJob' THEN 'batch' END) AS class,
           CASE WHEN ${label('labels', 'team')} IS NOT NULL THEN 'label team' WHEN account IS NOT NULL THEN 'account'
                WHEN namespace IS NOT NULL THEN 'namespace' ELSE 'none' END AS rule
    FROM holder
    UNION ALL
    SELECT day, subject, NULL, ${label('tags', 'team')}, ${label('tags', 'project')}, ${label('tags', 'user')},
           ${label('tags', 'environment')}, ${label('tags', 'class')},
           CASE WHEN ${label('tags', 'team')} IS NOT NULL THEN 'node tag team' ELSE 'none' END
    FROM tagged_node
    UNION ALL
    SELECT day, 'resource ' || resource_id, NULL, min(team), min(project), min(user_name), min(environment), min(class),
           CASE WHEN min(team) IS NOT NULL THEN 'resource tag team' ELSE 'none' END
    FROM charge_hour WHERE resource_id IS NOT NULL AND node_id IS NULL
      AND day >= CAST($from AS DATE) AND day < CAST($until AS DATE)
    GROUP BY day, resource_id`,
};
