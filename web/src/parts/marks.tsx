export type State = 'good' | 'warn' | 'bad' | 'none';

const STATE_WORDS: Readonly<Record<State, string>> = {
  good: 'fine',
  warn: 'attention',
  bad: 'wrong',
  none: 'not known',
};

/** Shape first, colour second: a circle is fine, a triangle wants attention, a square is wrong, a ring is not known. */
export function StateMark({ state }: { readonly state: State }) {
  return (
    <svg className="state-mark" viewBox="0 0 8 8" role="img" aria-label={STATE_WORDS[state]}>
      {state === 'good' || state === 'none' ? <circle cx="4" cy="4" r="3" className={`s-${state}`} /> : null}
      {state === 'warn' ? <path d="M4 .5 8 7.5H0z" className="s-warn" /> : null}
      {state === 'bad' ? <rect x=".5" y=".5" width="7" height="7" className="s-bad" /> : null}
    </svg>
  );
}

/** The colour of a step (`step-idle`), a team (`cat-3`) or what is not known (`unknown`), beside its word. */
export function Swatch({ of }: { readonly of: string }) {
  const isUnknown = of === 'unknown' || of === 'step-unknown' || of === 'cat-unknown';
  return (
    <svg className="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" className={isUnknown ? 'f-unknown' : `f-${of}`} />
      {isUnknown ? <rect x=".5" y=".5" width="9" height="9" className="outline" /> : null}
    </svg>
  );
}

/** How much breaks if a finding is wrong: five squares. */
export function BlastRadius({ radius }: { readonly radius: number }) {
  return (
    <svg className="radius" viewBox="0 0 46 10" role="img" aria-label={`blast radius ${radius} of 5`}>
      {[0, 1, 2, 3, 4].map((place) =>
        place < radius ? (
          <rect key={place} x={place * 9} y="1" width="7" height="8" className="square" />
        ) : (
          <rect key={place} x={place * 9 + 0.5} y="1.5" width="6" height="7" className="square-empty" />
        ),
      )}
    </svg>
  );
}
