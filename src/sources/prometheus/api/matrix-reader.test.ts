import { describe, expect, it } from 'vitest';
import { OperationError } from '../../../facts/operation-error.ts';
import { labelsOf, MatrixReader, readMatrix, type MatrixEnd } from './matrix-reader.ts';
import { expectedTimes } from './series-values.ts';

interface Read {
  readonly series: { labels: Record<string, string>; timesMs: number[]; values: number[] }[];
  readonly end: MatrixEnd;
}

function read(text: string | Buffer, chunkBytes = Infinity): Read {
  const bytes = Buffer.from(text);
  const series: Read['series'] = [];
  const reader = new MatrixReader((each) => {
    series.push({
      labels: labelsOf(each),
      timesMs: [...each.timesMs.subarray(0, each.count)],
      values: [...each.values.subarray(0, each.count)],
    });
  });
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  return { series, end: reader.finish() };
}

const answer = (result: string, more = '') =>
  `{"status":"success","data":{"resultType":"matrix","result":[${result}]}${more}}`;
const oneSeries = (values: string, labels = '{"gpu":"0"}') => `{"metric":${labels},"values":[${values}]}`;

describe('what a server says is read', () => {
  const cases: Record<
    string,
    { text: string; want: [labels: Record<string, string>, times: number[], values: number[]][] }
  > = {
    'no series': { text: answer(''), want: [] },
    'two samples': {
      text: answer(oneSeries('[1763287200,"0.5"],[1763287230.25,"97"]')),
      want: [[{ gpu: '0' }, [1763287200000, 1763287230250], [0.5, 97]]],
    },
    'two series': {
      text: answer(`${oneSeries('[1,"1"]')},${oneSeries('[2,"2"]', '{}')}`),
      want: [
        [{ gpu: '0' }, [1000], [1]],
        [{}, [2000], [2]],
      ],
    },
    'numbers in every spelling': {
      text: answer(
        oneSeries('[1,"NaN"],[2,"+Inf"],[3,"-Inf"],[4,"9.223372036854776e+18"],[5,"-3"],[6,"1e-05"],[7.5,8]'),
      ),
      want: [
        [
          { gpu: '0' },
          [1000, 2000, 3000, 4000, 5000, 6000, 7500],
          [NaN, Infinity, -Infinity, 9.223372036854776e18, -3, 1e-5, 8],
        ],
      ],
    },
    'as many digits as Go writes': {
      text: answer(oneSeries('[1763287200.781,"0.8731230000000001"],[1763287260.781,"123456.78901234567"]')),
      want: [[{ gpu: '0' }, [1763287200781, 1763287260781], [0.8731230000000001, 123456.78901234567]]],
    },
    'fractions of a second of any length': {
      text: answer(oneSeries('[1.1,"1"],[1.12,"1"],[1.1234,"1"],[1.123456789,"1"],[1.1234567891234,"1"]')),
      want: [[{ gpu: '0' }, [1100, 1120, 1123, 1123, 1123], [1, 1, 1, 1, 1]]],
    },
    'spaces and line breaks': {
      text: '\n{ "status" : "success" , "data" : { "result" : [ { "metric" : { "a" : "b" } , "values" : [ [ 1 , "2" ] , [ 2 , "3" ] ] } ] } }\n',
      want: [[{ a: 'b' }, [1000, 2000], [2, 3]]],
    },
    'an instant vector': {
      text: answer('{"metric":{"a":"b"},"value":[1794826740.5,"100"]}'),
      want: [[{ a: 'b' }, [1794826740500], [100]]],
    },
    'labels with everything in them': {
      text: answer(oneSeries('[1,"1"]', JSON.stringify({ a: '"]}{[\\,\n', ü: '日本', 'b"': '}' }))),
      want: [[{ a: '"]}{[\\,\n', ü: '日本', 'b"': '}' }, [1000], [1]]],
    },
    'histograms, statistics and fields nobody knows are passed over': {
      text: `{"status":"success","isPartial":false,"data":{"resultType":"matrix","stats":{"x":[1,{"y":"]}"}]},"result":[{"metric":{"gpu":"0"},"histograms":[[1,{"count":"5","buckets":[[0,"1","2","3"]]}]],"values":[[1,"1"]]}]}}`,
      want: [[{ gpu: '0' }, [1000], [1]]],
    },
    'values before labels': {
      text: answer('{"values":[[1,"1"]],"metric":{"gpu":"3"}}'),
      want: [[{ gpu: '3' }, [1000], [1]]],
    },
  };
  for (const [name, { text, want }] of Object.entries(cases)) {
    // Every cut there can be, also in the middle of a character.
    it.each([Infinity, 1, 2, 3, 7, 64])(`${name}, in pieces of %d bytes`, (chunkBytes) => {
      const { series } = read(text, chunkBytes);
      expect(series.map(({ labels, timesMs, values }) => [labels, timesMs, values])).toEqual(want);
    });
  }

  it('a series longer than the first arrays', () => {
    const pairs = Array.from({ length: 5000 }, (_, place) => `[${1763287200 + place},"${place}"]`);
    const { series, end } = read(answer(oneSeries(pairs.join(','))), 1000);
    expect(series[0]?.values).toEqual(Array.from({ length: 5000 }, (_, place) => place));
    expect(end).toMatchObject({ status: 'success', seriesCount: 1, sampleCount: 5000, histograms: 0 });
  });

  it('what it adds in words', () => {
    const { end } = read(answer('', ',"warnings":["store a is down"],"infos":["a hint"],"isPartial":true'), 5);
    expect(end.warnings).toEqual(['store a is down', 'a hint', 'the answer is partial']);
  });

  it('an error', () => {
    const { end } = read(
      '{"status":"error","errorType":"execution","error":"query processing would load too many samples"}',
    );
    expect([end.status, end.errorType, end.error]).toEqual([
      'error',
      'execution',
      'query processing would load too many samples',
    ]);
  });
});

describe('times that are expected', () => {
  const times = [1763287200.5, 1763287230.5, 1763287260.5];
  const expected = expectedTimes(Float64Array.from(times, (time) => time * 1000));
  const cases: Record<string, { got: number[]; met: boolean }> = {
    'are met': { got: times, met: true },
    'one is missing': { got: [times[0]!, times[2]!], met: false },
    'one more': { got: [...times, 1763287290.5], met: false },
    'a millisecond later': { got: [times[0]!, times[1]! + 0.001, times[2]!], met: false },
    'other ones': { got: [1763287201, 1763287231, 1763287261], met: false },
    none: { got: [], met: false },
  };
  for (const [name, { got, met }] of Object.entries(cases)) {
    it.each([Infinity, 1, 20, 33])(`${name}, in pieces of %d bytes`, (chunkBytes) => {
      const bytes = Buffer.from(
        answer(oneSeries(got.map((time, place) => `[${time.toFixed(3).replace('.000', '')},"0.${place}5"]`).join(','))),
      );
      const found: unknown[] = [];
      const reader = new MatrixReader(
        (each) =>
          found.push([each.timesMs.slice(0, each.count), each.values.slice(0, each.count), each.expected === expected]),
        () => expected,
      );
      for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
      reader.finish();
      expect(found).toEqual([
        [
          Float64Array.from(got, (time) => Math.round(time * 1000)),
          Float64Array.from(got, (_, place) => Number(`0.${place}5`)),
          met,
        ],
      ]);
    });
  }

  it('are none where their texts differ in length', () => {
    expect(expectedTimes(Float64Array.of(1763287200500, 1763287201000))).toBeUndefined();
  });
});

describe('what is no answer is an error', () => {
  const whole = answer(oneSeries('[1,"1"],[2,"2"]'), ',"warnings":["x"]');
  it('at whatever byte an answer breaks off', async () => {
    for (let length = 0; length < whole.length; length += 1) {
      const part = Buffer.from(whole).subarray(0, length);
      const body = (async function* () {
        yield part;
      })();
      const failure = await readMatrix(body, () => undefined).catch((error: unknown) => error);
      expect(failure, `${length} bytes`).toBeInstanceOf(OperationError);
      expect((failure as OperationError).code).toBe('cut-off');
    }
  });

  const cases: Record<string, string> = {
    'a web page': '<html><body>Sign in</body></html>',
    'a list': '[1]',
    'two answers one after the other': `${whole}${whole}`,
    'a result that is an object': '{"status":"success","data":{"result":[1]}}',
    'values that are no pairs': answer(oneSeries('1,2')),
    'pairs without a value': answer(oneSeries('[1],[2]')),
    'a value that is a point': answer(oneSeries('[1,"1"],[2,{}]')),
    'a label set without end': `{"status":"success","data":{"result":[{"metric":{"a":"${'x'.repeat(100_000)}`,
    'names without quotes': '{status:"success"}',
  };
  it.each(Object.entries(cases))('%s', (_, text) => {
    expect(() => read(text, 4096)).toThrow(OperationError);
    expect(() => read(text, 100)).toThrow(/no answer of the Prometheus API/);
  });
});
