/** What a command prints with `--json`, as a value: whole numbers beyond 2⁵³ are text, what is undefined is left out. */
export function plainJson<Reply>(value: unknown): Reply {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
  return JSON.parse(text) as Reply;
}

/** Micro-dollars as text; null where there is no price. */
export function microsText(micros: bigint | null): string | null {
  return micros === null ? null : String(micros);
}

/** Money as it was sent, as a number again: a spreadsheet must not take `-5` for text. */
export function microsOf(text: unknown): bigint | null {
  return typeof text === 'string' ? BigInt(text) : null;
}

/** `2026-11-14T04:10:00Z` of a time as SQL gives it. */
export function instantText(time: string): string {
  return `${time.replace(' ', 'T')}Z`;
}
