import { describe, expect, test } from 'vitest';
import { OperationError } from '../facts/operation-error.ts';
import { DIMENSIONS, filterOn, filterSql, filterText, parseDimensions, parseFilters } from './filter.ts';

const plain = (texts: readonly string[]) =>
  Object.fromEntries(parseFilters(texts).map(({ dimension, values }) => [dimension.name, values]));

describe('filters', () => {
  const cases: Record<string, { texts: string[]; want: Record<string, (string | null)[]> }> = {
    'one value': { texts: ['cluster=a'], want: { cluster: ['a'] } },
    'several dimensions': {
      texts: ['cluster=a,team=nlp', 'user=kim'],
      want: { cluster: ['a'], team: ['nlp'], user: ['kim'] },
    },
    'several values': { texts: ['team=nlp|asr'], want: { team: ['nlp', 'asr'] } },
    'a dimension named twice takes either': {
      texts: ['team=nlp', 'team=asr,team=nlp'],
      want: { team: ['nlp', 'asr'] },
    },
    'nothing is what nobody can say': { texts: ['team=', 'user=kim|'], want: { team: [null], user: ['kim', null] } },
    'an equals sign in a value': { texts: ['job=a=b'], want: { job: ['a=b'] } },
    'commas and bars can be kept': { texts: ['team=a\\,b|c\\|d'], want: { team: ['a,b', 'c|d'] } },
    'a bill has bars of its own': { texts: ['bill=AWS|111|2026-03'], want: { bill: ['AWS|111|2026-03'] } },
    'an hour, however written': {
      texts: ['hour=2026-11-01T10:00Z|2026-11-01T13:59:59+02:00'],
      want: { hour: ['2026-11-01 10:00:00', '2026-11-01 11:00:00'] },
    },
    'a day': { texts: ['day=2026-11-01'], want: { day: ['2026-11-01'] } },
    'no filter': { texts: ['', ' , '], want: {} },
  };
  test.each(Object.entries(cases))('%s', (_, { texts, want }) => expect(plain(texts)).toEqual(want));

  test.each([
    ['team', 'is not a filter'],
    ['=nlp', 'is not a filter'],
    ['tem=nlp', 'there is no dimension "tem"'],
    ['hour=10', 'is not an hour in UTC'],
    ['hour=2026-11-01T10:00:00', 'is not an hour in UTC'],
    ['day=yesterday', 'is not a day in UTC'],
  ])('%s is refused', (text, message) => {
    expect(() => parseFilters([text])).toThrow(OperationError);
    expect(() => parseFilters([text])).toThrow(message);
  });

  test('values reach the engine as parameters, never as text', () => {
    const { sql, params } = filterSql(
      parseFilters(["team=x'; DROP TABLE t|", 'hour=2026-11-01T10:00Z']),
      ({ name }) => name,
    );
    expect(sql).toBe('(team IN ($filter0x0) OR team IS NULL) AND (hour IN ($filter1x0))');
    expect(params).toEqual({ filter0x0: "x'; DROP TABLE t", filter1x0: new Date('2026-11-01T10:00:00Z') });
  });

  test('for people', () => {
    expect(filterText([...parseFilters(['team=|nlp']), filterOn('job', '101')])).toBe('team=unattributed|nlp, job=101');
  });
});

test('an unknown dimension is answered with the nearest', () => {
  const failure = (() => {
    try {
      return parseDimensions('clas');
    } catch (error) {
      return error as OperationError;
    }
  })();
  expect(failure).toMatchObject({ code: 'unknown-dimension', hint: expect.stringMatching(/^did you mean class\?/) });
});

test('every dimension of the README can be asked for, once', () => {
  const names =
    'team,project,user,environment,class,cluster,node,model,purchase,account,region,category,component,basis,day,hour,job';
  expect(
    parseDimensions(`${names}, team`)
      .map(({ name }) => name)
      .join(','),
  ).toBe(names);
  expect(DIMENSIONS.map(({ name }) => name)).toEqual(expect.arrayContaining(['bill', 'provider', 'device']));
});
