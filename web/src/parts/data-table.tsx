import type { ReactNode, RefObject } from 'react';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useKeys } from '../frame/keys.ts';
import { joinWalk, walkPage } from './table-walk.ts';

export interface Column<Row> {
  readonly title: string;
  /** Numbers stand right under a heading that does too. */
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** In the last line, under a stronger rule. */
  readonly sum?: ReactNode;
  readonly className?: string;
  /** What it takes to be shown: `some` room leaves it out below 600 px, `much` below 1320 px. */
  readonly room?: 'some' | 'much';
}

interface DataTableProps<Row> {
  /** What the table is, for who cannot see where it stands. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Where Enter goes; nowhere from a row that has no page. */
  readonly open?: (row: Row) => string | undefined;
  /** `j` and `k` move in it, and from one such table of the page into the next. */
  readonly hasKeys?: boolean;
  /** The key of the chosen row where the page keeps it, and where it hears of another. */
  readonly chosen?: string | undefined;
  readonly onChoose?: (key: string) => void;
  readonly empty?: ReactNode;
  readonly className?: string;
}

/** Rows of 28 px between hairlines; text left, numbers right, sums at the foot. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, keyOf, empty, className, onChoose } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const chosen = useChosenRow(props, body);
  if (rows.length === 0 && empty !== undefined) return <p className="note">{empty}</p>;
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={caption}>
      <table className={className}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber, room }) => (
              <th key={title} scope="col" className={classOf({ isNumber, room })}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={keyOf(row) === chosen ? 'chosen' : undefined}
              aria-current={onChoose !== undefined && keyOf(row) === chosen ? 'true' : undefined}
              onClick={onChoose === undefined ? undefined : () => onChoose(keyOf(row))}
            >
              {columns.map(({ title, cell, ...column }) => (
                <td key={title} className={classOf(column)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {columns.some(({ sum }) => sum !== undefined) ? <SumLine columns={columns} /> : null}
      </table>
    </div>
  );
}

type Classed = { [Name in 'isNumber' | 'className' | 'room']?: Column<never>[Name] | undefined };

function classOf({ isNumber, className, room }: Classed): string | undefined {
  const names = [isNumber ? 'n' : '', className ?? '', room === undefined ? '' : `room-${room}`];
  return names.filter((name) => name !== '').join(' ') || undefined;
}

function SumLine<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <tfoot>
      <tr>
        {columns.map(({ title, sum, isNumber, room }) => (
          <td key={title} className={classOf({ isNumber, room })}>
            {sum}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

/** The key of the row that `j` and `k` moved to; Enter opens it. */
function useChosenRow<Row>(
  { rows, keyOf, open, hasKeys = false, chosen: kept, onChoose }: DataTableProps<Row>,
  body: RefObject<HTMLTableSectionElement | null>,
): string | undefined {
  const [own, setOwn] = useState<string | undefined>();
  const chosen = onChoose === undefined ? own : kept;
  const [, navigate] = useLocation();
  const place = rows.findIndex((row) => keyOf(row) === chosen);
  const row = rows[place];
  const target = row === undefined ? undefined : open?.(row);
  const choose = (next: number): void => {
    const other = rows[next];
    if (other === undefined) return;
    // Enter belongs to the row one has moved to, and no longer to the figure one came from.
    if (document.activeElement instanceof HTMLElement && document.activeElement.closest('td') !== null)
      document.activeElement.blur();
    (onChoose ?? setOwn)(keyOf(other));
    body.current?.children[next]?.scrollIntoView({ block: 'nearest' });
  };
  useEffect(() => {
    if (!hasKeys || body.current === null) return undefined;
    return joinWalk(body.current, () => ({ size: rows.length, place, choose, leave: () => setOwn(undefined) }));
  });
  useKeys(
    hasKeys
      ? [
          { key: 'j', words: 'next row', isShown: true, run: () => walkPage(1) },
          { key: 'k', words: 'row before', isShown: true, run: () => walkPage(-1) },
          ...(target === undefined
            ? []
            : [{ key: 'enter', words: 'open', isShown: true, run: () => navigate(target) }]),
        ]
      : [],
  );
  return row === undefined ? undefined : chosen;
}
