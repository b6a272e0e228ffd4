import { describe, expect, it } from 'vitest';
import { expositionFormat, parseExposition, readExposition } from './parse-exposition.ts';
import type { ExpositionOptions } from './parse-exposition.ts';

type Want = readonly { name?: string; labels?: object; value?: number; timestampMs?: number; line?: number }[];

const lines: Record<string, { text: string; options?: ExpositionOptions; want: Want }> = {
  'a bare value': { text: 'up 1', want: [{ name: 'up', labels: {}, value: 1, line: 1 }] },
  'labels, spaces everywhere and a comma too many': {
    text: '  up { a = "1" , b="2", }   0.5  ',
    want: [{ labels: { a: '1', b: '2' }, value: 0.5 }],
  },
  'empty labels': { text: 'up{} 1', want: [{ labels: {}, value: 1 }] },
  'escapes, and a backslash that is none': {
    text: String.raw`f{path="C:\\DIR\\x",error="a\nb\"c\"",odd="\d"} 1`,
    want: [{ labels: { path: 'C:\\DIR\\x', error: 'a\nb"c"', odd: '\\d' } }],
  },
  'braces, commas and hashes inside a value': {
    text: 'f{a="},{# 1"} 2',
    want: [{ labels: { a: '},{# 1' }, value: 2 }],
  },
  'a name in quotes, as newer exporters write them': {
    text: '{"my.metric","a.b"="c",d="e"} 3',
    want: [{ name: 'my.metric', labels: { 'a.b': 'c', d: 'e' }, value: 3 }],
  },
  'a label with a name every object has': {
    text: 'f{__proto__="x",constructor="y"} 1',
    want: [
      {
        labels: Object.fromEntries([
          ['__proto__', 'x'],
          ['constructor', 'y'],
        ]),
      },
    ],
  },
  infinities: {
    text: 'a +Inf\nb -Inf\nc Inf\nd -Infinity',
    want: [{ value: Infinity }, { value: -Infinity }, { value: Infinity }, { value: -Infinity }],
  },
  'not a number': { text: 'a NaN\nb nan', want: [{ value: NaN }, { value: NaN }] },
  'exponents and a point without digits': {
    text: 'a 1.458255915e9\nb .5\nc 3.\nd -2E-3\ne +7',
    want: [{ value: 1458255915 }, { value: 0.5 }, { value: 3 }, { value: -0.002 }, { value: 7 }],
  },
  'milliseconds in the text format': {
    text: 'a 1 1395066363000\nb 1 -3982045',
    options: { format: 'text' },
    want: [{ timestampMs: 1395066363000 }, { timestampMs: -3982045 }],
  },
  'seconds in OpenMetrics': {
    text: 'a 1 1395066363.5\nb 1 1395066363\n# EOF',
    options: { format: 'openmetrics' },
    want: [{ timestampMs: 1395066363500 }, { timestampMs: 1395066363000 }],
  },
  'milliseconds or seconds, told by their size': {
    text: 'a 1 1395066363000\nb 1 1395066363\nc 1 1395066363.25',
    want: [{ timestampMs: 1395066363000 }, { timestampMs: 1395066363000 }, { timestampMs: 1395066363250 }],
  },
  'an exemplar, with a time and without': {
    text: 'a_bucket{le="1"} 4 # {trace_id="ab # c"} 0.67\nb_bucket{le="1"} 4 1395066363 # {} 0.67 1395066360.1',
    want: [{ value: 4 }, { value: 4, timestampMs: 1395066363000 }],
  },
  'a start time, as OpenMetrics 2 has it': { text: 'a_total 4 1395066363 st@1395066000', want: [{ value: 4 }] },
  'created, info and stateset series are series': {
    text: 'a_created 1395066363\na_info{v="1"} 1\na{a="on"} 0',
    want: [{ name: 'a_created' }, { name: 'a_info' }, { name: 'a' }],
  },
  'the same series twice is both values': { text: 'a 1\na 2', want: [{ value: 1 }, { value: 2, line: 2 }] },
  'carriage returns, comments, blank lines, a byte order mark': {
    text: '\uFEFF# HELP a b\r\n# TYPE a gauge\r\n\r\n   \r\na 1\r\n#\r\n# odd comment\r\nb 2',
    want: [
      { name: 'a', value: 1, line: 5 },
      { name: 'b', value: 2, line: 8 },
    ],
  },
};

describe('lines that are understood', () => {
  it.each(Object.entries(lines))('%s', (_, { text, options, want }) => {
    const { samples, report } = parseExposition(text, options);
    expect(report.notUnderstood).toEqual([]);
    expect(samples).toMatchObject(want);
    expect(samples).toHaveLength(want.length);
  });
});

const strange: Record<string, { text: string; reason: string; options?: ExpositionOptions }> = {
  'a line of prose': { text: 'connection refused by host', reason: 'the value is not a number' },
  'a name that begins with a digit': { text: '9lives 1', reason: 'does not begin with the name of a metric' },
  'labels without a name': { text: '{a="b"} 1', reason: 'does not begin with the name of a metric' },
  'a name and nothing': { text: 'up', reason: 'no value' },
  'a quote that does not end': { text: 'up{a="b} 1', reason: 'a quoted text does not end' },
  'an escaped quote at the end': { text: 'up{a="b\\"} 1', reason: 'a quoted text does not end' },
  'labels that do not end': { text: 'up{a="b"', reason: 'the labels do not end' },
  'an unquoted label value': { text: 'up{a=b} 1', reason: 'the value of a label is not quoted' },
  'a quote inside a value, unescaped': { text: 'up{a="MacBook 14" rw"} 1', reason: 'labels are not parted by commas' },
  'a label without a name': { text: 'o{="foo"} 0', reason: 'a label has no name' },
  'the same label twice': { text: 'o{a="1",a="2"} 0', reason: 'the same label twice' },
  'a native histogram': { text: 'h {count:1,sum:2} 3', reason: 'a label has no value' },
  'a word for a time': { text: 'up 1 now', reason: 'the timestamp is not a number' },
  'too many numbers': { text: 'up 1 2 3', reason: 'more than a value and a timestamp' },
  'something after the end': { text: '# EOF\nup 1', reason: 'after # EOF' },
  'a line longer than can be': {
    text: `up{a="${'x'.repeat(500)}"} 1`,
    reason: 'a line longer than can be',
    options: { lineCharsMax: 100 },
  },
};

describe('lines that are not understood are reported, and the others are read', () => {
  it.each(Object.entries(strange))('%s', (_, { text, reason, options }) => {
    const { samples, report } = parseExposition(`good 1\n${text}\n${text}\n`, options);
    expect(report.notUnderstood).toMatchObject([{ reason, line: expect.any(Number), example: expect.any(String) }]);
    expect(report.notUnderstood[0]?.example.length).toBeLessThanOrEqual(120);
    expect(samples).toMatchObject([{ name: 'good' }]);
  });

  it('an exemplar that makes no sense leaves the value standing', () => {
    const { samples, report } = parseExposition('a 1 # {x=y} 1\nb 2 # what');
    expect(samples.map(({ value }) => value)).toEqual([1, 2]);
    expect(report).toMatchObject({ exemplars: 2, exemplarsNotUnderstood: 2, notUnderstood: [] });
  });
});

describe('a text in pieces', () => {
  const text = '# TYPE a gauge\na{b="é\\n"} 1 5\n\nwhat is this\nc 2 # {t="1"} 3\n# EOF\n';
  it('gives the same wherever it is cut', () => {
    const whole = parseExposition(text);
    for (let cut = 0; cut <= text.length; cut += 1) {
      const samples: unknown[] = [];
      const reader = readExposition((sample) => samples.push(sample));
      reader.push(text.slice(0, cut));
      reader.push(text.slice(cut));
      expect({ samples, report: reader.end() }).toEqual(whole);
    }
  });

  it('says whether it ends, and where every line went', () => {
    expect(parseExposition(text).report).toMatchObject({
      lines: 6,
      samples: 2,
      comments: 2,
      blank: 1,
      exemplars: 1,
      endsWithEof: true,
      notUnderstood: [{ count: 1, line: 4 }],
    });
    expect(parseExposition('a 1').report.endsWithEof).toBe(false);
  });

  it('keeps nothing of a line without end', () => {
    const reader = readExposition(() => undefined, { lineCharsMax: 1000 });
    for (let piece = 0; piece < 2000; piece += 1) reader.push('x'.repeat(10_000));
    expect(reader.end()).toMatchObject({ lines: 1, notUnderstood: [{ count: 1 }] });
  });
});

it.each([
  ['application/openmetrics-text; version=1.0.0; charset=utf-8', 'openmetrics'],
  ['text/plain; version=0.0.4; charset=utf-8', 'text'],
  ['text/plain', 'guess'],
  [undefined, 'guess'],
])('%s is %s', (type, want) => expect(expositionFormat(type)).toBe(want));
