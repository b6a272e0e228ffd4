import type { ReactNode } from 'react';
import { StateMark } from './marks.tsx';

interface BannerProps {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly children: ReactNode;
  readonly action?: { readonly words: string; readonly run: () => void };
}

/** What stands between the reader and trust in the page, in one line. */
export function Banner({ kind, children, action }: BannerProps) {
  return (
    <div className={`banner ${kind}`} role="status">
      <StateMark state={kind} />
      <span>{children}</span>
      {action === undefined ? null : (
        <button className="link" onClick={action.run}>
          {action.words}
        </button>
      )}
    </div>
  );
}
