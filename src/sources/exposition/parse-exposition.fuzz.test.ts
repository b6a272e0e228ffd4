import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { parseExposition, readExposition } from './parse-exposition.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 10_000);
vi.setConfig({ testTimeout: Math.max(60_000, numRuns * 10) });

/** Pieces a line is made of, so that chance finds its way past the first letter. */
const piece = fc.constantFrom(
  'up',
  'a_total',
  '{',
  '}',
  '"',
  '=',
  ',',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\\',
  '\\n',
  '#',
  '# EOF',
  '# TYPE a gauge',
  '1',
  '1e999',
  '-Inf',
  'NaN',
  '0x1p-2',
  '1395066363000',
  '.',
  'st@1',
  '{"a.b"}',
  'l="v"',
  '__proto__="x"',
  '\u0000',
  'é',
  '\uFEFF',
);
const text = fc.oneof(
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

it('every line of whatever comes is a sample, a comment, a blank or a line of the report', () => {
  fc.assert(
    fc.property(text, (input) => {
      const { samples, report } = parseExposition(input, { lineCharsMax: 60 });
      const lines = input.split('\n').length - (input.endsWith('\n') || input === '' ? 1 : 0);
      const notUnderstood = report.notUnderstood.reduce((sum, { count }) => sum + count, 0);
      expect(report.lines).toBe(lines);
      expect(report.samples + report.comments + report.blank + notUnderstood).toBe(lines);
      expect(samples).toHaveLength(report.samples);
      for (const { name, value } of samples) expect([typeof name, typeof value]).toEqual(['string', 'number']);
    }),
    { numRuns },
  );
});

it('a text in pieces is the text', () => {
  fc.assert(
    fc.property(text, fc.nat(200), (input, cut) => {
      const whole = parseExposition(input);
      const samples: unknown[] = [];
      const reader = readExposition((sample) => samples.push(sample));
      reader.push(input.slice(0, cut));
      reader.push(input.slice(cut));
      expect({ samples, report: reader.end() }).toEqual(whole);
    }),
    { numRuns: Math.ceil(numRuns / 10) },
  );
});

const quote = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

it('what is written by the rules is read back, whatever the labels say', () => {
  const label = fc.tuple(fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/), fc.string({ unit: 'grapheme', maxLength: 20 }));
  const labels = fc.uniqueArray(label, { selector: ([name]) => name, maxLength: 5 });
  fc.assert(
    fc.property(labels, fc.double({ noNaN: true }), (pairs, value) => {
      const number = Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';
      const line = `m{${pairs.map(([name, said]) => `${name}="${quote(said)}"`).join(',')}} ${number}`;
      const [sample] = parseExposition(line).samples;
      expect(new Map(Object.entries(sample?.labels ?? {}))).toEqual(new Map(pairs));
      expect(sample?.value === value).toBe(true);
    }),
    { numRuns },
  );
});
