/** Careful reading of replies whose shape changes from version to version: what is not there is undefined, never a crash. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value at a path of names. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here: unknown = value;
  for (const name of path) {
    const object = objectOf(here);
    here = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
  }
  return here;
}

/** A text that says something: `""` and `"(null)"` say nothing. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' || text === '(null)' ? undefined : text;
}

/** A number as 22.05 writes it (bare, or null) and as 23.02 and later do (`{set, infinite, number}`). */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  if (typeof value === 'string') return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  const object = objectOf(value);
  if (object === undefined || object['set'] !== true || object['infinite'] === true) return undefined;
  return typeof object['number'] === 'number' ? numberOf(object['number']) : undefined;
}

/** A moment: 0 and the largest numbers mean that there is none. */
export function momentOf(value: unknown): number | undefined {
  const seconds = numberOf(value);
  return seconds === undefined || seconds <= 0 || seconds >= 4_102_444_800 ? undefined : seconds;
}

/** One word, or a list of them. */
export function wordsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/[,+|]/).filter((word) => word !== '');
  return listOf(value).filter((word) => typeof word === 'string');
}
