import type { Seconds } from '../../src/demo/timeline.ts';

/** The clock a world is played by. */
export interface WorldClock {
  now(): Seconds;
  /** `+60` goes on by seconds, `2026-11-02T10:00:00Z` goes there; throws at anything else. */
  move(word: string): void;
}

/** A clock that stands at a moment until it is moved, or goes on from it `speed` times as fast as ours. */
export function worldClock(begin: Seconds, speed: number, ourMs: () => number = Date.now): WorldClock {
  let [setTo, setAtMs] = [begin, ourMs()];
  const now = (): Seconds => setTo + ((ourMs() - setAtMs) / 1000) * speed;
  return {
    now,
    move: (word) => {
      [setTo, setAtMs] = [momentOf(word, now()), ourMs()];
    },
  };
}

function momentOf(word: string, now: Seconds): Seconds {
  if (/^\+\d{1,9}$/.test(word)) return now + Number(word.slice(1));
  const ms = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(word) ? Date.parse(word) : Number.NaN;
  if (Number.isNaN(ms)) throw new Error(`the clock does not know "${word}": say +60 or 2026-11-02T10:00:00Z`);
  return ms / 1000;
}
