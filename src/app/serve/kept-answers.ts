import type { StateStamp } from '../../state/state-stamp.ts';

/** The parts of the state beside the lake that an answer was made of. */
export type TouchedPart = 'findings' | 'sources' | 'statements';

export interface KeptAnswer<Value> {
  readonly value: Value;
  /** The state when it was asked; only the parts that were touched matter. */
  readonly stamp: StateStamp;
  readonly touched: ReadonlySet<TouchedPart>;
  readonly bytes: number;
}

export interface KeptAnswers<Value> {
  /** The answer under this key, if what it was made of is still so. */
  get(key: string, stamp: StateStamp): Value | undefined;
  keep(key: string, answer: KeptAnswer<Value>): void;
  bytes(): number;
}

/** What an entry costs beside its value: the key and the maps around it. */
const ENTRY_BYTES = 512;

/** Answers by what was asked, those asked for last; together never more than so many bytes. */
export function keptAnswers<Value>(bytesMax: number): KeptAnswers<Value> {
  // A Map keeps its order: the first is the one that was asked for longest ago.
  const answers = new Map<string, KeptAnswer<Value>>();
  let total = 0;
  const drop = (key: string): void => {
    const answer = answers.get(key);
    if (answer === undefined) return;
    answers.delete(key);
    total -= answer.bytes;
  };
  const shrink = (): void => {
    for (const key of answers.keys()) {
      if (total <= bytesMax) return;
      drop(key);
    }
  };
  return {
    get(key, stamp) {
      const answer = answers.get(key);
      if (answer === undefined) return undefined;
      if ([...answer.touched].some((part) => answer.stamp[part] !== stamp[part])) {
        drop(key);
        return undefined;
      }
      answers.delete(key);
      answers.set(key, answer);
      return answer.value;
    },
    keep(key, answer) {
      drop(key);
      const bytes = answer.bytes + key.length * 2 + ENTRY_BYTES;
      if (bytes > bytesMax / 4) return;
      answers.set(key, { ...answer, bytes });
      total += bytes;
      shrink();
    },
    bytes: () => total,
  };
}
