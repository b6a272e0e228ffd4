import type { UseQueryResult } from '@tanstack/react-query';
import { useAddress } from '../address.ts';
import type { Answer } from '../ask.ts';
import { dayRange } from '../figures.ts';
import { useKeys } from './keys.ts';
import { movedWindow, useFactsEnd } from './window-move.ts';

const CHOICES: readonly (readonly [string, string])[] = [
  ['today', 'today'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['lastweek', 'last week'],
  ['lastmonth', 'last month'],
  ['all', 'all there is'],
];

interface WindowControlProps {
  /** What the answer says the window is; the address may say it in words. */
  readonly shown: { readonly from: string; readonly until: string } | undefined;
  /** The window where the address says none. */
  readonly fallback?: string;
}

interface Windowed {
  readonly window: { readonly from: string; readonly until: string };
}

/** The window an answer is of; not that of the question before. */
export function windowOf({
  data,
  isPlaceholderData,
}: Pick<UseQueryResult<Answer<Windowed>>, 'data' | 'isPlaceholderData'>): Windowed['window'] | undefined {
  return isPlaceholderData ? undefined : data?.data.window;
}

/** `5 days` of 5d, `2026-10-01 to 2026-10-08` of two days. */
function wordsOf(asked: string): string {
  const days = /^(\d+)d$/.exec(asked)?.[1];
  return days === undefined ? asked.replace('/', ' to ') : `${days} ${days === '1' ? 'day' : 'days'}`;
}

function withDays(label: string, shown: WindowControlProps['shown']): string {
  return shown === undefined ? label : `${label} · ${dayRange(shown.from, shown.until)}, UTC`;
}

/** Chooses the window, and moves it by its own length with `[` and `]`, as far as there are facts. */
export function WindowControl({ shown, fallback = '30d' }: WindowControlProps) {
  const { words, change } = useAddress();
  const asked = words['window'] ?? fallback;
  const end = useFactsEnd();
  // Days that the address names are moved at once; of a word the answer has to say which days it is.
  const [from, until] = /^\d{4}-\d\d-\d\d\/\d{4}-\d\d-\d\d$/.test(asked) ? asked.split('/') : [];
  const span = from === undefined || until === undefined ? shown : { from, until };
  const moved = (direction: -1 | 1): string | undefined =>
    span === undefined ? undefined : movedWindow(span, direction, end);
  const move = (direction: -1 | 1): void => {
    const window = moved(direction);
    if (window !== undefined) change({ window });
  };
  useKeys([
    { key: '[', words: 'window before', isShown: true, run: () => move(-1) },
    { key: ']', words: 'window after', isShown: true, run: () => move(1) },
  ]);
  const isListed = CHOICES.some(([name]) => name === asked);
  return (
    <span className="join">
      <button className="control" aria-label="Window before" onClick={() => move(-1)}>
        ‹
      </button>
      <select
        className="control"
        aria-label="Window, UTC"
        value={asked}
        onChange={(event) => change({ window: event.target.value })}
      >
        {isListed ? null : <option value={asked}>{withDays(wordsOf(asked), shown)}</option>}
        {CHOICES.map(([name, label]) => (
          <option key={name} value={name}>
            {name === asked ? withDays(label, shown) : label}
          </option>
        ))}
      </select>
      <button
        className="control"
        aria-label="Window after"
        disabled={span !== undefined && moved(1) === undefined}
        onClick={() => move(1)}
      >
        ›
      </button>
    </span>
  );
}
