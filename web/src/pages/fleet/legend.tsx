import { LEVEL_WORDS } from './levels.ts';
import type { Measure } from './levels.ts';

/** What the colours are, in the order of the ramp; what is no level has its own mark. */
export function Legend({ measure }: { readonly measure: Measure }) {
  return (
    <ul className="legend">
      {LEVEL_WORDS[measure].map((word, level) => (
        <li key={word}>
          <svg width="34" height="9" aria-hidden="true">
            <rect width="34" height="9" className={`f-heat-${level}`} />
          </svg>
          {word}
        </li>
      ))}
      <li>
        <svg width="34" height="9" aria-hidden="true">
          {measure === 'wasted' ? (
            <rect width="34" height="9" className="f-sunk" />
          ) : (
            <path d="M0 5H34" className="dots" />
          )}
        </svg>
        {measure === 'wasted' ? 'nothing' : 'unallocated'}
      </li>
      <li>
        <svg width="34" height="9" aria-hidden="true">
          <rect width="34" height="9" className="f-unknown" />
          <rect x=".5" y=".5" width="33" height="8" className="outline" />
        </svg>
        {measure === 'wasted' ? 'unknown, or no price' : 'unknown'}
      </li>
    </ul>
  );
}
