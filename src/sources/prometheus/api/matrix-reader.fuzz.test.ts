import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OperationError } from '../../../facts/operation-error.ts';
import { labelsOf, MatrixReader } from './matrix-reader.ts';
import { expectedTimes } from './series-values.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000);

interface Answer {
  readonly status: string;
  readonly data: {
    readonly resultType: string;
    readonly result: readonly { metric: Record<string, string>; values: [number, string][] }[];
  };
}

const number = fc.oneof(
  fc.constantFrom('NaN', '+Inf', '-Inf', '0', '9.223372036854776e+18', '-1', '1e-07'),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
  fc.integer({ min: 0, max: 1_000_000 }).map((value) => String(value / 1_000_000)),
);
const pair = fc.tuple(
  // Often the same times again, as in the answers of servers.
  fc
    .oneof(
      fc.integer({ min: 0, max: 4_000_000_000_000 }),
      fc.integer({ min: 0, max: 3 }).map((place) => 1_763_287_200_125 + place * 30_000),
    )
    .map((ms) => ms / 1000),
  number,
);
const series = fc.record({
  metric: fc.dictionary(fc.string({ unit: 'binary', maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 12 }), {
    maxKeys: 4,
  }),
  values: fc.array(pair, { maxLength: 12 }),
});
const answer: fc.Arbitrary<Answer> = fc.record({
  status: fc.constant('success'),
  data: fc.record({ resultType: fc.constant('matrix'), result: fc.array(series, { maxLength: 4 }) }),
});
const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 });

function feed(reader: MatrixReader, bytes: Buffer, lengths: readonly number[]): void {
  for (let [at, turn] = [0, 0]; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    reader.push(bytes.subarray(at, at + length));
    at += length;
  }
}

it('reads what JSON.parse reads, wherever the bytes are cut', () => {
  let differing = '';
  fc.assert(
    fc.property(answer, cuts, fc.boolean(), fc.boolean(), (given, lengths, isSpaced, isExpected) => {
      const bytes = Buffer.from(JSON.stringify(given, undefined, isSpaced ? 1 : 0));
      const got: { metric: Record<string, string>; times: number[]; values: number[] }[] = [];
      const reader = new MatrixReader(
        (each) => {
          got.push({
            metric: labelsOf(each),
            times: [...each.timesMs.subarray(0, each.count)],
            values: [...each.values.subarray(0, each.count)],
          });
        },
        () =>
          isExpected
            ? expectedTimes(
                Float64Array.from(given.data.result[0]?.values ?? [], ([seconds]) => Math.round(seconds * 1000)),
              )
            : undefined,
      );
      feed(reader, bytes, lengths);
      const { status } = reader.finish();
      const { data } = JSON.parse(bytes.toString('utf8')) as Answer;
      const want = data.result.map(({ metric, values }) => ({
        metric,
        times: values.map(([seconds]) => Math.round(seconds * 1000)),
        values: values.map(([, text]) => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text))),
      }));
      differing ||= status === 'success' && isDeepStrictEqual(got, want) ? '' : JSON.stringify(given);
      return differing === '';
    }),
    { numRuns: RUNS },
  );
  expect(differing).toBe('');
}, 600_000);

it('ends with an answer or an OperationError, whatever comes', () => {
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    drop: fc.nat(20),
    put: fc.uint8Array({ maxLength: 6 }),
  });
  let refused = 0;
  fc.assert(
    fc.property(answer, fc.array(change, { minLength: 1, maxLength: 3 }), cuts, (given, changes, lengths) => {
      let bytes = Buffer.from(JSON.stringify(given));
      for (const { at, drop, put } of changes) {
        const from = Math.floor(at * bytes.length);
        bytes = Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(from + drop)]);
      }
      const reader = new MatrixReader((each) => {
        try {
          labelsOf(each);
        } catch (error) {
          if (!(error instanceof OperationError)) throw error;
        }
      });
      try {
        feed(reader, bytes, lengths);
        reader.finish();
      } catch (error) {
        refused += 1;
        if (!(error instanceof OperationError)) throw error;
      }
    }),
    { numRuns: RUNS },
  );
  expect(refused).toBeGreaterThan(RUNS / 4);
}, 600_000);
