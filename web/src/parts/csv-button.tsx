import { csvLine } from '../../../src/report/safe-text.ts';

type Cell = string | number | null;

interface CsvButtonProps {
  /** Of the file, without its ending. */
  readonly name: string;
  /** Where a page has more than one. */
  readonly words?: string;
  readonly columns: readonly string[];
  /** Made only when somebody wants them. */
  readonly rows: () => readonly (readonly Cell[])[];
}

/** What a chart shows as a file, where its answer has more than one table and so no file of its own. */
export function CsvButton({ name, words = 'CSV', columns, rows }: CsvButtonProps) {
  const save = (): void => {
    const text = [columns, ...rows()].map(csvLine).join('');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    link.download = `${name.replaceAll(/[^\w.-]+/g, '-')}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <button className="link" onClick={save}>
      {words}
    </button>
  );
}
