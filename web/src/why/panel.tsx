import type { ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { useKeys } from '../frame/keys.ts';

interface PanelProps {
  readonly title: string;
  readonly sub?: ReactNode;
  readonly children: ReactNode;
}

/** Beside the page; `esc` closes it, and the figure it is about has the focus again. */
export function Panel({ title, sub, children }: PanelProps) {
  const { change } = useAddress();
  const close = (): void => {
    change({ why: undefined }, { replace: true });
    document.querySelector<HTMLElement>('.figure[aria-expanded="true"]')?.focus();
  };
  useKeys([{ key: 'esc', words: 'back', isShown: true, run: close }]);
  return (
    <aside className="panel" aria-label={title}>
      <div className="panel-head">
        <h2>{title}</h2>
        {sub === undefined ? null : <span className="sub">{sub}</span>}
        <span className="push" />
        <button className="control plain" onClick={close}>
          <kbd>esc</kbd>
          <span className="unseen">closes</span>
        </button>
      </div>
      {children}
    </aside>
  );
}
