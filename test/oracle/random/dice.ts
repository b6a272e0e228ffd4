/** Chance that can be repeated: the same seed gives the same throws, on every machine. */
export interface Dice {
  /** A whole number of `[least, greatest]`. */
  readonly int: (least: number, greatest: number) => number;
  readonly chance: (percent: number) => boolean;
  readonly pick: <T>(choices: readonly T[]) => T;
}

/** Mulberry32: 32 bits of state, integer arithmetic only. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const int = (least: number, greatest: number): number => least + (next() % (greatest - least + 1));
  return {
    int,
    chance: (percent) => int(1, 100) <= percent,
    pick: <T>(choices: readonly T[]): T => {
      const choice = choices[int(0, choices.length - 1)];
      if (choice === undefined) throw new Error('nothing to pick from');
      return choice;
    },
  };
}
