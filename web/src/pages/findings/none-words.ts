import type { Words } from '../../address.ts';
import { stepOf } from '../../steps.ts';

/** What the list is narrowed by; taken off together. */
export const NO_FILTER: Words = {
  state: undefined,
  category: undefined,
  team: undefined,
  detector: undefined,
  owner: undefined,
};

/** What the list is narrowed by, for people: `dismissed, Idle`; undefined without a filter. */
export function chosenWords(words: Words): string | undefined {
  const { state, category, team, detector, owner } = words;
  const all = [
    state?.split(',').join(' or ').replaceAll('back', 'back again'),
    category === undefined ? undefined : (stepOf(category)?.word ?? category),
    team,
    detector,
    owner,
  ].filter((word) => word !== undefined && word !== '');
  return all.length === 0 ? undefined : all.join(', ');
}

interface None {
  readonly chosen: string | undefined;
  /** So many are listed, none of which is to do. */
  readonly listed: number;
  readonly days: number;
}

/** What is said where nothing is to do; of a filter only what the filter leaves. */
export function noneWords({ chosen, listed, days }: None): string {
  const when = days === 1 ? 'on this day' : `in these ${days} days`;
  if (chosen === undefined) return `Nothing to do: no finding ${when}.`;
  if (listed === 0) return `No finding matches the filter (${chosen}) ${when}.`;
  return listed === 1
    ? `1 finding matches the filter (${chosen}); it is not to do.`
    : `${listed.toLocaleString('en-US')} findings match the filter (${chosen}); none of them is to do.`;
}
