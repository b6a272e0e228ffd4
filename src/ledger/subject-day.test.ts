import { expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { subjectDay } from './subject-day.ts';

const entry = (hour: string, more: Readonly<Record<string, string | number | null>>) => ({
  day: '2026-03-02',
  hour_start: `2026-03-02 ${hour}:00:00`,
  subject: 'job a',
  device_id: 'g',
  component: 'gpu',
  category: 'idle',
  reason: 'parked',
  usd_micros: 5,
  marginal_usd_micros: 2,
  gpu_units: 100,
  ...more,
});

test('hours and components are added up; devices, categories, reasons and what has no price stay apart', async () => {
  const rows = await stagesOn([subjectDay], {
    waterfall: [
      entry('08', {}),
      entry('08', { component: 'host', usd_micros: 1, marginal_usd_micros: 0, gpu_units: 0 }),
      entry('09', { usd_micros: null, marginal_usd_micros: null, gpu_units: 30 }),
      entry('09', { reason: 'bare' }),
      entry('09', { device_id: 'h' }),
      entry('10', { category: 'starved', reason: 'gap', usd_micros: null, marginal_usd_micros: null }),
    ],
  });
  const sums = ['usd_micros', 'marginal_usd_micros', 'gpu_units', 'unpriced_units'];
  expect(
    rows.map((row) => ['device_id', 'category', 'reason', ...sums].map((name) => String(row[name])).join(' ')),
  ).toEqual([
    'g idle bare 5 2 100 0',
    'g idle parked 6 2 130 30',
    'g starved gap null null 100 100',
    'h idle parked 5 2 100 0',
  ]);
});

test('a device of which more than a twentieth of a subject’s day is unknown is silent for it, in all categories, and for nobody else', async () => {
  const rows = await stagesOn([subjectDay], {
    waterfall: [
      entry('08', { gpu_units: 940 }),
      entry('08', { category: 'unknown', reason: null, gpu_units: 60 }),
      entry('09', { device_id: 'h', gpu_units: 950 }),
      entry('09', { device_id: 'h', category: 'unknown', reason: null, gpu_units: 50 }),
      entry('10', { subject: 'job b' }),
      entry('10', { subject: 'node n', category: 'unallocated', reason: 'empty' }),
    ],
  });
  expect(
    rows
      .filter(({ is_silent: isSilent }) => isSilent)
      .map((row) => [row['subject'], row['device_id'], row['category']]),
  ).toEqual([
    ['job a', 'g', 'idle'],
    ['job a', 'g', 'unknown'],
  ]);
});
