import { useAddress } from '../../address.ts';
import { useKeys } from '../../frame/keys.ts';
import { monthName } from './month-words.ts';

interface MonthControlProps {
  readonly months: readonly string[];
  readonly month: string | undefined;
  readonly status: string | undefined;
}

const STATUS_WORDS: Readonly<Record<string, string>> = { closed: 'final', open: 'not closed', running: 'so far' };

/** Chooses the month; `[` and `]` go to the one before and after. */
export function MonthControl({ months, month, status }: MonthControlProps) {
  const { change } = useAddress();
  const place = month === undefined ? -1 : months.indexOf(month);
  const go = (by: -1 | 1): void => {
    const other = months[place + by];
    if (place >= 0 && other !== undefined) change({ month: other });
  };
  useKeys([
    { key: '[', words: 'month before', isShown: true, run: () => go(-1) },
    { key: ']', words: 'month after', isShown: true, run: () => go(1) },
  ]);
  const listed = month === undefined || months.includes(month) ? months : [...months, month].toSorted();
  return (
    <span className="join">
      <button className="control" aria-label="Month before" disabled={place <= 0} onClick={() => go(-1)}>
        ‹
      </button>
      <select
        className="control"
        aria-label="Month, UTC"
        value={month ?? ''}
        onChange={(event) => change({ month: event.target.value })}
      >
        {month === undefined ? <option value="">…</option> : null}
        {listed.toReversed().map((each) => (
          <option key={each} value={each}>
            {monthName(each)}
            {each === month && status !== undefined ? ` · ${STATUS_WORDS[status] ?? status}` : ''}
          </option>
        ))}
      </select>
      <button
        className="control"
        aria-label="Month after"
        disabled={place < 0 || place >= months.length - 1}
        onClick={() => go(1)}
      >
        ›
      </button>
    </span>
  );
}
