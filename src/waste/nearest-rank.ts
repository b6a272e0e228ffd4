/**
 * The value that so many hundredths of a group, or of those of it that are meant, do not exceed, as an aggregate. Sorted in its group: to number
 * rows with a window sorts and copies all that is in them, at three times the price.
 */
export const nearestRank = (value: string, percent: number, where?: string): string => {
  const filter = where === undefined ? '' : ` FILTER (WHERE ${where})`;
  const upTo = `(count(*)${filter} * ${percent} + 99)`;
  return `(array_agg(${value} ORDER BY ${value})${filter})[CAST((${upTo} - ${upTo} % 100) / 100 AS BIGINT)]`;
};
