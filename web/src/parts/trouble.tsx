import type { Problem } from '../ask.ts';
import { Banner } from './banner.tsx';

interface TroubleProps {
  readonly problem: Problem;
  readonly retry: () => void;
}

/** What failed, why, and what to do; the rest of the page goes on. */
export function Trouble({ problem, retry }: TroubleProps) {
  return (
    <div className="trouble">
      <Banner kind={problem.status === 403 ? 'warn' : 'bad'} action={{ words: 'try again', run: retry }}>
        {problem.message}
      </Banner>
      {problem.hint === null ? null : <p className="note">{problem.hint}</p>}
    </div>
  );
}
