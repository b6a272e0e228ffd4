import { safeText } from './safe-text.ts';

/** Text that stays text in Markdown: no mention, no link, no markup. */
export function markdownText(text: string): string {
  return safeText(text).replaceAll(/[\\`*_{}[\]<>#|~@!]/g, '\\$&');
}
