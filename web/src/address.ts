import { useCallback, useMemo } from 'react';
import { useLocation } from 'wouter';
import { usePathname, useSearch } from 'wouter/use-browser-location';

export type Words = Readonly<Record<string, string | undefined>>;

/** What every page reads of the address, and every question is asked with. */
export const SHARED_WORDS = ['window', 'asOf', 'team'] as const;

export interface Address {
  readonly path: string;
  readonly words: Words;
  /** Changes words of the address; undefined takes one out. `replace`: without a step in the browser's history. */
  readonly change: (words: Words, options?: { readonly replace?: boolean }) => void;
  /** Another page in the same window and scope. */
  readonly to: (path: string, words?: Words) => string;
}

function searchOf(words: Words): string {
  const said = Object.entries(words).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = new URLSearchParams(said).toString();
  return text === '' ? '' : `?${text}`;
}

/** Promise: the address bar holds the whole state, so that a link shows what its sender saw. */
export function useAddress(): Address {
  const [, navigate] = useLocation();
  // As the browser has them: the router's own are decoded once already, and names would be decoded twice.
  const path = usePathname();
  const search = useSearch();
  const words = useMemo(() => Object.fromEntries(new URLSearchParams(search)) as Words, [search]);
  const change = useCallback(
    (changed: Words, { replace = false } = {}) => navigate(`${path}${searchOf({ ...words, ...changed })}`, { replace }),
    [navigate, path, words],
  );
  const to = useCallback(
    (other: string, more: Words = {}) => {
      const kept = Object.fromEntries(SHARED_WORDS.map((name) => [name, words[name]]));
      return `${other}${searchOf({ ...kept, ...more })}`;
    },
    [words],
  );
  return { path, words, change, to };
}

/** Window, moment and team as the API takes them. */
export function sharedQuery({ words }: Address): Words {
  return { window: words['window'] ?? '30d', asOf: words['asOf'], team: words['team'] };
}
