import { safeText } from './safe-text.ts';

/** A value somebody asked for that is nowhere in the window, and the one of its dimension that is most like it. */
export interface UnknownValue {
  readonly dimension: string;
  readonly value: string;
  readonly nearest: string | undefined;
}

/** One line for each, below the words that there is nothing. */
export function unknownValueLines(values: readonly UnknownValue[]): string[] {
  return values.map(({ dimension, value, nearest }) => {
    const like = nearest === undefined ? '' : ` (nearest: ${safeText(nearest)})`;
    return `no ${dimension} is called "${safeText(value)}" in it${like}`;
  });
}
