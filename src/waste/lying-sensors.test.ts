import { expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldGpu, type ToldHolder } from '../../test/holder-rows.ts';
import { lyingSensors } from './lying-sensors.ts';

/** A job of a day, 2026-03-03, which ends at the end of the window. */
const job = (gpus: Readonly<Record<string, ToldGpu>>): ToldHolder => ({
  from: '03-03 00:00',
  until: '03-04 00:00',
  isOpen: true,
  gpus,
});
const ALL_DAY = ['03-03 00:00', '03-04 00:00'] as const;
const lying = (lyingSamples: number): ToldGpu => ({
  unknown: [['03-03 00:00', '03-03 08:00']],
  computing: [['03-03 08:00', '03-04 00:00']],
  more: { samples: 288, lying_samples: lyingSamples },
});
const silent: Record<string, readonly ToldHolder[]> = {
  'sensors that agree': [job({ g0: { computing: [ALL_DAY] } })],
  'a sample at the edge of a run': [job({ g0: lying(2) })],
  'a GPU that is dark: nothing is read there': [job({ g0: { unknown: [ALL_DAY] } })],
  'a GPU at rest whose power does not move': [job({ g0: { more: { power_w_max: 70, power_w_min: 70 } } })],
};
it.each(Object.entries(silent))('says nothing of %s', async (_, told) => {
  expect(await claimsOn(lyingSensors, holderRows(told))).toEqual([]);
});

const spoken = {
  'profiling at 0 beside a busy GPU': {
    gpu: lying(96),
    want: { what: '1 GPU of a: profiling reads 0 while utilisation is high', takes: ['g0 unknown'] },
  },
  'power without activity': {
    gpu: { unknown: [['03-03 00:00', '03-03 08:00']], more: { power_w_max: 300 } } as ToldGpu,
    want: { what: '1 GPU of a: power is above rest while all activity reads 0', takes: ['g0 unknown'] },
  },
  'power that stands still, as a question': {
    gpu: { computing: [['03-03 00:00', '03-03 08:00']], more: { power_w_max: 300, power_w_min: 300 } } as ToldGpu,
    want: { what: '1 GPU of a: power does not move while work comes and goes', takes: [] },
  },
};
it.each(Object.entries(spoken))('names %s', async (_, { gpu, want }) => {
  const claims = await claimsOn(lyingSensors, holderRows([job({ g0: gpu })]));
  expect(
    claims.map(({ what, takes }) => ({
      what,
      takes: takes.map(({ deviceId, category }) => `${deviceId} ${category}`),
    })),
  ).toEqual([want]);
});
