import { counted } from './figures.ts';
import { safeText } from './safe-text.ts';

/** What an import took in, or in a dry run would have. Hours are decimal strings. */
export interface Imported {
  readonly table: string;
  readonly batches: readonly string[];
  readonly dryRun: boolean;
  readonly rowsTaken: number;
  readonly rowsReplaced: number;
  readonly rowsSkipped: number;
  readonly skipped: readonly { readonly reason: string; readonly rows: number; readonly example: string }[];
  readonly notes: readonly string[];
  readonly gpuHours: string;
  readonly cpuHours: string;
}

const BATCHES_SHOWN = 3;
const NOTES_SHOWN = 6;

/** A line for what was taken, one for each thing to know, and what to type next. */
export function importReport(report: Imported, dataFlag = ''): string[] {
  const { table, batches, dryRun, rowsTaken, rowsReplaced, skipped, notes } = report;
  const names = batches.slice(0, BATCHES_SHOWN).map((name) => safeText(name));
  const more = batches.length > BATCHES_SHOWN ? ` and ${batches.length - BATCHES_SHOWN} more` : '';
  const replaced =
    rowsReplaced === 0 ? '' : `, ${dryRun ? 'would replace' : 'replacing'} ${counted(rowsReplaced, 'row')}`;
  const hours = [
    report.gpuHours === '0' ? '' : `${report.gpuHours} GPU-hours`,
    report.cpuHours === '0' ? '' : `${report.cpuHours} CPU-hours`,
  ].filter((text) => text !== '');
  const taken = `${counted(rowsTaken, 'row')} ${dryRun ? 'would be ' : ''}taken${replaced}`;
  return [
    `${table}: ${taken}${hours.length === 0 ? '' : `; ${hours.join(', ')}`}${names.length === 0 ? '' : ` (batch ${names.join(', ')}${more})`}`,
    ...skipped.map(
      ({ reason, rows, example }) =>
        `  skipped ${counted(rows, 'row')}: ${safeText(reason)}${example === '' ? '' : `, e.g. ${safeText(example)}`}`,
    ),
    ...notes.slice(0, NOTES_SHOWN).map((note) => `  ${safeText(note)}`),
    ...(notes.length > NOTES_SHOWN ? [`  and ${notes.length - NOTES_SHOWN} more like these; --json has them all`] : []),
    dryRun ? 'Nothing was changed: this was a dry run.' : `Next: bursar look${dataFlag}`,
  ];
}

/** What `derive` computed anew, stage by stage. */
export function deriveReport(computed: Readonly<Record<string, number>>, seconds: number, dataFlag = ''): string[] {
  const stages = Object.entries(computed).filter(([, units]) => units > 0);
  if (stages.length === 0) return [`The ledger is up to date. Looked in ${seconds.toFixed(1)} s.`];
  return [
    `Derived in ${seconds.toFixed(1)} s: ${stages.map(([stage, units]) => `${stage} ${units}`).join(', ')} (days, or bills)`,
    `Next: bursar look${dataFlag}`,
  ];
}
