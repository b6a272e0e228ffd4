import { expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldGpu, type ToldHolder } from '../../test/holder-rows.ts';
import { unhealthyGpus } from './unhealthy-gpus.ts';

const DAY = ['03-03 00:00', '03-04 00:00'] as const;
const BUSY: ToldGpu = { computing: [DAY] };
const xid = (code: number, node = 'n0'): ToldGpu => ({ ...BUSY, node, more: { xid: code } });
const job = (gpus: Readonly<Record<string, ToldGpu>>, more: Partial<ToldHolder> = {}): ToldHolder => ({
  source: 'slurm',
  from: '03-03 00:00',
  until: '03-04 00:00',
  isOpen: true,
  gpus,
  ...more,
});
const fixOf = async (gpus: Readonly<Record<string, ToldGpu>>): Promise<string> =>
  (await claimsOn(unhealthyGpus, holderRows([job(gpus)])))[0]?.fix.join('\n') ?? '';

it.each([48, 62, 64, 74, 79, 95, 119, 120, 140])('a node of which a GPU reports XID %i is drained', async (code) => {
  const fix = await fixOf({ g0: xid(code, 'n0') });
  expect(fix).toContain('scontrol update nodename=n0 state=drain');
  expect(fix).not.toContain('--gpu-reset');
});

it.each([63, 92, 94])('XID %i was dealt with by the GPU: no node is drained, a reset is due', async (code) => {
  const [claim] = await claimsOn(unhealthyGpus, holderRows([job({ g0: xid(code, 'n0') })]));
  expect(claim?.fix.join('\n')).not.toMatch(/drain reason|cordon/);
  expect(claim?.fix).toContain('nvidia-smi --gpu-reset');
  expect([claim?.what, claim?.blastRadius]).toEqual(['1 GPU of a reported errors of memory; a reset is due', 1]);
  expect(claim?.because[2]).toBe('No attempt that held them on such a day ended badly.');
});

it('of two nodes only the ill one is drained; one with both is', async () => {
  const fix = await fixOf({ g0: xid(63, 'n0'), g1: xid(79, 'n1'), g2: xid(63, 'n1') });
  expect(fix).toContain('nodename=n1 state=drain');
  expect(fix).not.toContain('nodename=n0');
  expect(fix).toContain('# on n0, when no job holds it');
});

const hot = (more: ToldGpu['more'] = {}): ToldGpu => ({
  ...BUSY,
  more: { sm_permille: 600, throttled_samples: 100, ...more },
});
const cool: ToldGpu = { ...BUSY, more: { sm_permille: 800 } };
const silent: Record<string, readonly ToldHolder[]> = {
  'a healthy GPU': [job({ g0: cool })],
  'a moment of heat': [job({ g0: { ...BUSY, more: { throttled_samples: 20 } } })],
  'one crash of a program': [job({ g0: xid(31) })],
  'an error three weeks ago that has not come again': [
    job(
      { g0: { computing: [['02-10 00:00', '02-11 00:00']], more: { xid: 79 } } },
      { from: '02-10 00:00', until: '02-11 00:00', isOpen: false },
    ),
  ],
  'an error nobody has a name for': [job({ g0: xid(9999) })],
};
it.each(Object.entries(silent))('says nothing of %s', async (_, told) => {
  expect(await claimsOn(unhealthyGpus, holderRows(told))).toEqual([]);
});

const spoken = {
  'an error of the hardware': {
    told: [job({ g0: xid(79) })],
    want: [
      '1 GPU of a reported errors of the hardware',
      'XID 79 (fell off the bus) on 1 GPU (DCGM_FI_DEV_XID_ERRORS).',
    ],
  },
  'the same error of a program in three runs': {
    told: ['1', '2', '3'].map((id) => job({ [`g${id}`]: xid(31) }, { id })),
    want: [
      '3 runs of train made the GPU report an error of the program',
      'XID 31 (access to memory that is not there) on 3 GPUs (DCGM_FI_DEV_XID_ERRORS).',
    ],
  },
  'a hot GPU, with its peers of the same job': {
    told: [job({ g0: hot(), g1: cool, g2: cool })],
    want: ['1 GPU of a slowed down by heat or power', 'g0: SM 60 % beside 80 % of GPUs of the same jobs; so 1 of 1.'],
  },
};
it.each(Object.entries(spoken))('asks about %s, and claims nothing', async (_, { told, want }) => {
  const claims = await claimsOn(unhealthyGpus, holderRows(told));
  expect(claims.map(({ isQuestion, takes }) => ({ isQuestion, takes }))).toEqual([{ isQuestion: true, takes: [] }]);
  expect([claims[0]?.what, ...(claims[0]?.because ?? [])]).toEqual(expect.arrayContaining(want));
});
