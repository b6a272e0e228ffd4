import { expect, test } from 'vitest';
import { addDays, dayOf } from '../../lake/calendar.ts';
import type { ReadSpace } from '../workspace.ts';
import { ledgerWindow } from '../window.ts';
import { mapStep } from './map-step.ts';

const now = new Date('2026-11-01T00:00:00Z');
const days = Array.from({ length: 400 }, (_, place) => addDays(dayOf(now), place - 400));

/** A lake whose samples are so far apart. */
const space = (sampleStep: bigint | null): Pick<ReadSpace, 'ask'> => ({
  ask: async <Row>() => [{ step: sampleStep }] as Row[],
});

interface Case {
  readonly window: string;
  readonly gpus: number;
  readonly asked?: string;
  readonly measure?: 'wasted';
  readonly samples?: bigint | null;
  readonly want: number | string;
}

const cases: Record<string, Case> = {
  'a day of a fleet whose samples are close': { window: '1d', gpus: 250, want: 900 },
  'a day whose samples are an hour apart': { window: '1d', gpus: 250, samples: 3600n, want: 3600 },
  'a day whose samples have expired': { window: '1d', gpus: 250, samples: null, want: 3600 },
  'a day of ten thousand GPUs': { window: '1d', gpus: 10_000, want: 3600 },
  'a month': { window: '30d', gpus: 250, want: 3600 },
  'a month of ten thousand GPUs': { window: '30d', gpus: 10_000, want: 86_400 },
  'a year': { window: '365d', gpus: 250, want: 86_400 },
  'money is kept by the hour': { window: '1d', gpus: 250, measure: 'wasted', asked: '15m', want: 3600 },
  'what was asked for': { window: '7d', gpus: 250, asked: '6h', want: 21_600 },
  'minutes of a week': { window: '7d', gpus: 250, asked: '15m', want: 'too short a step' },
  'minutes of ten thousand GPUs': { window: '1d', gpus: 10_000, asked: '15m', want: 'too short a step' },
  'hours of a month of ten thousand GPUs': { window: '30d', gpus: 10_000, asked: '1h', want: 'too short a step' },
  'no length of time': { window: '1d', gpus: 250, asked: 'soon', want: 'not a step of the map' },
};

test.each(Object.entries(cases))('%s', async (_, each) => {
  const window = ledgerWindow(each.window, now, { days, horizon: now } as unknown as ReadSpace['scope'] & object);
  const { samples = 300n, gpus, asked, measure = 'activity', want } = each;
  const step = mapStep(space(samples) as ReadSpace, asked, { window, measure, gpus }).catch((failure: unknown) =>
    failure instanceof Error ? failure.message : '',
  );
  expect(String(await step)).toContain(String(want));
});
