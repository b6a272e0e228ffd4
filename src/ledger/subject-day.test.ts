import { expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { subjectDay } from './subject-day.ts';

test('hours and components are added up; devices, categories, reasons and what has no price stay apart', async () => {
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
