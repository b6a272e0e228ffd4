/** A value as `--filter name=value` reads it: what would part it or begin another is escaped. */
export function filterValue(value: string): string {
  return value.replaceAll(/[\\,|]/g, '\\$&');
}
