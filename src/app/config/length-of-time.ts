/** How people write a length of time: `60s`, `5m`, `2h`, `30d`. */
export const LENGTH_OF_TIME = /^[1-9]\d{0,5}(s|m|h|d)$/;

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of `60s`, `5m`, `2h`, `30d`. */
export function lengthSeconds(text: string): number {
  return Number(text.slice(0, -1)) * (UNIT_SECONDS[text.slice(-1)] ?? Number.NaN);
}
