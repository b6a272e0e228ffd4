import { safeText } from './safe-text.ts';

/** Text for a page. Label values are whatever somebody typed: they are shown, never obeyed. */
export function htmlText(text: string): string {
  return safeText(text).replaceAll(/[&<>"'`]/g, (char) => `&#${char.codePointAt(0)};`);
}

/** The fill of what is unknown: a hatch, because a colour would look measured. Stands once on a page, before its first use. */
export const HATCH = `<svg class="defs" aria-hidden="true"><defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5" class="ground"/><path d="M0 0V5" class="hatch"/></pattern></defs></svg>
`;
