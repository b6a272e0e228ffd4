import { useEffect, useState, useSyncExternalStore } from 'react';
import { currentHints, dropKeys, listenToHints, pressKey, putKeys } from './key-store.ts';
import type { Key, KeyHint } from './key-store.ts';

const STORED = 'bursar.keys';

/** Gives the page keys while it is shown; what is given last wins. */
export function useKeys(keys: readonly Key[]): void {
  const [owner] = useState(() => Symbol('keys'));
  useEffect(() => putKeys(owner, keys));
  useEffect(() => () => dropKeys(owner), [owner]);
}

export function useKeyHints(): readonly KeyHint[] {
  return useSyncExternalStore(listenToHints, currentHints);
}

/** Listens for keys. People who speak to their computer can switch single keys off (WCAG 2.1.4); that stays in the browser. */
export function useKeyboard(): { readonly isOn: boolean; readonly setOn: (isOn: boolean) => void } {
  const [isOn, setOn] = useState(() => localStorage.getItem(STORED) !== 'off');
  useEffect(() => {
    localStorage.setItem(STORED, isOn ? 'on' : 'off');
    if (!isOn) return undefined;
    window.addEventListener('keydown', pressKey);
    return () => window.removeEventListener('keydown', pressKey);
  }, [isOn]);
  return { isOn, setOn };
}
