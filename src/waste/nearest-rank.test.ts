import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqlTexts, textsInOne } from '../facts/sql-row.ts';
import { openEngine, type Engine } from '../lake/engine.ts';
import { nearestRank } from './nearest-rank.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
});
afterAll(() => engine.close());

test.each([
  { name: 'one value is all of them', values: '(7)', percent: 50, want: 7 },
  { name: 'of two the lesser is the middle one', values: '(9), (4)', percent: 50, want: 4 },
  { name: 'of three the second is', values: '(9), (4), (5)', percent: 50, want: 5 },
  { name: 'the 99th of a few is the largest', values: '(1), (2), (3)', percent: 99, want: 3 },
  {
    name: 'the best tenth of eleven is the second',
    values: '(5),(1),(2),(5),(5),(5),(5),(5),(5),(5),(5)',
    percent: 10,
    want: 2,
  },
  { name: 'of those that are meant', values: '(1), (2), (30), (40)', percent: 50, where: 'x > 9', want: 30 },
  { name: 'of none it is unknown', values: '(1), (2)', percent: 50, where: 'x > 9', want: null },
])('$name', async ({ values, percent, where, want }) => {
  const sql = `SELECT ${nearestRank('x', percent, where)} AS found FROM (VALUES ${values}) AS v(x)`;
  expect(await engine.rows(sql)).toEqual([{ found: want }]);
});

test('many texts come in one and are many again', async () => {
  const array = "array_agg(x ORDER BY x DESC) FILTER (WHERE x <> '-')";
  const asked = (values: string) =>
    engine.rows<{ found: unknown }>(`SELECT ${textsInOne(array)} AS found FROM (VALUES ${values}) AS v(x)`);
  const found = async (values: string) => sqlTexts.nullable().parse((await asked(values))[0]?.found);
  expect(await found("('a, b'), ('-'), ('job k8s/1/0')")).toEqual(['job k8s/1/0', 'a, b']);
  expect(await found("('-')")).toBeNull();
});
