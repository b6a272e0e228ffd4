/** One stretch of a bar: where it begins and how many characters it takes. */
export interface Stretch {
  readonly at: number;
  readonly width: number;
}

/**
 * Places of parts on a bar of so many characters, one after the other: their widths add up to the bar.
 *
 * Ends are rounded, not widths, so that parts of a part lie exactly within it. What is below zero takes no place.
 */
export function stretches(parts: readonly bigint[], width: number): Stretch[] {
  const weights = parts.map((part) => (part > 0n ? part : 0n));
  const whole = weights.reduce((total, part) => total + part, 0n);
  const place = (upTo: bigint): number =>
    whole === 0n ? 0 : Number((upTo * BigInt(width) * 2n + whole) / (whole * 2n));
  let before = 0n;
  return weights.map((weight) => {
    const at = place(before);
    before += weight;
    return { at, width: place(before) - at };
  });
}

/** A stretch as text on a bar of so many characters; what is there but takes none of them is marked by a dot. */
export function stretchText({ at, width }: Stretch, mark: string, barWidth: number, isThere: boolean): string {
  if (width > 0) return ' '.repeat(at) + mark.repeat(width);
  return isThere ? `${' '.repeat(Math.min(at, barWidth - 1))}.` : '';
}

/** All parts in one bar, each by its own character. */
export function stackedBar(
  parts: readonly { readonly weight: bigint; readonly mark: string }[],
  width: number,
): string {
  const places = stretches(
    parts.map(({ weight }) => weight),
    width,
  );
  return parts.map(({ mark }, index) => mark.repeat(places[index]?.width ?? 0)).join('');
}
