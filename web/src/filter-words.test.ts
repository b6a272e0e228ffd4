import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFilters } from '../../src/app/filter.ts';
import { conditionsOf, conditionText, conditionWords, filterText, filterWords } from './filter-words.ts';

describe('filters in the address', () => {
  it('any name is one value to the API, whatever stands in it', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => text.trim() === text && text !== '');
    fc.assert(
      fc.property(name, name, (team, user) => {
        const text = filterText({ name: 'team', value: team }, { name: 'user', value: user }) ?? '';
        expect(parseFilters([text]).map(({ dimension, values }) => [dimension.name, ...values])).toEqual([
          ['team', team],
          ['user', user],
        ]);
        expect(conditionsOf(text)).toHaveLength(2);
      }),
    );
  });

  it('what has no team is asked for by an empty name', () => {
    const text = conditionText({ name: 'team', value: null });
    expect(text).toBe('team=');
    expect(parseFilters([text])[0]?.values).toEqual([null]);
  });

  it.each([
    ['team=nlp|asr', 'team: nlp or asr', 'nlp or asr'],
    ['team=', 'team: unattributed', 'no team'],
    ['team=a\\,b\\|c', 'team: a,b|c', 'a,b|c'],
  ])('%s is told as %s', (condition, words, short) => {
    expect([conditionWords(condition), filterWords(condition)]).toEqual([words, short]);
  });

  it('nothing is no filter', () => expect(filterText(undefined, '')).toBeUndefined());
});
