/** Seconds of `stint_day` as those of whole GPUs: of half a GPU, or of one that is anybody's of two, an hour is half an hour. */
export const ofWholeGpus = (stint: string, seconds: string): string => {
  const [weighted, whole] = [`${stint}.${seconds} * ${stint}.units`, `(${stint}.held_s * 63000)`];
  return `CASE WHEN ${stint}.held_s > 0 THEN CAST((${weighted} - (${weighted}) % ${whole}) / ${whole} AS BIGINT) ELSE 0 END`;
};

/** The scheduler that hands out the nodes of each cluster, in SQL: `scheduler`, by what its jobs came from. Reads: subject. */
export const SCHEDULERS = `scheduler AS (
    SELECT cluster, min(source) AS source FROM subject WHERE what = 'job' AND cluster IS NOT NULL GROUP BY cluster
  )`;

/**
 * Of which cluster the subjects of some rows are, in SQL: `known`. `rows` is a relation of a WITH, of rows of `stint_day` or groups of them with the columns
 * subject and cluster. They mostly say so themselves; of a node that was listed later the other days are asked.
 *
 * Reads: subject.
 */
export const placed = (rows: string): string => `
  placed AS (
    SELECT subject, min(cluster) AS cluster FROM ${rows} GROUP BY subject
  ), known AS (
    SELECT subject, cluster FROM placed WHERE cluster IS NOT NULL
    UNION ALL
    SELECT j.subject, min(j.cluster) AS cluster FROM subject j JOIN placed p ON j.subject = p.subject WHERE p.cluster IS NULL GROUP BY j.subject
  )`;
