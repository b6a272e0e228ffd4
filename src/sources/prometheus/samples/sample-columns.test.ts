import { describe, expect, it } from 'vitest';
import { NO_SAMPLE } from '../../../facts/source.ts';
import { GPU_METRICS, gpuMetricOf, toColumnValue, type GpuMetric } from '../../gpu-metrics/metric-columns.ts';
import { SampleColumns } from './sample-columns.ts';

const metric = (name: string): GpuMetric => {
  const found = gpuMetricOf(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const ENGINE = metric('DCGM_FI_PROF_GR_ENGINE_ACTIVE');
const UTIL = metric('DCGM_FI_DEV_GPU_UTIL');
const SENT = metric('DCGM_FI_PROF_PCIE_TX_BYTES');
const RECEIVED = metric('DCGM_FI_PROF_PCIE_RX_BYTES');
const FROM_S = 1_794_823_200;

/** Samples as [second of the hour, value]. */
type Samples = readonly (readonly [number, number])[];
interface Added {
  readonly device?: string;
  readonly metric: GpuMetric;
  readonly exporter?: string;
  readonly samples: Samples;
}

function columnsOf(added: readonly Added[], nowS = 3600): SampleColumns {
  const metrics = [...new Set(added.map((each) => each.metric))];
  const columns = new SampleColumns({
    metrics,
    fromMs: FROM_S * 1000,
    untilMs: (FROM_S + 3600) * 1000,
    futureMs: (FROM_S + nowS) * 1000 + 300_000,
    nearS: 15,
  });
  for (const { device = 'GPU-1', metric: of, exporter = 'a', samples } of added) {
    columns.add(columns.device(device), metrics.indexOf(of), exporter, {
      labelBytes: Buffer.from('{}'),
      labelLength: 2,
      count: samples.length,
      timesMs: Float64Array.from(samples, ([second]) => (FROM_S + second) * 1000),
      values: Float64Array.from(samples, ([, value]) => value),
    });
  }
  return columns;
}

function rowsOf(columns: SampleColumns): (number | undefined)[][] {
  const block = columns.block('b', 'replace', undefined);
  return Array.from({ length: block.rows }, (_, row) => [
    (block.tsSeconds[row] ?? 0) - FROM_S,
    ...[...block.metrics.values()].map((values) => (values[row] === NO_SAMPLE ? undefined : values[row])),
  ]);
}

const cases: Record<string, { added: Added[]; want: (number | undefined)[][] }> = {
  'metrics of one scrape are one row': {
    added: [
      {
        metric: ENGINE,
        samples: [
          [0, 0.5],
          [30, 0.25],
        ],
      },
      {
        metric: UTIL,
        samples: [
          [0, 90],
          [30, 91],
        ],
      },
    ],
    want: [
      [0, 500, 900],
      [30, 250, 910],
    ],
  },
  'a metric that comes less often is unknown in between': {
    added: [
      {
        metric: ENGINE,
        samples: [
          [0, 0.5],
          [30, 0.5],
          [60, 0.5],
        ],
      },
      { metric: UTIL, samples: [[30, 90]] },
    ],
    want: [
      [0, 500, undefined],
      [30, 500, 900],
      [60, 500, undefined],
    ],
  },
  'and so is one that comes more often': {
    added: [
      { metric: ENGINE, samples: [[30, 0.5]] },
      {
        metric: UTIL,
        samples: [
          [0, 1],
          [30, 2],
          [60, 3],
        ],
      },
    ],
    want: [
      [0, undefined, 10],
      [30, 500, 20],
      [60, undefined, 30],
    ],
  },
  'a sample at the beginning is in, one at the end is not': {
    added: [
      {
        metric: ENGINE,
        samples: [
          [-1, 0.1],
          [0, 0.2],
          [3599, 0.3],
          [3600, 0.4],
        ],
      },
    ],
    want: [
      [0, 200],
      [3599, 300],
    ],
  },
  'blanks are not values: near 2⁶³, 0x7FFFFFF0, below zero, NaN, far above one': {
    added: [
      {
        metric: ENGINE,
        samples: [
          [0, 2 ** 63],
          [30, 0x7ffffff0],
          [60, -1],
          [90, NaN],
          [120, 3],
          [150, 1.02],
        ],
      },
    ],
    want: [[150, 1000]],
  },
  'a pod leaves and another comes: one device': {
    added: [
      {
        metric: ENGINE,
        samples: [
          [60, 0.6],
          [90, 0.9],
        ],
      },
      {
        metric: ENGINE,
        samples: [
          [0, 0.1],
          [30, 0.3],
        ],
      },
    ],
    want: [
      [0, 100],
      [30, 300],
      [60, 600],
      [90, 900],
    ],
  },
  'pods that share a GPU repeat its values: once, not summed': {
    added: [
      { metric: ENGINE, samples: [[0, 0.6]] },
      { metric: ENGINE, samples: [[0, 0.6]] },
    ],
    want: [[0, 600]],
  },
  'a second exporter that says 0 a few seconds later does not hide work': {
    added: [
      {
        metric: ENGINE,
        exporter: 'a',
        samples: [
          [0, 0.6],
          [30, 0.6],
        ],
      },
      {
        metric: ENGINE,
        exporter: 'b',
        samples: [
          [7, 0],
          [37, 0.9],
        ],
      },
    ],
    want: [
      [0, 600],
      [30, 900],
    ],
  },
  'but fills in where the first was silent': {
    added: [
      { metric: ENGINE, exporter: 'a', samples: [[0, 0.6]] },
      {
        metric: ENGINE,
        exporter: 'b',
        samples: [
          [7, 0],
          [37, 0.2],
          [67, 0.3],
        ],
      },
    ],
    want: [
      [0, 600],
      [37, 200],
      [67, 300],
    ],
  },
  'sent and received make traffic only where both are known': {
    added: [
      {
        metric: SENT,
        samples: [
          [0, 1e9],
          [30, 2e9],
        ],
      },
      { metric: RECEIVED, samples: [[0, 5e8]] },
    ],
    want: [
      [0, 1500],
      [30, undefined],
    ],
  },
  'adding the same again changes nothing': {
    added: [
      {
        metric: ENGINE,
        samples: [
          [0, 0.6],
          [30, 0.7],
        ],
      },
      {
        metric: ENGINE,
        samples: [
          [0, 0.6],
          [30, 0.7],
        ],
      },
    ],
    want: [
      [0, 600],
      [30, 700],
    ],
  },
};

describe('series become rows', () => {
  it.each(Object.entries(cases))('%s', (_, { added, want }) => {
    expect(rowsOf(columnsOf(added))).toEqual(want);
  });

  it('samples from the future are left out and counted', () => {
    const columns = columnsOf(
      [
        {
          metric: ENGINE,
          samples: [
            [0, 0.5],
            [290, 0.5],
            [301, 0.5],
            [900, 0.5],
          ],
        },
      ],
      0,
    );
    expect([rowsOf(columns).length, columns.future]).toEqual([2, 2]);
  });

  it('more rows than there was room for at first', () => {
    const samples = Array.from({ length: 3600 }, (_, second) => [second, (second % 1000) / 1000] as const);
    const rows = rowsOf(columnsOf([{ metric: ENGINE, samples }]));
    expect(rows).toEqual(samples.map(([second]) => [second, second % 1000]));
  });

  it('every value comes out as toColumnValue gives it', () => {
    const values = [
      0,
      0.0004,
      0.0005,
      0.4999,
      1,
      1.05,
      1.06,
      55.5,
      99.99,
      1000,
      65_535,
      123_456_789,
      2e9,
      0x7fffffef,
      2 ** 47,
      -0.1,
    ];
    for (const of of GPU_METRICS.filter(({ share }) => share === 'whole')) {
      const samples = values.map((value, place) => [place, value] as const);
      const got = new Map(rowsOf(columnsOf([{ metric: of, samples }])).map(([second, value]) => [second, value]));
      for (const [place, value] of values.entries()) {
        expect(got.get(place), `${of.metric} ${value}`).toBe(toColumnValue(of, value));
      }
    }
  });
});

describe('how far apart samples are', () => {
  const every = (step: number, device: string): Added => ({
    device,
    metric: ENGINE,
    samples: Array.from({ length: 10 }, (_, place) => [place * step, 0.5] as const),
  });
  const steps: Record<string, { added: Added[]; want: number | undefined }> = {
    'all agree': { added: [every(30, 'a'), every(30, 'b')], want: 30 },
    'two intervals: the lake takes that of each': { added: [every(15, 'a'), every(60, 'b')], want: undefined },
    'too few to tell': { added: [{ metric: ENGINE, samples: [[0, 0.5]] }], want: 47 },
  };
  it.each(Object.entries(steps))('%s', (_, { added, want }) => {
    expect(columnsOf(added).block('b', 'replace', 47).stepS).toBe(want);
  });
});
