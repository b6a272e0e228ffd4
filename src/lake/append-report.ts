/** Rows that were left out on purpose; anything else that is wrong refuses the whole batch. */
export interface SkippedRows {
  readonly reason: string;
  readonly rows: number;
  readonly example: string;
}

/** What an append did, or in a dry run would do. Hours are decimal strings. */
export interface AppendReport {
  readonly rowsTaken: number;
  readonly rowsReplaced: number;
  readonly rowsSkipped: number;
  readonly skipped: readonly SkippedRows[];
  readonly notes: readonly string[];
  readonly gpuHours: string;
  readonly cpuHours: string;
}

/** Unit-seconds as hours with four digits, half away from zero: `506.9128`. */
export function hoursText(seconds: bigint, unitsPerOne: bigint): string {
  const perHour = unitsPerOne * 3600n;
  const tenThousandths = (seconds * 10_000n * 2n + perHour) / (2n * perHour);
  const digits = tenThousandths.toString().padStart(5, '0');
  const text = `${digits.slice(0, -4)}.${digits.slice(-4)}`;
  return text.replace(/\.?0+$/, '');
}
