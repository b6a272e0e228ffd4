/** The tables `WITH_MODEL` reads. */
export const MODEL_TABLES = ['allocation', 'device', 'node'].map((table) => ({ table }));

/**
 * Rows of `allocation` that hold GPUs, with the model of what they hold as `held_model`: of the device, else of the machine, else of
 * what is in the machine, for an inventory may name models of devices alone.
 *
 * `life_from` is when the life began. Rows of it that begin later took the place of others, as where a broken device was replaced: who
 * counts the GPUs of a life sums those that began with it (`LIFE_GPUS`).
 */
export const WITH_MODEL = `
  (SELECT h.*, COALESCE(d.model, n.model) AS held_model,
          min(h.held_from) OVER (PARTITION BY h.source, h.allocation_id, h.attempt) AS life_from
   FROM allocation h
   LEFT JOIN (SELECT device_id, min(model) AS model FROM device GROUP BY device_id) d ON h.device_id = d.device_id
   LEFT JOIN (
     SELECT node_id, COALESCE(min(model) FILTER (WHERE is_node), min(model)) AS model
     FROM (SELECT node_id, model, TRUE AS is_node FROM node UNION ALL SELECT node_id, model, FALSE FROM device) listed
     GROUP BY node_id
   ) n ON h.node_id = n.node_id
   WHERE h.gpu_count > 0)`;

/** GPUs of a life, over rows of `WITH_MODEL` grouped by life. */
export const LIFE_GPUS = 'CAST(sum(gpu_count) FILTER (WHERE held_from = life_from) AS BIGINT)';
