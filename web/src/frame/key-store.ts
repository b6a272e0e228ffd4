/** One key and what it does here. `g o` is one key after the other. */
export interface Key {
  readonly key: string;
  readonly words: string;
  readonly run: () => void;
  /** Told at the foot of the page, and not only in the list of all keys. */
  readonly isShown?: boolean;
}

/** What is told of a key. */
export type KeyHint = Pick<Key, 'key' | 'words' | 'isShown'>;

const CHORD_MS = 1200;
const lists = new Map<symbol, readonly Key[]>();
const listeners = new Set<() => void>();
let hints: readonly KeyHint[] = [];
let waiting = { key: '', since: 0 };

/** Sets the keys of one part of the page; what was set last wins. */
export function putKeys(owner: symbol, keys: readonly Key[]): void {
  lists.set(owner, keys);
  tellIfChanged();
}

export function dropKeys(owner: symbol): void {
  lists.delete(owner);
  tellIfChanged();
}

function tellIfChanged(): void {
  const now = [...lists.values()].flat();
  const textOf = (all: readonly KeyHint[]): string => all.map(({ key, words }) => `${key} ${words}`).join('|');
  if (textOf(now) === textOf(hints)) return;
  hints = now;
  for (const listener of listeners) listener();
}

export function listenToHints(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentHints(): readonly KeyHint[] {
  return hints;
}

/** Does what the key is for here. Enter on a link is the browser's, and in a field all keys are letters. */
export function pressKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
  const chord = performance.now() - waiting.since < CHORD_MS ? `${waiting.key} ${event.key}` : '';
  const all = [...lists.values()].flat().toReversed();
  const found = all.find(({ key }) => key === chord) ?? all.find(({ key }) => key === nameOf(event.key));
  const begins = all.some(({ key }) => key.startsWith(`${event.key} `));
  waiting = found === undefined && begins ? { key: event.key, since: performance.now() } : { key: '', since: 0 };
  if (found === undefined) return;
  event.preventDefault();
  found.run();
}

const NAMES: Readonly<Record<string, string>> = {
  Escape: 'esc',
  Enter: 'enter',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
};

function nameOf(key: string): string {
  return NAMES[key] ?? key;
}

function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) return true;
  return key === 'Enter' && ['A', 'BUTTON', 'SUMMARY'].includes(target.tagName);
}
