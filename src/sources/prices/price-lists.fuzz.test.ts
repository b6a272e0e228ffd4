import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listedAccelerator } from '../../facts/accelerators.ts';
import { dayOfFile, providerOfFile } from './feed-origin.ts';
import { flatCsv } from './flat-list.ts';
import { isGcpCalculator, readGcpCalculator } from './gcp-calculator.ts';
import { nestedList } from './nested-json.ts';
import { priceColumns } from './price-columns.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const options = { numRuns };

const LINES = [
  'compute:',
  '  instance:',
  '    a2-highgpu-1g:',
  '      cost:',
  '        us-central1:',
  '          hour: 3.67',
  '          month_1y: 1689',
  '      cpu: 12',
  '      a100: 1',
  'about:',
  '  timestamp: 1785391997',
  '  license:',
];

/** Lines of a list in any order, cut anywhere, with anything between. */
const yaml = fc
  .array(
    fc.oneof(
      fc.constantFrom(...LINES),
      fc.string({ maxLength: 40 }),
      fc.nat(20).map((n) => ' '.repeat(n) + 'x:'),
    ),
    { maxLength: 30 },
  )
  .map((lines) => lines.join('\n'));

test('a Google price list may hold anything', { timeout: 600_000 }, () => {
  fc.assert(
    fc.property(yaml, (text) => {
      isGcpCalculator(text);
      const { rows } = readGcpCalculator(text);
      for (const row of rows) expect(row.instance_type).not.toBe(undefined);
      flatCsv(rows);
    }),
    options,
  );
});

const word = fc.constantFrom(
  'SpotPriceHistory',
  'Items',
  'pricing',
  'retailPrice',
  'apiName',
  'us-east-1',
  'onDemand',
  'reserved',
  'linux',
  'InstanceType',
  'SpotPrice',
  'reservationTerm',
  'gpu',
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ maxLength: 8 }),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(word, tie('value'), { maxKeys: 5 }),
})).value;

test('a JSON price list may hold anything', { timeout: 600_000 }, () => {
  fc.assert(
    fc.property(json, (value) => {
      const list = nestedList(value);
      if (list === undefined) return;
      const lines = flatCsv(list.rows).split('\n');
      for (const row of list.rows)
        for (const each of Object.values(row)) expect(['string', 'number']).toContain(typeof each);
      expect(lines.length).toBeGreaterThan(0);
    }),
    options,
  );
});

test('columns, file names and accelerators may be called anything', { timeout: 600_000 }, () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20, unit: 'binary' }), { maxLength: 8 }), (names) => {
      const found = priceColumns([...names, 'Price', 'InstanceType']);
      expect(found?.byRole.get('instance_type')).toBeDefined();
      const path = names.join('/');
      providerOfFile(path);
      expect(Number.isNaN(Date.parse(dayOfFile(path) ?? '2026-01-01'))).toBe(false);
      for (const name of names) expect(listedAccelerator(name).count).toBeGreaterThan(0);
    }),
    options,
  );
});
