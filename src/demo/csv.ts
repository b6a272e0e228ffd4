import type { Seconds } from './timeline.ts';

/** One line of a CSV file. A missing cell is an empty one, which is read as unknown. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map((cell) => quoted(cell === undefined ? '' : String(cell))).join(',')}\n`;
}

function quoted(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** `2026-10-02T08:05:00Z` */
export function timeText(seconds: Seconds): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** An exact amount in micros as a decimal: `-1.250000` → `-1.25`, `3`. */
export function amountText(micros: number): string {
  const whole = Math.floor(Math.abs(micros) / 1_000_000);
  const rest = String(Math.abs(micros) % 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micros < 0 ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`;
}
