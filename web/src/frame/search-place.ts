import { conditionText } from '../filter-words.ts';

/** Where a search leads. */
export interface SearchPlace {
  readonly path: string;
  readonly words: Readonly<Record<string, string>>;
}

interface Known {
  readonly teams: () => Promise<readonly string[]>;
  readonly hasNode: (node: string) => Promise<boolean>;
}

/** A finding and a GPU are told by how they are written, a team and a machine by being known; all else is what a job may be called. */
export async function searchPlace(word: string, { teams, hasNode }: Known): Promise<SearchPlace> {
  if (/^F-\d+$/i.test(word)) return { path: `/findings/${word.toUpperCase()}`, words: {} };
  if (/^(GPU|MIG)-/i.test(word)) return { path: '/fleet', words: { gpu: word } };
  const team = (await teams()).find((each) => each.toLowerCase() === word.toLowerCase());
  if (team !== undefined) return { path: `/teams/${encodeURIComponent(team)}`, words: {} };
  if (await hasNode(word)) return { path: '/fleet', words: { filter: conditionText({ name: 'node', value: word }) } };
  return { path: '/jobs', words: { search: word } };
}
