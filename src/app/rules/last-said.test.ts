import { expect, it } from 'vitest';
import { openEngine } from '../../lake/engine.ts';
import { lastSaid } from './last-said.ts';

it.each([
  { name: 'the newest, in whatever order rows come', rows: "('asr', 2), ('nlp', 1)", want: 'asr' },
  { name: 'nobody, where nobody is named last', rows: "('nlp', 1), (NULL, 2)", want: null },
  { name: 'somebody, where nobody was named before', rows: "(NULL, 1), ('nlp', 2)", want: 'nlp' },
  { name: 'nobody of nothing', rows: '(NULL, 1)', want: null },
])('what is said last is $name', async ({ rows, want }) => {
  const engine = await openEngine({ threads: 1, memoryLimitMb: 100 });
  const told = await engine.rows(`SELECT ${lastSaid('team', 'day')} AS team FROM (VALUES ${rows}) said(team, day)`);
  engine.close();
  expect(told).toEqual([{ team: want }]);
});
