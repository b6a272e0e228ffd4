import type { ReactNode } from 'react';
import { useAddress } from '../address.ts';
import { useKeys } from '../frame/keys.ts';

interface FigureProps {
  /** What the figure is of, as a filter. */
  readonly of: string;
  readonly children: ReactNode;
  readonly className?: string;
}

/** Money that answers "why?": the panel beside it takes it apart, and the address says so. */
export function Figure({ of, children, className }: FigureProps) {
  const { words, change } = useAddress();
  const isOpen = words['why'] === of;
  return (
    <button
      className={className === undefined ? 'figure' : `figure ${className}`}
      aria-expanded={isOpen}
      onClick={() => change({ why: isOpen ? undefined : of }, { replace: words['why'] !== undefined })}
    >
      {children}
    </button>
  );
}

/** `w` asks why of the figure one is at, of the row that is chosen, or of the page's first. */
export function useWhyKey(): void {
  useKeys([{ key: 'w', words: 'why?', isShown: true, run: askWhy }]);
}

function askWhy(): void {
  const at = document.activeElement?.closest<HTMLElement>('.figure');
  const found =
    at ??
    document.querySelector<HTMLElement>('tr.chosen .figure') ??
    document.querySelector<HTMLElement>('main .figure');
  if (found === null) return;
  found.focus();
  found.click();
}
