import { describe, expect, it } from 'vitest';
import type { StateStamp } from '../../state/state-stamp.ts';
import { keptAnswers } from './kept-answers.ts';
import type { TouchedPart } from './kept-answers.ts';

const stamp = (more: Partial<StateStamp> = {}): StateStamp => ({
  generation: 1,
  findings: 'f1',
  sources: 's1',
  statements: 't1',
  ...more,
});
const answer = (value: string, bytes = 100, touched: TouchedPart[] = []) => ({
  value,
  bytes,
  stamp: stamp(),
  touched: new Set(touched),
});

describe('kept answers', () => {
  it('are given again as long as what they were made of is so', () => {
    const kept = keptAnswers<string>(100_000);
    kept.keep('money', answer('spend'));
    kept.keep('list', answer('findings', 100, ['findings']));
    const accepted = stamp({ findings: 'f2' });
    expect(kept.get('money', accepted)).toBe('spend');
    expect(kept.get('list', stamp())).toBe('findings');
    expect(kept.get('list', stamp({ sources: 's2' }))).toBe('findings');
    expect(kept.get('list', accepted)).toBeUndefined();
    expect(kept.get('list', stamp())).toBeUndefined(); // Gone for good: nobody keeps what is wrong.
  });

  it('never take more than they may, and those asked for last stay', () => {
    const kept = keptAnswers<string>(10_000);
    for (const key of ['a', 'b', 'c', 'd']) kept.keep(key, answer(key, 1900));
    expect(kept.get('a', stamp())).toBe('a');
    kept.keep('e', answer('e', 1900));
    expect(kept.bytes()).toBeLessThanOrEqual(10_000);
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => kept.get(key, stamp()) !== undefined)).toEqual([
      'a',
      'c',
      'd',
      'e',
    ]);
  });

  it('one that is larger than a quarter of all is not kept', () => {
    const kept = keptAnswers<string>(10_000);
    kept.keep('a', answer('a', 1000));
    kept.keep('huge', answer('huge', 9000));
    expect(kept.get('huge', stamp())).toBeUndefined();
    expect(kept.get('a', stamp())).toBe('a');
  });

  it('the same key twice counts once', () => {
    const kept = keptAnswers<string>(10_000);
    kept.keep('a', answer('old', 1000));
    const once = kept.bytes();
    kept.keep('a', answer('new', 1000));
    expect(kept.bytes()).toBe(once);
    expect(kept.get('a', stamp())).toBe('new');
  });
});
