import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printed, reply, request } from '../../../../test/asked-route.ts';
import { fleetFolder } from '../../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../../test/small-fleet.ts';
import type { DimensionValuesReply } from './dimensions.ts';
import { dimensionsRoute, dimensionValuesRoute } from './dimensions.ts';
import { ruleSuggestionsRoute } from './rule-suggestions.ts';
import type { SuggestionsReply } from './rule-suggestions.ts';
import type { BreakdownReply } from './spend-breakdown.ts';
import { spendBreakdownRoute } from './spend-breakdown.ts';
import { spendWhyRoute } from './spend-why.ts';
import type { WhyReply } from './spend-why.ts';
import { spendRoute } from './spend.ts';
import type { SpendReply } from './spend.ts';

const MARCH = '2026-03-01/2026-04-01';

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

const sum = (all: readonly (string | null)[]): bigint => all.reduce((total, each) => total + BigInt(each ?? '0'), 0n);

describe('spend', () => {
  const cases: Readonly<Record<string, Record<string, string>>> = {
    'by team': { window: MARCH },
    'by two, in steps': { window: MARCH, by: 'team,category', step: '1d' },
    'of one team at marginal prices': { window: MARCH, by: 'user', team: 'nlp', price: 'marginal' },
    'with a filter': { window: MARCH, by: 'class', filter: 'cluster=a|b,category=idle' },
    'of nothing': { window: '2026-01', by: 'team' },
  };
  test.each(Object.entries(cases))('%s: its command prints the same, as JSON and as CSV', async (_, query) => {
    const answer = await reply<SpendReply>(fleet.dataDir, spendRoute, query);
    expect(answer).toEqual(JSON.parse(await printed(fleet.dataDir, spendRoute, query, '--json')));
    if (answer.rows.length === 0) return;
    const csv = await (await request(fleet.dataDir, spendRoute.path, { ...query, format: 'csv' })).text();
    expect(csv).toBe(await printed(fleet.dataDir, spendRoute, query, '--csv'));
  });

  test('a window nobody can read is refused with what to do', async () => {
    const response = await request(fleet.dataDir, spendRoute.path, { window: 'yesteryear' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ hint: expect.stringContaining('For example 30d') as string });
  });

  test('who asks for one team gets no other by a filter', async () => {
    const { rows } = await reply<SpendReply>(fleet.dataDir, spendRoute, {
      window: MARCH,
      team: 'nlp',
      filter: 'team=asr',
    });
    expect(rows).toEqual([]);
  });
});

describe('breakdown', () => {
  const ask = (query: Record<string, string>): Promise<BreakdownReply> =>
    reply(fleet.dataDir, spendBreakdownRoute, { window: MARCH, ...query });

  test.each([
    { by: 'team' },
    { by: 'team', top: '1' },
    { by: 'team,class', top: '2' },
    { by: 'job', top: '3', step: '1h', window: '2026-03-02' },
    { by: 'category' },
    { by: 'class', filter: 'cluster=a' },
  ])('rows and others of %o add up to the total, in sum, by category and by step', async (query) => {
    const { rows, others, total, steps } = await ask(query);
    const parts = [...rows, ...(others === null ? [] : [others])];
    expect(sum(parts.map(({ usdMicros }) => usdMicros))).toBe(BigInt(total.usdMicros ?? '0'));
    for (const part of [...parts, total]) {
      const bySteps = sum(part.steps.usdMicros);
      const byCategory = sum(Object.values(part.categories).map(({ usdMicros }) => usdMicros));
      expect([bySteps, byCategory]).toEqual([BigInt(part.usdMicros ?? '0'), BigInt(part.usdMicros ?? '0')]);
      expect(part.steps.usdMicros).toHaveLength(steps.length);
    }
  });

  test('the total is that of spend, and its command prints the groups', async () => {
    const { rows, total } = await ask({ by: 'team' });
    const answer = JSON.parse(
      await printed(fleet.dataDir, spendBreakdownRoute, { window: MARCH }, '--json'),
    ) as SpendReply;
    expect(total.usdMicros).toBe(answer.totalUsdMicros);
    expect(rows.map(({ values, usdMicros }) => [values['team'], usdMicros])).toEqual(
      answer.rows.map((row) => [row['team'], row.costUsdMicros]),
    );
  });

  test('two hours against the two before: what was there only before stays', async () => {
    const { before, rows } = await ask({ by: 'team', window: '2026-03-02T10:00:00Z/2026-03-02T12:00:00Z' });
    expect(before.isKnown).toBe(true);
    // Team vision held its GPU until ten.
    expect(rows.find(({ values }) => values['team'] === 'vision')).toMatchObject({ beforeUsdMicros: '4000000' });
  });

  test('what nobody owns comes last, and what has no price is null', async () => {
    const { rows } = await ask({ by: 'model' });
    expect(rows.at(-1)?.values['model']).toBeNull();
    expect(rows.find(({ values }) => values['model'] === 'Zorg')?.usdMicros).toBeNull();
  });

  test('days before the first fact are not known; on a known day a team that held nothing paid nothing', async () => {
    const query = { window: '2026-03-01/2026-03-03', by: 'team', step: '6h' };
    const { rows, total } = await ask(query);
    const known = total.steps.usdMicros.map((micros) => micros !== null);
    expect(known).toEqual([false, false, false, false, true, true, true, true]);
    expect(total.steps.gpuSeconds.map((seconds) => seconds !== null)).toEqual(known);
    for (const { steps } of [...rows, (await ask({ ...query, filter: 'team=nlp' })).total]) {
      expect(steps.usdMicros.slice(0, 5)).toEqual([null, null, null, null, '0']);
    }
  });

  test('too many steps are refused with what to do', async () => {
    const response = await request(fleet.dataDir, spendBreakdownRoute.path, {
      window: '2025-03-03/2026-03-03',
      step: '1h',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ hint: expect.stringContaining('longer step') as string });
  });
});

describe('why', () => {
  test.each([
    '',
    'team=nlp',
    'category=idle',
    'team=nlp,category=computing',
    'class=',
    'team=,category=beside',
    'basis=billed',
  ])('rows, others and figure of "%s" add up, and ledger explain says the same', async (filter) => {
    const query = { window: MARCH, filter };
    const why = await reply<WhyReply>(fleet.dataDir, spendWhyRoute, query);
    const { figure } = JSON.parse(await printed(fleet.dataDir, spendWhyRoute, query, '--json')) as {
      figure: Pick<WhyReply['figure'], 'usdMicros' | 'gpuSeconds'>;
    };
    expect(why.figure).toMatchObject({ usdMicros: figure.usdMicros, gpuSeconds: figure.gpuSeconds });
    expect(why.differenceUsdMicros).toBe('0');
    const whole = BigInt(why.figure.usdMicros ?? '0');
    expect(sum([...why.rows.map(({ usdMicros }) => usdMicros), why.others?.usdMicros ?? null])).toBe(whole);
    expect(sum(why.rules.map(({ usdMicros }) => usdMicros))).toBe(whole);
    expect(sum(why.rates.map(({ usdMicros }) => usdMicros))).toBe(whole);
  });

  test('a name that a spreadsheet would run is text in the CSV', async () => {
    const response = await request(fleet.dataDir, spendWhyRoute.path, {
      window: MARCH,
      filter: 'user=kim',
      format: 'csv',
    });
    expect(await response.text()).toContain(",'=serve,");
  });
});

test('a breakdown as CSV adds up to its total, with what is not listed by itself', async () => {
  const query = { window: MARCH, by: 'job', top: '1' };
  const { total, others } = await reply<BreakdownReply>(fleet.dataDir, spendBreakdownRoute, query);
  const file = await (await request(fleet.dataDir, spendBreakdownRoute.path, { ...query, format: 'csv' })).text();
  const [head = '', ...lines] = file.trimEnd().split('\n');
  const column = head.split(',').indexOf('usdMicros');
  const micros = lines.map((line) => line.split(',')[column] ?? null);
  expect(others?.groups).toBeGreaterThan(0);
  expect(String(sum(micros))).toBe(total.usdMicros);
  expect(lines.at(-1)).toMatch(new RegExp(`^\\(others\\),.*,${others?.groups}$`));
});

describe('dimensions', () => {
  test('every dimension is named; those of jobs and hours are typed', async () => {
    const { dimensions } = await reply<{ dimensions: { name: string; isListed: boolean }[] }>(
      fleet.dataDir,
      dimensionsRoute,
    );
    expect(dimensions.find(({ name }) => name === 'team')?.isListed).toBe(true);
    expect(dimensions.find(({ name }) => name === 'job')?.isListed).toBe(false);
  });

  test('teams stand in the order they first cost something, the dearest of the day first, nobody last', async () => {
    const { values } = await reply<DimensionValuesReply>(
      fleet.dataDir,
      dimensionValuesRoute,
      {},
      '/api/v1/dimensions/team',
    );
    expect(values.map(({ value }) => value)).toEqual(['nlp', 'asr', 'vision', 'platform', null]);
  });

  test('a viewer of one team is told of no other', async () => {
    const { values } = await reply<DimensionValuesReply>(
      fleet.dataDir,
      dimensionValuesRoute,
      { team: 'nlp' },
      '/api/v1/dimensions/team',
    );
    expect(values.map(({ value }) => value)).toEqual(['nlp']);
  });

  test('a dimension there is none of is refused with the nearest', async () => {
    const response = await request(fleet.dataDir, '/api/v1/dimensions/teem');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ hint: expect.stringContaining('did you mean team') as string });
  });
});

test('suggested rules are those of the command, each with its YAML', async () => {
  const query = { window: MARCH };
  const answer = await reply<SuggestionsReply>(fleet.dataDir, ruleSuggestionsRoute, query);
  const told = JSON.parse(await printed(fleet.dataDir, ruleSuggestionsRoute, query, '--json')) as SuggestionsReply;
  expect(answer).toMatchObject(told);
  expect(answer.rules.length + answer.shared.length).toBe(told.rules.length + told.shared.length);
  for (const { yaml } of [...answer.rules, ...answer.shared]) expect(yaml).toMatch(/^(rules|shared):\n/);
});
