/** The text of a PromQL string. Label values are data: nothing in them may end the string or mean something. */
export function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** A PromQL string that matches exactly one of these values, as a regular expression. */
export function oneOf(values: readonly string[]): string {
  return quoted(values.map((value) => value.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'));
}

/** A selector of a metric, or of several by a matcher on `__name__`, with what every series must have beside. */
export function selector(metric: string | undefined, ...matchers: readonly (string | undefined)[]): string {
  const given = matchers.filter((matcher) => matcher !== undefined && matcher !== '');
  return `${metric ?? ''}${given.length === 0 ? '' : `{${given.join(', ')}}`}`;
}

/** What the user wrote as extra matchers, with or without its braces. */
export function extraMatchers(text: string | undefined): string | undefined {
  const bare = text?.trim().replace(/^\{/, '').replace(/\}$/, '').replace(/,\s*$/, '').trim();
  return bare === '' ? undefined : bare;
}
