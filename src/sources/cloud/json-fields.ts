/** Fields of somebody else's JSON: what is not of the expected kind is not there. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** Text, or a number or flag as text; nothing for what is blank. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** A moment with its zone; years beyond what a cloud has seen are a broken clock. */
export function timeOf(value: unknown): Date | undefined {
  if (typeof value !== 'string' || !/(?:Z|[+-]\d{2}:?\d{2})$/.test(value)) return undefined;
  const date = new Date(value);
  const year = date.getUTCFullYear();
  return Number.isNaN(year) || year < 2000 || year > 2200 ? undefined : wholeSecond(date);
}

/** The lake keeps whole seconds; a row must have the same key when it is read again. */
export function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}

/** Labels or tags: names with text. */
export function tagsOf(value: unknown): Record<string, string> {
  const entries = Object.entries(objectOf(value) ?? {}).flatMap(([key, each]) =>
    typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean' ? [[key, String(each)]] : [],
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

/** `https://…/zones/us-central1-a` → `us-central1-a`. */
export function lastSegment(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}

/** `{a: undefined, b: 1}` → `{b: 1}`, in a type that leaves out what is not known. */
export function known<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Fields]?: Exclude<Fields[Key], undefined>;
  };
}
