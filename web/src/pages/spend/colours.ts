import { stepOf } from '../../steps.ts';

const COLOURS = 8;

/**
 * The colour of one value of what the page is grouped by.
 *
 * Teams keep theirs: the first eight by when they first cost something in the whole ledger (of one day the dearest first), as
 * `/dimensions/team` lists them, whatever the window. Categories have the colours of the waterfall. What nobody can say is the hatch.
 */
export function colourOf(dimension: string, value: string | null, order: readonly (string | null)[]): string {
  if (value === null) return 'unknown';
  if (dimension === 'category') return stepOf(value)?.of ?? 'cat-rest';
  const place = order.indexOf(value);
  return place >= 0 && place < COLOURS ? `cat-${place + 1}` : 'cat-rest';
}
