/** From and until, in seconds since 1970. */
export type Span = [number, number];

/** The spans with one more, in order and without overlap. */
export function withSpan(spans: readonly Span[], more: Span): Span[] {
  const merged: Span[] = [];
  for (const [from, until] of [...spans, more].toSorted((a, b) => a[0] - b[0])) {
    if (until <= from) continue;
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], until);
    else merged.push([from, until]);
  }
  return merged;
}

/** The spans without this one. */
export function withoutSpan(spans: readonly Span[], [from, until]: Span): Span[] {
  return spans
    .flatMap(([begin, end]): Span[] => [
      [begin, Math.min(end, from)],
      [Math.max(begin, until), end],
    ])
    .filter(([begin, end]) => end > begin);
}

/** The spans cut at every multiple of `lengthS`, in order. */
export function chunksOf(spans: readonly Span[], lengthS: number): Span[] {
  return spans.flatMap(([from, until]) => {
    const chunks: Span[] = [];
    for (let begin = from; begin < until;) {
      const end = Math.min(until, (Math.floor(begin / lengthS) + 1) * lengthS);
      chunks.push([begin, end]);
      begin = end;
    }
    return chunks;
  });
}
