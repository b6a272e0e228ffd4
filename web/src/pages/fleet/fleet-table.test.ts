import { expect, it } from 'vitest';
import { rowMoney } from './fleet-table.tsx';
import type { FleetSumsReply } from '../../../../src/api/routes/fleet/fleet.ts';

const sums = (active: string | null, idle: string | null, unallocated: string | null, unpricedSeconds = 0) =>
  ({
    activeUsdMicros: active,
    idleUsdMicros: idle,
    unallocatedUsdMicros: unallocated,
    unknownUsdMicros: active === null ? null : '0',
    unpricedSeconds,
    activeUnpricedSeconds: unpricedSeconds,
    idleUnpricedSeconds: 0,
    unallocatedUnpricedSeconds: 0,
    unknownUnpricedSeconds: 0,
  }) as unknown as FleetSumsReply;

it.each([
  ['whole dollars', sums('0', '39974666', '60825334'), ['$101', '$40', '$61', '$0']],
  ['cents', sums('1000000', '2500000', '0'), ['$3.50', '$2.50', '$0', '$0']],
  ['no price', sums(null, null, null), ['no price', 'no price', 'no price', 'no price']],
  ['a lower bound', sums('200000000', '0', '0', 60), ['≥ $200', '$0', '$0', '$0']],
])('the money of a row is all in one precision: %s', (_, row, want) => {
  const { paid, idle, unallocated, unknown } = rowMoney(row);
  expect([paid, idle, unallocated, unknown]).toEqual(want);
});
