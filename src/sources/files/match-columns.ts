import type { Column } from '../../facts/column.ts';
import type { FactTable } from '../../facts/fact-table.ts';
import { metricColumns } from '../../facts/incoming.ts';
import { nearestName, plainName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { Constant, Mapping } from './map-option.ts';
import { DURATION_UNITS, nearestColumn, unitsOf } from './map-option.ts';

/** A column of the file. `stats` are those of a Parquet file, for the whole of it. */
export interface SourceColumn {
  readonly name: string;
  /** The engine's type; text files have VARCHAR only. */
  readonly type: string;
  readonly stats?: { readonly min: string; readonly max: string; readonly nulls: number };
}

/** Where the values of a column of the lake come from. */
export type Origin =
  | { readonly kind: 'column'; readonly source: SourceColumn; readonly unit?: string }
  /** A length of time after the column that begins the row's period: `held_until=+duration:s`. */
  | { readonly kind: 'duration'; readonly source: SourceColumn; readonly unit: string; readonly after: string }
  | { readonly kind: 'constant'; readonly value: string }
  | { readonly kind: 'row-number' };

export interface Match {
  readonly origins: ReadonlyMap<string, Origin>;
  /** Columns of the file that became nothing, with the nearest the table has. */
  readonly notUnderstood: readonly { readonly name: string; readonly nearest?: string }[];
}

/** The column that begins the period an `…until` ends. */
const BEGINS: Readonly<Record<string, string>> = {
  held_until: 'held_from',
  present_until: 'present_from',
  valid_until: 'valid_from',
  charge_until: 'charge_from',
};

/**
 * Question: which column of the file is which column of the lake?
 *
 * `--set` first, then `--map`, then names, ignoring case and punctuation. A file that lacks something required is refused with
 * what was not understood and the nearest known, because a misspelt column is the usual reason.
 */
export function matchColumns(
  table: FactTable,
  sources: readonly SourceColumn[],
  mappings: readonly Mapping[],
  constants: readonly Constant[],
  label: string,
): Match {
  const origins = new Map<string, Origin>();
  const used = new Set<string>();
  for (const mapping of mappings) {
    const { column } = mapping;
    const origin = mappedOrigin(mapping, sources, label);
    origins.set(column.name, origin);
    if ('source' in origin) used.add(origin.source.name);
  }
  for (const column of table.columns) {
    if (origins.has(column.name)) continue;
    // `--map effective=BilledCost` posts the invoice's amounts; they are still what was billed.
    const origin = namedOrigin(
      column,
      sources.filter((source) => column.kind === 'decimal' || !used.has(source.name)),
    );
    if (origin === undefined) continue;
    origins.set(column.name, origin);
    used.add(origin.source.name);
  }
  for (const { column, value } of constants) origins.set(column.name, { kind: 'constant', value });
  refuseTwoMeanings(table, origins, label);
  const taken = new Set(origins.keys());
  const notUnderstood = sources
    .filter((source) => !used.has(source.name))
    .map(({ name }) => {
      const nearest = nearestColumn(table, name, taken);
      return nearest === undefined ? { name } : { name, nearest };
    });
  refuseIncomplete(table, origins, notUnderstood, label);
  return { origins, notUnderstood };
}

function mappedOrigin(mapping: Mapping, sources: readonly SourceColumn[], label: string): Origin {
  const { column, source: text } = mapping;
  if (text === '#') return { kind: 'row-number' };
  const isDuration = text.startsWith('+') && BEGINS[column.name] !== undefined;
  const wanted = isDuration ? text.slice(1) : text;
  const units = isDuration ? DURATION_UNITS : unitsOf(column);
  const { source, unit = mapping.unit } = sourceAndUnit(column, wanted, sources, units, label);
  if (isDuration) return { kind: 'duration', source, unit: unit ?? 's', after: BEGINS[column.name] ?? '' };
  return unit === undefined ? { kind: 'column', source } : { kind: 'column', source, unit };
}

/** A column may itself hold a colon, so the whole text is looked up before its end is taken for a unit. */
function sourceAndUnit(
  column: Column,
  text: string,
  sources: readonly SourceColumn[],
  units: readonly string[],
  label: string,
): { source: SourceColumn; unit?: string } {
  const whole = findSource(sources, text);
  if (whole !== undefined) return { source: whole };
  const colon = text.lastIndexOf(':');
  const name = colon === -1 ? text : text.slice(0, colon);
  const source = findSource(sources, name);
  if (source === undefined) {
    const near = nearestName(
      name,
      sources.map((known) => known.name),
    );
    throw new OperationError(
      'unknown-column',
      `${label} has no column ${name}, which --map names for ${column.name}${near === undefined ? '' : ` (nearest: ${near})`}`,
      { hint: `Its columns: ${sources.map((known) => known.name).join(', ')}` },
    );
  }
  const unit = text.slice(colon + 1).toLowerCase();
  if (units.includes(unit)) return { source, unit };
  const near = nearestName(unit, units);
  throw new OperationError(
    'unknown-unit',
    `--map: ${column.name} cannot be read in ${unit}${near === undefined ? '' : ` (nearest: ${near})`}`,
    { hint: units.length === 0 ? `${column.name} has no unit.` : `Known: ${units.join(', ')}` },
  );
}

function findSource(sources: readonly SourceColumn[], name: string): SourceColumn | undefined {
  return (
    sources.find((source) => source.name === name) ??
    sources.find((source) => source.name.toLowerCase() === name.toLowerCase())
  );
}

function namedOrigin(
  column: Column,
  sources: readonly SourceColumn[],
): { kind: 'column'; source: SourceColumn; unit?: string } | undefined {
  for (const known of [{ name: column.name }, ...(column.alsoKnownAs ?? [])] as { name: string; unit?: string }[]) {
    const source = sources.find((candidate) => plainName(candidate.name) === plainName(known.name));
    if (source === undefined) continue;
    return known.unit === undefined ? { kind: 'column', source } : { kind: 'column', source, unit: known.unit };
  }
  return undefined;
}

/** One measured column cannot be two metrics: most often two files were given one `--map`. */
function refuseTwoMeanings(table: FactTable, origins: ReadonlyMap<string, Origin>, label: string): void {
  const metricBySource = new Map<string, string>();
  for (const { name } of metricColumns(table)) {
    const origin = origins.get(name);
    if (origin?.kind !== 'column') continue;
    const other = metricBySource.get(origin.source.name);
    if (other !== undefined) {
      throw new OperationError(
        'two-meanings',
        `${label}: column ${origin.source.name} is mapped to both ${other} and ${name}`,
        { hint: 'Import each file with a --map of its own; rows of one device and time are merged.' },
      );
    }
    metricBySource.set(origin.source.name, name);
  }
}

function refuseIncomplete(
  table: FactTable,
  origins: ReadonlyMap<string, Origin>,
  notUnderstood: Match['notUnderstood'],
  label: string,
): void {
  const missing = table.columns
    .filter((column) => column.required && !origins.has(column.name))
    .map(({ name }) => name);
  const metrics = metricColumns(table);
  const noMetric = metrics.length > 0 && table.merge === 'column' && !metrics.some(({ name }) => origins.has(name));
  if (missing.length === 0 && !noMetric) return;
  const lacks = [...missing, ...(noMetric ? ['any measured value (util_permille, engine_permille, …)'] : [])].join(
    ', ',
  );
  const unread =
    notUnderstood.length === 0
      ? ''
      : `; columns not understood: ${notUnderstood
          .map(({ name, nearest }) => (nearest === undefined ? name : `${name} (nearest: ${nearest})`))
          .join(', ')}`;
  throw new OperationError('missing-columns', `${label}: ${table.importName} need ${lacks}${unread}`, {
    hint: exampleOption(missing[0] ?? 'util_permille', notUnderstood),
  });
}

function exampleOption(target: string, notUnderstood: Match['notUnderstood']): string {
  const source = notUnderstood.find(({ nearest }) => nearest === target) ?? notUnderstood[0];
  const map = `--map ${target}=${source?.name ?? 'COLUMN'}`;
  const unit = target.endsWith('_permille') ? ':percent' : '';
  return `Say which column it is: ${map}${unit}; or, if it is the same for every row, --set ${target}=VALUE`;
}
