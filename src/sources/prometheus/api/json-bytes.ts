/** Exact up to 10^22, which is beyond the digits a fast path reads. */
export const POWERS_OF_TEN: readonly number[] = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

const [QUOTE, ARRAY, ARRAY_END, OBJECT, OBJECT_END, BACKSLASH] = [0x22, 0x5b, 0x5d, 0x7b, 0x7d, 0x5c] as const;

export function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09)) at += 1;
  return at;
}

/** Where the string that begins here ends, behind its quote; −1 if it is not whole. */
export function stringEnd(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from + 1; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
}

/** Where the list or object that begins here ends; −1 if it is not whole. Brackets inside strings are text. */
export function matchingEnd(bytes: Uint8Array, from: number, end: number): number {
  let depth = 0;
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const after = stringEnd(bytes, at, end);
      if (after < 0) return -1;
      at = after - 1;
    } else if (byte === OBJECT || byte === ARRAY) depth += 1;
    else if (byte === OBJECT_END || byte === ARRAY_END) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

const PAIR = /^\[\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*,\s*(?:"([^"\\]*)"|(-?[\d.]+(?:e[+-]?\d+)?|null))\s*\]$/i;

/** A pair of time and value in any spelling servers use; undefined if it is none. A value that is no number is NaN. */
export function numberBetween(
  bytes: Buffer,
  from: number,
  end: number,
): { readonly seconds: number; readonly value: number } | undefined {
  if (end - from > 400) return undefined;
  const match = PAIR.exec(bytes.toString('latin1', from, end));
  if (match === null) return undefined;
  return { seconds: Number(match[1]), value: valueOf(match[2] ?? match[3] ?? '') };
}

function valueOf(text: string): number {
  if (text === '+Inf' || text === 'Inf') return Infinity;
  if (text === '-Inf') return -Infinity;
  return text.trim() === '' ? NaN : Number(text);
}
