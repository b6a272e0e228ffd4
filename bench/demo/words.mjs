/** How figures are written: Markdown, ready for docs/BENCHMARKS.md. */

/** @param {readonly string[]} header @param {readonly (readonly (string | number)[])[]} rows */
export function table(header, rows) {
  const line = (/** @type {readonly (string | number)[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [line(header), `|${header.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** @param {number} share of 1 */
export const percent = (share) => (Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : '–');

/** @param {number} value */
export const decimals = (value, places = 2) => (Number.isFinite(value) ? value.toFixed(places) : '–');

/** A length of time in the unit people would say it in. @param {number} seconds */
export function length(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${decimals(seconds / 60, 1)} min`;
  return seconds < 3 * 86_400 ? `${decimals(seconds / 3600, 1)} h` : `${decimals(seconds / 86_400, 1)} d`;
}

/** What seeds gave, from the least to the most. @param {readonly number[]} values @param {(value: number) => string} write */
export function spread(values, write) {
  const [least, most] = [write(Math.min(...values)), write(Math.max(...values))];
  return least === most ? least : `${least} to ${most}`;
}

/** @param {string} heading @param {string} command @param {readonly string[]} paragraphs */
export function section(heading, command, paragraphs) {
  return [`## ${heading}`, `\`${command}\``, ...paragraphs].join('\n\n');
}
