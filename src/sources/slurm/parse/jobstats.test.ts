import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readJobstats } from './jobstats.ts';

const packed = (value: unknown) => `JS1:${gzipSync(JSON.stringify(value)).toString('base64')}`;

it('reads what jobstats kept of a job', () => {
  const summary = {
    nodes: {
      'gpu-01': { cpus: 8, gpu_utilization: { '0': 95.2, '3': 0 }, gpu_used_memory: { '0': 1024 }, total_time: 10 },
    },
    total_time: 3600,
    gpus: 2,
  };
  expect(readJobstats(packed(summary))).toEqual({
    nodes: [
      {
        node: 'gpu-01',
        gpus: [
          { index: 0, utilisationPercent: 95.2, memoryUsedBytes: 1024 },
          { index: 3, utilisationPercent: 0 },
        ],
      },
    ],
  });
});

it.each([
  ['somebody else’s comment', 'ask Kim'],
  ['a job too short to tell', 'JS1:Short'],
  ['cut off', packed({ nodes: {} }).slice(0, 40)],
  ['not packed', `JS1:${Buffer.from('x'.repeat(40)).toString('base64')}`],
  ['a bomb', `JS1:${gzipSync(Buffer.alloc(64 * 1024 * 1024)).toString('base64')}`],
])('%s is no summary', (_, comment) => expect(readJobstats(comment)).toBeUndefined());
