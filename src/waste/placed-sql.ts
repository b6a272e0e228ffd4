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
