import { counted } from './figures.ts';
import { importReport } from './import-report.ts';
import type { Imported } from './import-report.ts';
import { safeText } from './safe-text.ts';

/** What became of a cloud's list of machines. */
export interface CloudImported {
  readonly tool: string;
  readonly listed: number;
  readonly machines: number;
  readonly gpus: number;
  readonly observedAt: string;
  readonly skipped: readonly { readonly reason: string; readonly count: number; readonly example: string }[];
  readonly notes: readonly string[];
  readonly tables: readonly Imported[];
}

/** A line for the list, one for each reason something was left out, one for each assumption, then what went into each table. */
export function cloudImportReport(report: CloudImported, dataFlag = ''): string[] {
  const { tool, listed, machines, gpus, observedAt, skipped, notes, tables } = report;
  const pages = tables.map((table) => importReport(table, dataFlag));
  return [
    `${tool}: ${counted(machines, 'GPU machine')} with ${counted(gpus, 'GPU')} of ${listed} listed, as of ${observedAt.slice(0, 16)}Z`,
    ...skipped.map(
      ({ reason, count, example }) => `  left out ${count}: ${safeText(reason)}, e.g. ${safeText(example)}`,
    ),
    ...notes.map((note) => `  ${safeText(note)}`),
    // Each table's page ends with what to type next, which is said once.
    ...pages.flatMap((page) => page.slice(0, -1)),
    ...(pages.at(-1)?.slice(-1) ?? []),
  ];
}
