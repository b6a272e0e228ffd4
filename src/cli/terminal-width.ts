/** Where nobody watches: what fits a wide terminal and a mail. */
const WIDTH_DEFAULT = 120;
const WIDTH_MIN = 40;

/** Columns to lay a screen out for: of the terminal, else what `COLUMNS` says, else a usual width. */
export function terminalWidth(): number {
  // Some terminals say that they have no width.
  const columns = process.stdout.columns ?? 0;
  const said = Number(process.env['COLUMNS']);
  const width = columns > 0 ? columns : Number.isInteger(said) && said > 0 ? said : WIDTH_DEFAULT;
  return Math.max(WIDTH_MIN, width);
}
