import type { Problem } from '../ask.ts';
import { sentenceCase } from '../figures.ts';

/** Instead of every page while nothing was ever brought in: the next step, once. */
export function NoData({ problem: { message, hint } }: { readonly problem: Problem }) {
  return (
    <main id="main" className="content">
      <h1>Nothing here yet</h1>
      <p className="note">
        {sentenceCase(message)}. {hint} It shows here as soon as it is there.
      </p>
    </main>
  );
}
