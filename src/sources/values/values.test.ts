import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MEBIBYTE, PERMILLE } from '../../facts/column.ts';
import type { Column } from '../../facts/column.ts';
import type { Engine } from '../../lake/engine.ts';
import { openEngine } from '../../lake/engine.ts';
import { parseTags } from './map-sql.ts';
import { migShareSql } from './mig-profile.ts';
import { parseDecimal, parseInteger } from './number-sql.ts';
import type { ParsedColumn } from './parsed-column.ts';
import { literal } from './sql-text.ts';
import type { TimeOptions } from './time-sql.ts';
import { parseTime } from './time-sql.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
});
afterAll(() => engine.close());

/** The value as text, or `!reason` where it is refused, as the layers of `compile` would compute it. */
async function read(parsed: ParsedColumn, value: string | null, type = 'VARCHAR'): Promise<string | null> {
  const given = value === null ? `CAST(NULL AS ${type})` : `CAST(${literal(value)} AS ${type})`;
  const added = (helpers: readonly (readonly [string, string])[], from: string): string =>
    `SELECT ${['*', ...helpers.map(([name, sql]) => `${sql} AS ${name}`)].join(', ')} FROM (${from})`;
  const layers = added(parsed.helpers, added(parsed.quick === undefined ? [] : [parsed.quick], `SELECT ${given} AS c`));
  const [row] = await engine.rows<{ value: string | null; problem: string | null }>(
    `SELECT CAST(${parsed.value} AS VARCHAR) AS value, ${parsed.problem ?? 'CAST(NULL AS VARCHAR)'} AS problem FROM (${layers})`,
  );
  return row?.problem == null ? (row?.value ?? null) : `!${row.problem}`;
}

describe('times become UTC in whole seconds', () => {
  const cases: Record<string, { text: string; options?: Partial<TimeOptions>; unit?: string; want: RegExp }> = {
    Z: { text: '2026-10-30T09:00:00Z', want: /^2026-10-30 09:00:00$/ },
    'an offset': { text: '2026-10-30T09:00:00+02:00', want: /^2026-10-30 07:00:00$/ },
    'an offset with minutes, a space, no seconds': { text: '2026-10-30 09:00 -0330', want: /^2026-10-30 12:30:00$/ },
    'a short offset': { text: '2026-10-30T09:00+02', want: /^2026-10-30 07:00:00$/ },
    'the letters UTC': { text: '2026-10-30 09:00:00 UTC', want: /^2026-10-30 09:00:00$/ },
    'fractions are cut': { text: '2026-10-30T09:00:00.999999Z', want: /^2026-10-30 09:00:00$/ },
    'no zone': { text: '2026-10-30 09:00:00', want: /^!is a time without a zone/ },
    'no zone, a day': { text: '2026-10-30', want: /^!is a time without a zone/ },
    'no zone in a bill': {
      text: '2026-10-30 09:00:00',
      options: { utcByContract: true },
      want: /^2026-10-30 09:00:00$/,
    },
    'a day in a bill': { text: '2026-10-30', options: { utcByContract: true }, want: /^2026-10-30 00:00:00$/ },
    'a stated zone in summer': {
      text: '2026-07-01 12:00:00',
      options: { zone: 'Europe/Berlin' },
      want: /^2026-07-01 10:00:00$/,
    },
    'a stated zone in winter': {
      text: '2026-12-01 12:00:00',
      options: { zone: 'Europe/Berlin' },
      want: /^2026-12-01 11:00:00$/,
    },
    'a stated zone does not move a time that has one': {
      text: '2026-07-01T12:00:00Z',
      options: { zone: 'Europe/Berlin' },
      want: /^2026-07-01 12:00:00$/,
    },
    'hour 30 of the FOCUS specification': { text: '2023-02-01T30:00:00Z', want: /^2023-02-02 06:00:00$/ },
    'hour 24 on New Year’s Eve': { text: '2026-12-31T24:00:00Z', want: /^2027-01-01 00:00:00$/ },
    'epoch seconds by their size': { text: '1662858720.0', want: /^2022-09-11 01:12:00$/ },
    'epoch milliseconds by their size': { text: '1662858720123', want: /^2022-09-11 01:12:00$/ },
    'seconds by their unit': { text: '946684800', unit: 's', want: /^2000-01-01 00:00:00$/ },
    'a clock that was never set': { text: '86400', unit: 's', want: /^!is not a time between 2000 and 2100/ },
    'nanoseconds by their unit': { text: '1662858720123456789', unit: 'ns', want: /^2022-09-11 01:12:00$/ },
    'an exponent': { text: '1.66285872e9', want: /^2022-09-11 01:12:00$/ },
    'a number of no known size': { text: '20261030', want: /^!is a number: say its unit/ },
    'another format': {
      text: '4/1/25',
      options: { utcByContract: true },
      want: /^!is not a time like .*--date-format/,
    },
    'another format, said': {
      text: '4/1/25',
      options: { utcByContract: true, dateFormat: '%m/%d/%y' },
      want: /^2025-04-01 00:00:00$/,
    },
    'another format, said, without a zone': {
      text: '4/1/25',
      options: { dateFormat: '%m/%d/%y' },
      want: /without a zone/,
    },
    'another format with a zone of its own': {
      text: '01.04.2025 02:00 +0200',
      options: { dateFormat: '%d.%m.%Y %H:%M %z' },
      want: /^2025-04-01 00:00:00$/,
    },
    'a day that is not there': { text: '2026-02-30T00:00:00Z', want: /^!is not a time/ },
    'for ever': { text: 'infinity', want: /^!is not a time/ },
    'a word': { text: 'yesterday', want: /^!is not a time/ },
  };
  it.each(Object.entries(cases))('%s', async (_, { text, options, unit, want }) => {
    const got = await read(parseTime({ ref: 'c', type: 'VARCHAR' }, unit, { utcByContract: false, ...options }), text);
    expect(got).toMatch(want);
  });

  it('typed columns say it themselves', async () => {
    const options = { utcByContract: false };
    const at = (type: string) => parseTime({ ref: 'c', type }, undefined, options);
    expect(await read(at('TIMESTAMP'), '2026-10-30 09:00:00.7', 'TIMESTAMP')).toBe('2026-10-30 09:00:00');
    expect(await read(at('TIMESTAMP WITH TIME ZONE'), '2026-10-30 09:00:00+02', 'TIMESTAMPTZ')).toBe(
      '2026-10-30 07:00:00',
    );
    expect(await read(at('BIGINT'), '1662858720000', 'BIGINT')).toBe('2022-09-11 01:12:00');
    expect(await read(at('DOUBLE'), '1662858720.9', 'DOUBLE')).toBe('2022-09-11 01:12:00');
  });
});

describe('numbers are converted exactly, half away from zero', () => {
  const permille: Column = {
    name: 'util_permille',
    kind: 'integer',
    unit: PERMILLE,
    knownRange: [0, 1000],
    meaning: '',
    example: '',
  };
  const mib: Column = {
    name: 'fb_used_mib',
    kind: 'integer',
    unit: MEBIBYTE,
    knownRange: [0, 1e8],
    meaning: '',
    example: '',
  };
  const count: Column = { name: 'gpu_count', kind: 'integer', meaning: '', example: '' };
  const BLANK = '-9223372036854775807';
  const cases: Record<
    string,
    { column: Column; unit?: string; text: string | null; type?: string; want: string | null }
  > = {
    percent: { column: permille, unit: 'percent', text: '7.6', want: '76' },
    'half a permille goes up': { column: permille, unit: 'percent', text: '7.65', want: '77' },
    'just below half does not': { column: permille, unit: 'percent', text: '7.649999999999', want: '76' },
    'a ratio': { column: permille, unit: 'ratio', text: '0.8705', want: '871' },
    'a ratio of many digits': { column: permille, unit: 'ratio', text: '0.000499999999', want: '0' },
    'a small float': { column: permille, unit: 'ratio', text: '1e-05', want: '0' },
    'bytes to MiB': { column: mib, unit: 'bytes', text: '33879490560.0', want: '32310' },
    'half a MiB': { column: mib, unit: 'bytes', text: '524288', want: '1' },
    'just below half a MiB': { column: mib, unit: 'bytes', text: '524287.9', want: '0' },
    gigabytes: { column: mib, unit: 'gb', text: '80', want: '76294' },
    'megabytes in a typed column': { column: mib, unit: 'mb', text: '524.288', type: 'DECIMAL(10,3)', want: '500' },
    'a float column': { column: permille, unit: 'ratio', text: '0.87', type: 'DOUBLE', want: '870' },
    'a blank of 32 bits': { column: permille, unit: 'percent', text: '2147483632', want: BLANK },
    'a blank of 64 bits': { column: permille, unit: 'percent', text: '9223372036854775792', want: BLANK },
    'a blank in a typed column': {
      column: permille,
      unit: 'percent',
      text: '9223372036854775792',
      type: 'BIGINT',
      want: BLANK,
    },
    'a blank float': { column: permille, text: '140737488355328', type: 'DOUBLE', want: BLANK },
    'not a number is no value': { column: permille, unit: 'percent', text: 'NaN', want: null },
    'nor is a driver’s word for nothing': { column: mib, text: '[N/A]', want: null },
    'another word is a mistake': { column: mib, text: 'lots', want: '!is not a number' },
    'a count': { column: count, text: '8.0', want: '8' },
    'half a GPU is not a count': { column: count, text: '0.5', want: '!is not a whole number' },
    'nor is a debt of GPUs': { column: count, text: '-1', want: '!is negative' },
    'a count beyond counting': { column: count, text: '1e20', want: '!is too large' },
    'nothing stays nothing': { column: count, text: null, want: null },
  };
  it.each(Object.entries(cases))('%s', async (_, { column, unit, text, type = 'VARCHAR', want }) => {
    expect(await read(parseInteger({ ref: 'c', type }, column, unit), text, type)).toBe(want);
  });
});

describe('amounts keep every digit', () => {
  const cases: Record<string, { text: string; type?: string; want: string }> = {
    'a whole number': { text: '12', want: '12.000000000000000000' },
    'tiny and negative': { text: '-0.00000080000', want: '-0.000000800000000000' },
    'all eighteen decimals': {
      text: '123456789012345678.123456789012345678',
      want: '123456789012345678.123456789012345678',
    },
    'zeros beyond do not count': { text: '0.1000000000000000000000', want: '0.100000000000000000' },
    'nineteen decimals': { text: '0.1234567890123456789', want: '!has more than 18 decimals' },
    'an exponent': { text: '1e-7', want: '0.000000100000000000' },
    'an exponent and digits': { text: '-1.5E-10', want: '-0.000000000150000000' },
    'a large exponent': { text: '1.5e+3', want: '1500.000000000000000000' },
    'an exponent that just fits': { text: '100e-20', want: '0.000000000000000001' },
    'an exponent too deep': { text: '1e-19', want: '!has more than 18 decimals' },
    'zero however deep': { text: '0e-30', want: '0.000000000000000000' },
    'no digit before the point': { text: '.5', want: '0.500000000000000000' },
    'a plus': { text: '+3.25', want: '3.250000000000000000' },
    'a float through its shortest text': { text: '0.1', type: 'DOUBLE', want: '0.100000000000000000' },
    'a small float': { text: '0.00001605990', type: 'DOUBLE', want: '0.000016059900000000' },
    'a float of sixteen digits': { text: '0.3000000000000004', type: 'DOUBLE', want: '0.300000000000000400' },
    'a float a breath beside a short one': {
      text: '0.30000000000000004',
      type: 'DOUBLE',
      want: '0.300000000000000040',
    },
    'a large float': { text: '123456.789', type: 'DOUBLE', want: '123456.789000000000000000' },
    'a float below zero': { text: '-999.123456789012', type: 'DOUBLE', want: '-999.123456789012000000' },
    'a typed whole number': { text: '-7', type: 'BIGINT', want: '-7.000000000000000000' },
    'a typed decimal too deep': {
      text: '0.1234567890123456789',
      type: 'DECIMAL(38,19)',
      want: '!has more than 18 decimals',
    },
    'a typed decimal': { text: '98.32', type: 'DECIMAL(18,6)', want: '98.320000000000000000' },
    'a price tag': {
      text: '$10,000.00',
      want: '!has a currency sign or a thousands separator: export it as a plain number like 10000.00',
    },
    'a thousands separator': {
      text: '1,950',
      want: '!has a currency sign or a thousands separator: export it as a plain number like 10000.00',
    },
    'digits grouped by underscores': { text: '1_000', want: '!is not a number' },
    'a word': { text: 'free', want: '!is not a number' },
    'more than the world has': { text: '123456789012345678901', want: '!is too large' },
  };
  it.each(Object.entries(cases))('%s', async (_, { text, type = 'VARCHAR', want }) => {
    expect(await read(parseDecimal({ ref: 'c', type }), text, type)).toBe(want);
  });
});

describe('tags are sorted by key', () => {
  const cases: Record<string, { text: string; type?: string; want: string }> = {
    'a JSON object': { text: '{"team": "nlp", "class": "training"}', want: '{class=training, team=nlp}' },
    'nested values as JSON': { text: '{"a": {"b": [1]}, "n": 2}', want: `{a='{"b":[1]}', n=2}` },
    'an empty object': { text: '{}', want: '{}' },
    pairs: { text: 'team=nlp; class=a=b', want: `{class='a=b', team=nlp}` },
    'a list is not tags': { text: '[1]', want: '!is not a JSON object or a=b;c=d' },
    'broken JSON': { text: '{"a":', want: '!is not a JSON object or a=b;c=d' },
    'a key twice': { text: '{"a": 1, "a": 2}', want: '!is not a JSON object or a=b;c=d' },
    'a typed map': { text: '{b=2, a=1}', type: 'MAP(VARCHAR, VARCHAR)', want: '{a=1, b=2}' },
    'a struct, without what it lacks': {
      text: "{'b': 2, 'a': NULL}",
      type: 'STRUCT(b INTEGER, a INTEGER)',
      want: '{b=2}',
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { text, type = 'VARCHAR', want }) => {
    expect(await read(parseTags({ ref: 'c', type }), text, type)).toBe(want);
  });
});

describe('a MIG profile stands for memory slots of eight', () => {
  it.each([
    ['1g.10gb', 'NVIDIA H100 80GB HBM3', 1],
    ['1g.10gb+me', 'NVIDIA H100 80GB HBM3', 1],
    ['1g.20gb', 'NVIDIA H100 80GB HBM3', 2],
    ['1g.5gb', 'NVIDIA A100-SXM4-40GB', 1],
    ['1g.10gb', 'NVIDIA A100-SXM4-40GB', 2],
    ['1g.18gb', 'NVIDIA H200', 1],
    ['2g.20gb', null, 2],
    ['3g.40gb', null, 4],
    ['4g.40gb', null, 4],
    ['7g.80gb', null, 8],
    ['1g.6gb', 'NVIDIA A30', 2],
    ['4g.24gb', 'NVIDIA A30', 8],
  ])('%s of %s: %d', async (profile, model, slots) => {
    const [row] = await engine.rows<{ units: number }>(
      `SELECT ${migShareSql(literal(profile), model === null ? 'NULL' : literal(model))} AS units`,
    );
    expect(Number(row?.units)).toBe(slots * 7875);
  });

  it('of an unknown profile nothing is said', async () => {
    const [row] = await engine.rows<{ units: number | null }>(`SELECT ${migShareSql(`'5g.50gb'`, 'NULL')} AS units`);
    expect(row?.units).toBeNull();
  });
});
