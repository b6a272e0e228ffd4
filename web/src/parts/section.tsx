import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import type { ReactNode } from 'react';
import type { Answer, Problem } from '../ask.ts';
import { Boundary } from './boundary.tsx';
import { CopyButton } from './copy-button.tsx';
import { Trouble } from './trouble.tsx';

interface SectionProps<Reply> {
  readonly title: string;
  readonly sub?: ReactNode;
  /** Links of the section's own, before CSV and command. */
  readonly acts?: ReactNode;
  readonly answer: UseQueryResult<Answer<Reply>, Problem>;
  /** Where the same comes as CSV. */
  readonly csv?: string;
  /** What the command is called where it says more than the section does. */
  readonly commandWords?: string;
  /** The heading is read and not seen: what is under it says itself. It has no acts, which would be reached and not seen. */
  readonly isTitleUnseen?: boolean;
  readonly children: (reply: Reply) => ReactNode;
}

/** A part of a page with an answer of its own: while it is read, when it fails, and with its table as CSV and as a command. */
export function Section<Reply>(props: SectionProps<Reply>) {
  const { title, sub, acts, answer, csv, commandWords = 'command', isTitleUnseen = false, children } = props;
  const id = useId();
  const { data, error, failureReason, isFetching, isPlaceholderData, refetch } = answer;
  return (
    <section aria-labelledby={id} aria-busy={isFetching} data-before={isPlaceholderData ? '' : undefined}>
      <div className={isTitleUnseen ? 'unseen' : 'section-head'}>
        <h2 id={id}>{title}</h2>
        {isPlaceholderData ? (
          <span className="sub">of the question before</span>
        ) : sub === undefined ? null : (
          <span className="sub">{sub}</span>
        )}
        {isTitleUnseen ? null : (
          <span className="acts">
            {acts}
            {csv === undefined || data === undefined ? null : (
              <a href={csv} download>
                CSV
              </a>
            )}
            {data?.command ? <CopyButton text={data.command} words={commandWords} /> : null}
          </span>
        )}
      </div>
      {error === null ? null : <Trouble problem={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null ? (
          <Loading words={failureReason?.isOnItsWay === true ? failureReason.message : undefined} />
        ) : null
      ) : (
        <Boundary what={title} of={data}>
          <Drawn reply={data.data} draw={children} />
        </Boundary>
      )}
    </section>
  );
}

interface DrawnProps<Reply> {
  readonly reply: Reply;
  readonly draw: (reply: Reply) => ReactNode;
}

/** Drawn inside the boundary: what throws while it is drawn is this part's trouble, not the page's. */
function Drawn<Reply>({ reply, draw }: DrawnProps<Reply>) {
  return draw(reply);
}

const QUIET_MS = 300;

interface LoadingProps {
  readonly rows?: number;
  /** How far it is, where that is known. */
  readonly words?: string | undefined;
}

/** Nothing for a moment, then bars where the rows will be; still. */
export function Loading({ rows = 5, words }: LoadingProps) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status" aria-label={words ?? 'reading'}>
      {words === undefined ? null : <p className="soft">{words}</p>}
      {isShown ? Array.from({ length: rows }, (_, row) => <div key={row} className="skeleton" />) : null}
    </div>
  );
}
