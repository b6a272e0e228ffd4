import type { Snapshot } from '../facts/manifest.ts';

/** Batches of the example carry this, so that screens made from it can say so. */
export const EXAMPLE_BATCH = 'bursar example: ';

/** What stands before every line of a screen that somebody could take for a real fleet's; empty for real data. */
export function exampleMark({ batches }: Snapshot): string {
  return batches.some(isExample) ? 'EXAMPLE  ' : '';
}

export function isExample({ origin }: { readonly origin: string }): boolean {
  return origin.startsWith(EXAMPLE_BATCH);
}
