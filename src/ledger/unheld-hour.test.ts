import { expect, it } from 'vitest';
import { stagesOn, type Row } from '../../test/stage-on.ts';
import { unheldHour } from './unheld-hour.ts';

const DAY = '2026-03-02';
const at = (clock: string): string => `${DAY} ${clock}:00`;

/** A piece of the hour of 10:00 in which nobody has GPU `a`. */
const piece = (from: string, until: string, over: Row = {}): Row => ({
  day: DAY,
  hour_start: at('10:00'),
  from_at: at(from),
  until_at: at(until),
  node_id: 'n1',
  device_id: 'a',
  root_device_id: 'a',
  disposition: 'unallocated',
  reason: 'empty',
  ...over,
});
const run = (from: string, until: string, over: Row = {}): Row => ({
  day: DAY,
  device_id: 'a',
  from_at: at(from),
  until_at: at(until),
  class: 'computing',
  ...over,
});
const HOUR = piece('10:00', '11:00');

const cases: Record<string, { held: readonly Row[]; runs: readonly Row[]; want: readonly bigint[] }> = {
  'an hour of kernels that nobody is known for': { held: [HOUR], runs: [run('09:00', '12:00')], want: [3600n] },
  'two pieces of an hour, together long enough': {
    held: [piece('10:00', '10:20'), piece('10:20', '11:00')],
    runs: [run('10:05', '10:40')],
    want: [2100n],
  },
  'what a sample of a job that has ended still covers is no work': {
    held: [piece('10:10', '11:00')],
    runs: [run('09:00', '10:15')],
    want: [],
  },
  'a GPU at rest is empty': { held: [HOUR], runs: [run('10:00', '11:00', { class: 'idle' })], want: [] },
  'a GPU of which nothing is known is not said to work': {
    held: [HOUR],
    runs: [run('10:00', '11:00', { class: 'unknown' })],
    want: [],
  },
  'the rest of a shared GPU computes for those who share it': {
    held: [HOUR, piece('10:00', '11:00', { disposition: 'held', reason: null, allocation_id: '1' })],
    runs: [run('10:00', '11:00')],
    want: [],
  },
  'a drained machine is being tested': {
    held: [piece('10:00', '11:00', { reason: 'drained' })],
    runs: [run('10:00', '11:00')],
    want: [],
  },
};
it.each(Object.entries(cases))('%s', async (_, { held, runs, want }) => {
  const rows = await stagesOn([unheldHour], { held, run: runs });
  expect(rows.map(({ computing_s: seconds }) => seconds)).toEqual(want);
});
