import { minute } from '../figures.ts';
import { Banner } from '../parts/banner.tsx';
import type { Live } from './live-ledger.ts';

/** One line over the page; what is below stays readable, and says from when it is. */
export function ServerGone({ live: { goneSince, tryNow } }: { readonly live: Live }) {
  if (goneSince === undefined) return null;
  return (
    <Banner kind="bad" action={{ words: 'try now', run: tryNow }}>
      Bursar does not answer. You see what it said up to {minute(goneSince)} UTC; it is tried again on its own.
    </Banner>
  );
}
