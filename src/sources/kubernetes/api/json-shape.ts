/**
 * Ways into JSON of which nobody has checked the shape. An API server may be old, new, or no API server at all: what is not
 * there, or not of the kind that was expected, is undefined, and nothing throws.
 */

export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[key];
  }
  return here;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** A time as whole seconds since 1970; Kubernetes keeps no parts of a second where it matters here. */
export function secondsAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = textAt(value, ...path);
  if (found === undefined || !/^\d{4}-\d\d-\d\dT/.test(found)) return undefined;
  const ms = Date.parse(found);
  // A time of 0001-01-01 is Go's way to say that there is none.
  return Number.isFinite(ms) && ms > 0 ? Math.floor(ms / 1000) : undefined;
}

const ENTRIES_MAX = 128;
const KEY_CHARS_MAX = 320;
const VALUE_CHARS_MAX = 256;

/** Labels or annotations: those with text, within what Kubernetes allows a label to have. */
export function labelsAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = at(value, ...path);
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return {};
  const entries: [string, string][] = [];
  for (const [key, text] of Object.entries(found)) {
    if (typeof text !== 'string' || key.length > KEY_CHARS_MAX || text.length > VALUE_CHARS_MAX) continue;
    entries.push([key, text]);
    if (entries.length === ENTRIES_MAX) break;
  }
  return Object.fromEntries(entries);
}
