import { Fragment } from 'react';

/** Words that break between them and never within: `$729–2,471` cut after its dash reads as another figure. */
export function Unbroken({ text }: { readonly text: string }) {
  return text.split(' ').map((word, place) => (
    <Fragment key={`${place} ${word}`}>
      {place === 0 ? '' : ' '}
      <span className="word">{word}</span>
    </Fragment>
  ));
}
