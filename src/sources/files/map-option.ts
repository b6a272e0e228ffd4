import type { Column } from '../../facts/column.ts';
import { EPOCH_UNITS_PER_SECOND, SECOND } from '../../facts/column.ts';
import type { FactTable } from '../../facts/fact-table.ts';
import { nearestName, plainName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';

/** `target=source[:unit]` of `--map`, with its target resolved. */
export interface Mapping {
  readonly column: Column;
  readonly source: string;
  /** The unit that goes with the name the target was called by, if none is said. */
  readonly unit?: string;
}

/** `name=value` of `--set`, with its name resolved. */
export interface Constant {
  readonly column: Column;
  readonly value: string;
}

export function parseMap(texts: readonly string[], table: FactTable): Mapping[] {
  return entries(texts, '--map', 'ts=timestamp,util_permille=value:percent').map(([target, source]) => {
    const column = targetColumn(table, target, '--map');
    const calledBy = plainName(target);
    const unit = column.alsoKnownAs?.find(({ name }) => plainName(name) === calledBy)?.unit;
    return { column, source, ...(unit !== undefined && { unit }) };
  });
}

export function parseSet(texts: readonly string[], table: FactTable): Constant[] {
  return entries(texts, '--set', 'provider=AWS,account=123456789012').map(([target, value]) => ({
    column: targetColumn(table, target, '--set'),
    value,
  }));
}

/** A comma begins a new entry only if a name and `=` follow, so that values may hold commas. */
function entries(texts: readonly string[], option: string, example: string): [string, string][] {
  return texts
    .flatMap((text) => text.split(/,(?=[^,=]+=)/))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.indexOf('=');
      if (at <= 0 || at === entry.length - 1) {
        throw new OperationError(
          'bad-option',
          `${option} ${entry}: expected name=${option === '--map' ? 'column' : 'value'}`,
          {
            hint: `For example ${option} ${example}`,
          },
        );
      }
      return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
    });
}

/** Lake names, the other names a column is known by, and `account` for the account of a bill. */
function targetColumn(table: FactTable, name: string, option: string): Column {
  const plain = plainName(name);
  const byOwnName = table.columns.find((column) => plainName(column.name) === plain);
  const byOtherName = table.columns.find((column) =>
    column.alsoKnownAs?.some((other) => plainName(other.name) === plain),
  );
  const byAccount = plain === 'account' ? table.columns.find((column) => column.name === 'billing_account') : undefined;
  const column = byOwnName ?? byOtherName ?? byAccount;
  if (column !== undefined) return column;
  const near = nearestColumn(table, name);
  throw new OperationError(
    'unknown-target',
    `${option}: ${table.importName} have no column ${name}${near === undefined ? '' : ` (nearest: ${near})`}`,
    { hint: `Known: ${table.columns.map((known) => known.name).join(', ')}` },
  );
}

/** The column of the table, of those not yet taken, whose name or other name is most like `name`. */
export function nearestColumn(
  table: FactTable,
  name: string,
  taken: ReadonlySet<string> = new Set(),
): string | undefined {
  const owners = new Map<string, string>();
  for (const column of table.columns.filter((candidate) => !taken.has(candidate.name))) {
    for (const other of [column.name, ...(column.alsoKnownAs ?? []).map((known) => known.name)]) {
      owners.set(other, column.name);
    }
  }
  const nearest = nearestName(name, [...owners.keys()]);
  return nearest === undefined ? undefined : owners.get(nearest);
}

/** The units a column of a file may be in. */
export function unitsOf(column: Column): readonly string[] {
  if (column.kind === 'time') return Object.keys(EPOCH_UNITS_PER_SECOND);
  return Object.keys(column.unit?.from ?? {});
}

export const DURATION_UNITS: readonly string[] = Object.keys(SECOND.from);
