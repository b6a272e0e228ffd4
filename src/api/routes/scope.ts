import { filterOn, parseFilters } from '../../app/filter.ts';
import type { Filter } from '../../app/filter.ts';
import { shellWord } from '../../report/shell-word.ts';

interface Scope {
  readonly filter?: string | undefined;
  readonly team?: string | undefined;
}

/** What a question about money is restricted to. A team comes on top of the filter: who may see one team sees no other by asking. */
export function filtersOf({ filter, team }: Scope): readonly Filter[] {
  return [
    ...parseFilters(filter === undefined ? [] : [filter]),
    ...(team === undefined ? [] : [filterOn('team', team)]),
  ];
}

/** The same as flags of a command. */
export function scopeFlags({ filter, team, asOf }: Scope & { readonly asOf?: string | undefined }): string {
  return [
    ...(team === undefined ? [] : [` --filter ${shellWord(`team=${team.replaceAll(/[\\,|]/g, '\\$&')}`)}`]),
    ...(filter === undefined || filter === '' ? [] : [` --filter ${shellWord(filter)}`]),
    ...(asOf === undefined ? [] : [` --as-of ${shellWord(asOf)}`]),
  ].join('');
}
