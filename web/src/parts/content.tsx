import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Answer, Problem } from '../ask.ts';

interface ContentProps {
  /** What the page's sentence is made of. */
  readonly answer: UseQueryResult<Answer<unknown>, Problem>;
  readonly className?: string;
  readonly children: ReactNode;
}

/** The page itself. While it shows the answer to the question before, it says so, and dims it. */
export function Content({ answer: { isFetching, isPlaceholderData }, className, children }: ContentProps) {
  return (
    <main
      id="main"
      className={className === undefined ? 'content' : `content ${className}`}
      aria-busy={isFetching}
      data-before={isPlaceholderData ? '' : undefined}
    >
      {isPlaceholderData ? (
        <p className="before-line" role="status">
          Figures of the question before; the new ones are being read.
        </p>
      ) : null}
      {children}
    </main>
  );
}
