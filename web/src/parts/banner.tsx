import type { ReactNode } from 'react';
import { StateMark } from './marks.tsx';

interface BannerProps {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly children: ReactNode;
  readonly className?: string;
  readonly action?: { readonly words: string; readonly run: () => void };
}

/** What stands between the reader and trust in the page, in one line. */
export function Banner({ kind, children, className, action }: BannerProps) {
  return (
    <div className={className === undefined ? `banner ${kind}` : `banner ${kind} ${className}`} role="status">
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
