/** What a cell of the map is coloured by. */
export const MEASURES = ['activity', 'memory', 'wasted'] as const;
export type Measure = (typeof MEASURES)[number];

/** Where one level ends and the next begins: permille of activity and of memory, micro-dollars an hour of a GPU wasted. */
export const LEVEL_STARTS: Readonly<Record<Measure, readonly number[]>> = {
  activity: [10, 150, 300, 500, 700, 900],
  memory: [10, 150, 300, 500, 700, 900],
  wasted: [100_000, 250_000, 500_000, 1_000_000, 2_000_000, 4_000_000],
};

/**
 * What a cell says, as a letter in SQL and in texts, and as a byte in tiles. Levels are the digits 0 to 6.
 * Absent is what the device was not there for, or what has not happened yet.
 */
export const CELL_BYTES: Readonly<Record<string, number>> = {
  0: 0,
  1: 1,
  2: 2,
  3: 3,
  4: 4,
  5: 5,
  6: 6,
  /** Nobody has it. */
  f: 250,
  /** Held, and not measured. */
  x: 251,
  /** Nothing of it is wasted. */
  n: 252,
  /** It has no price. */
  p: 253,
  '-': 255,
};

/** The level of an expression, as a digit. */
export function levelSql(expression: string, measure: Measure): string {
  const cases = LEVEL_STARTS[measure].map((start, level) => `WHEN ${expression} < ${start} THEN '${level}'`);
  return `CASE ${cases.join(' ')} ELSE '${LEVEL_STARTS[measure].length}' END`;
}

/** `a ÷ b` of whole numbers, truncated; NULL where b is 0. */
export function quotientSql(a: string, b: string): string {
  return `CAST((${a} - ${a} % NULLIF(${b}, 0)) / NULLIF(${b}, 0) AS BIGINT)`;
}
