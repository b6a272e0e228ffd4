import type { Words } from '../../address.ts';
import { cut } from '../../figures.ts';

/** Which jobs are spoken of: `that match “llama” of nlp`; empty where all are. */
export function whoseWords({ search, filter, team }: Words, jobs: number): string {
  const asked = [
    ...(search === undefined ? [] : [`“${cut(search, 40)}”`]),
    ...(filter === undefined ? [] : ['the filter']),
  ].join(' and ');
  return [
    ...(asked === '' ? [] : [`that ${jobs > 1 ? 'match' : 'matches'} ${asked}`]),
    ...(team === undefined ? [] : [`of ${team}`]),
  ].join(' ');
}
