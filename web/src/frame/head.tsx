import type { ReactNode } from 'react';
import { useState } from 'react';
import { copyText } from '../copy.ts';
import { cut } from '../figures.ts';
import { useKeys } from './keys.ts';
import { Search } from './search.tsx';

/** Longer names are cut; the whole stands in the title. */
const TITLE_LONG = 40;

interface HeadProps {
  readonly title: string;
  /** Where one came from: `Findings` before `F-118`. */
  readonly above?: ReactNode;
  /** Window, scope and what else the page is asked with. */
  readonly children?: ReactNode;
}

/** The line over a page: its one heading, what it is asked with, search and link. */
export function Head({ title, above, children }: HeadProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    void copyText(location.href).then(setCopied);
  };
  useKeys([{ key: 'y', words: 'copy link', run: copy }]);
  return (
    <header className="head">
      <div className="crumbs">
        {above}
        <h1 title={title}>{cut(title, TITLE_LONG)}</h1>
      </div>
      {children}
      <span className="push" />
      <Search />
      <button className="control plain" onClick={copy}>
        {isCopied ? 'Link copied' : 'Copy link'} <kbd>y</kbd>
      </button>
    </header>
  );
}
