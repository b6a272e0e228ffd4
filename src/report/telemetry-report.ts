import { counted } from './figures.ts';
import { safeText } from './safe-text.ts';

/** What became of one file of telemetry. */
export interface TelemetryFileRead {
  readonly file: string;
  readonly kind: string;
  readonly unit: string;
  readonly units: string;
  readonly total: number;
  readonly parts: readonly {
    readonly count: number;
    readonly what: string;
    readonly table?: string;
    readonly example?: string;
  }[];
  readonly gpus: number;
  readonly nodes: readonly string[];
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly notes: readonly string[];
  readonly tables: readonly {
    readonly table: string;
    readonly rowsTaken: number;
    readonly rowsReplaced: number;
    readonly skipped: readonly { readonly reason: string; readonly rows: number; readonly example: string }[];
  }[];
}

const NODES_SHOWN = 3;

/** Per file: what it is, where each of its lines went, which rows the lake took, and what was assumed. */
export function telemetryReport(
  { files, dryRun }: { readonly files: readonly TelemetryFileRead[]; readonly dryRun: boolean },
  dataFlag = '',
): string[] {
  const hasRows = files.some(({ tables }) => tables.length > 0);
  const next = dryRun ? 'Nothing was changed: this was a dry run.' : `Next: bursar look${dataFlag} --window all`;
  return [
    ...files.flatMap((file) => fileLines(file, dryRun)),
    ...(hasRows ? [next] : ['Nothing in them is about GPUs, machines or who holds them: nothing was taken.']),
  ];
}

function fileLines(file: TelemetryFileRead, dryRun: boolean): string[] {
  const { unit, units, total, parts, tables, notes } = file;
  const took = tables.map(({ table, rowsTaken, rowsReplaced }) => {
    const replaced = rowsReplaced > 0 ? ` (replacing ${rowsReplaced})` : '';
    return `${counted(rowsTaken, 'row')}${replaced} ${dryRun ? 'would go ' : ''}into ${table}`;
  });
  return [
    `${safeText(file.file)}: ${safeText(file.kind)}${whereAndWhen(file)}`,
    ...(took.length > 0 ? [`  ${took.join(', ')}`] : []),
    `  ${counted(total, unit, units)}${sums(parts)}`,
    ...parts
      .filter(({ what, table }) => table === undefined && !LAYOUT.has(what))
      .map(({ count, what, example }) => {
        return `    ${counted(count, 'skipped', 'skipped')}: ${safeText(what)}${example === undefined ? '' : `, e.g. ${safeText(example)}`}`;
      }),
    ...tables.flatMap(({ table, skipped }) =>
      skipped.map(({ reason, rows }) => `  ${table}: ${counted(rows, 'row')} left out: ${safeText(reason)}`),
    ),
    ...notes.map((note) => `  ${safeText(note)}`),
  ];
}

/** Lines that say nothing by themselves; they are counted, not explained. */
const LAYOUT: ReadonlySet<string> = new Set(['comments', 'blank', 'headings', 'headers of CSV']);

/** `: 16 read, 14 skipped, 78 comments`, which add up to the total. */
function sums(parts: TelemetryFileRead['parts']): string {
  const sum = (some: TelemetryFileRead['parts']): number => some.reduce((total, { count }) => total + count, 0);
  const words = [
    [sum(parts.filter(({ table }) => table !== undefined)), 'read'],
    [sum(parts.filter(({ what, table }) => table === undefined && !LAYOUT.has(what))), 'skipped'],
    ...parts.filter(({ what }) => LAYOUT.has(what)).map(({ count, what }) => [count, what] as const),
  ] as const;
  const said = words.filter(([count]) => count > 0).map(([count, word]) => counted(count, word, word));
  return said.length === 0 ? '' : `: ${said.join(', ')}`;
}

function whereAndWhen({ gpus, nodes, firstAt, lastAt }: TelemetryFileRead): string {
  if (firstAt === null || lastAt === null) return '';
  const names = nodes.slice(0, NODES_SHOWN).map(safeText).join(', ');
  const more = nodes.length > NODES_SHOWN ? ` and ${nodes.length - NODES_SHOWN} more` : '';
  const [from, until] = [minute(firstAt), minute(lastAt)];
  return `; ${counted(gpus, 'GPU')} on ${names}${more}, ${from === until ? `at ${from}` : `${from} to ${until}`} UTC`;
}

function minute(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
