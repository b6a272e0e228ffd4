import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldGpu, type ToldHolder } from '../../test/holder-rows.ts';
import { untouchedGpus } from './untouched-gpus.ts';

const BUSY: ToldGpu = { computing: [['03-02 08:05', '03-02 18:00']] };

/** A job of four GPUs from 8:00 to 18:00 of which two compute. */
const job = (more: Partial<ToldHolder> = {}): ToldHolder => ({
  source: 'slurm',
  name: 'eight-1',
  stem: 'eight-0',
  from: '03-02 08:00',
  until: '03-02 18:00',
  gpus: { g0: BUSY, g1: BUSY, g2: {}, g3: {} },
  ...more,
});

const silent: Record<string, readonly ToldHolder[]> = {
  'a job that uses all it has': [job({ gpus: { g0: BUSY, g1: BUSY } })],
  'a job that used its other GPUs later': [
    job({ gpus: { g0: BUSY, g1: { computing: [['03-02 17:00', '03-02 18:00']] } } }),
  ],
  'a job of an hour': [job({ until: '03-02 09:00' })],
  'GPUs of which nothing is known': [
    job({ gpus: { g0: BUSY, g1: { unknown: [['03-02 08:00', '03-02 18:00']] } } }),
    job({ id: '2', gpus: { g4: BUSY, g5: { unknown: [['03-02 12:00', '03-02 18:00']] } } }),
  ],
  'a holder by count, whose GPUs have no times of their own': [
    job({ gpus: { g0: BUSY, g1: { more: { known_until: null } } } }),
  ],
  'a service with a replica that has no requests': [job({ manner: 'serving' })],
  'a notebook': [job({ manner: 'interactive' })],
  'a job that is loading, as long as its kind has taken': [
    job({
      id: '1',
      from: '03-01 00:00',
      until: '03-01 12:00',
      gpus: { g0: { computing: [['03-01 06:00', '03-01 12:00']] } },
    }),
    job({ id: '2', from: '03-03 19:00', until: '03-04 00:00', isOpen: true, gpus: { g1: {} } }),
  ],
  'a job that computed for a moment and then stood still: it has finished': [
    job({ gpus: { g0: { computing: [['03-02 08:00', '03-02 08:03']] } } }),
  ],
};

interface Case {
  readonly told: readonly ToldHolder[];
  readonly what: string;
  readonly takes: readonly string[];
  readonly fix: string;
}

const spoken: Record<string, Case> = {
  'two of four GPUs without a kernel': {
    told: [job()],
    what: 'asks for 4 GPUs (H100), touches 2, in 1 of 1 run',
    takes: ['job slurm/1/0 g2 2026-03-02', 'job slurm/1/0 g3 2026-03-02'],
    fix: '#SBATCH --gres=gpu:2',
  },
  'the last sample of who had the GPU before is no use of it': {
    told: [job({ gpus: { g0: BUSY, g1: { computing: [['03-02 08:00', '03-02 08:05']] } } })],
    what: 'asks for 2 GPUs (H100), touches 1, in 1 of 1 run',
    takes: ['job slurm/1/0 g1 2026-03-02'],
    fix: '#SBATCH --gres=gpu:1',
  },
  'runs of one person and name are one finding, also of those that were right': {
    told: [
      job({ id: '1' }),
      job({ id: '2', gpus: { g4: BUSY } }),
      job({ id: '3', name: 'eight-3', gpus: { g5: BUSY, g6: {} } }),
    ],
    what: 'asks for 2 to 4 GPUs (H100), touches 1 to 2, in 2 of 3 runs',
    takes: ['job slurm/1/0 g2 2026-03-02', 'job slurm/1/0 g3 2026-03-02', 'job slurm/3/0 g6 2026-03-02'],
    fix: '# the most that any of these 2 runs touched; not for its 1 other run, of which no GPU is known to have stood alone',
  },
  'a whole node without a kernel is a node too many': {
    told: [job({ gpus: { g0: BUSY, g1: BUSY, g2: { node: 'n2' }, g3: { node: 'n2' } } })],
    what: 'asks for 4 GPUs (H100), touches 2, in 1 of 1 run',
    takes: ['job slurm/1/0 g2 2026-03-02', 'job slurm/1/0 g3 2026-03-02'],
    fix: '#SBATCH --nodes=1 --gres=gpu:2',
  },
  'a job that touches none': {
    told: [job({ gpus: { g0: {} } })],
    what: 'asks for 1 GPU (H100), touches none, in 1 of 1 run',
    takes: ['job slurm/1/0 all 2026-03-02'],
    fix: '# ask for no GPU, if it needs none; if it should compute, see what the program finds:',
  },
  'a job that loaded and then hung: no limit that a healthy run would meet': {
    told: [job({ source: 'kubernetes', gpus: { g0: { more: { fb_used_mib_max: 40_000 } }, g1: {} } })],
    what: 'asks for 2 GPUs (H100), touches none, in 1 of 1 run',
    takes: ['job kubernetes/1/0 all 2026-03-02'],
    fix: '# it loaded and then did nothing; where such a run stands says, while it is there: py-spy dump --pid PID',
  },
  'pods say it in their manifest': {
    told: [job({ source: 'kubernetes' })],
    what: 'asks for 4 GPUs (H100), touches 2, in 1 of 1 run',
    takes: ['job kubernetes/1/0 g2 2026-03-02', 'job kubernetes/1/0 g3 2026-03-02'],
    fix: 'resources: {limits: {nvidia.com/gpu: 2}}',
  },
};

describe('untouched-gpus', () => {
  it.each(Object.entries(silent))('says nothing of %s', async (_, told) => {
    expect(await claimsOn(untouchedGpus, holderRows(told))).toEqual([]);
  });

  it.each(Object.entries(spoken))('names %s', async (_, { told, ...want }) => {
    const claims = await claimsOn(untouchedGpus, holderRows(told));
    expect(
      claims.map(({ what, takes, fix }) => ({
        what,
        takes: takes.map(({ subject, deviceId = 'all', firstDay }) => `${subject} ${deviceId} ${firstDay}`),
        fix: fix[0],
      })),
    ).toEqual([want]);
  });

  it('runs of one name in two accounts are two findings, each counted among its own', async () => {
    const told = ['nlp', 'vision'].map((account, index) => job({ id: String(index + 1), namespace: null, account }));
    const claims = await claimsOn(untouchedGpus, holderRows(told));
    expect(
      claims.map(({ what, ownerSubject, takes }) => [
        what,
        new Set(takes.map(({ subject }) => subject)).has(ownerSubject ?? ''),
        takes.length,
      ]),
    ).toEqual([
      ['asks for 4 GPUs (H100), touches 2, in 1 of 1 run', true, 2],
      ['asks for 4 GPUs (H100), touches 2, in 1 of 1 run', true, 2],
    ]);
  });

  it('one script is asked by all its runs: by what none of them went beyond', async () => {
    const gpus = (busy: number, all: number, first: number) =>
      Object.fromEntries(Array.from({ length: all }, (_, gpu) => [`g${first + gpu}`, gpu < busy ? BUSY : {}]));
    const told = [
      job({ id: '1', gpus: gpus(1, 8, 0) }),
      job({ id: '2', gpus: gpus(3, 4, 10) }),
      job({ id: '3', gpus: gpus(4, 4, 20) }),
    ];
    const [claim] = await claimsOn(untouchedGpus, holderRows(told));
    expect(claim?.what).toBe('asks for 4 to 8 GPUs (H100), touches 1 to 3, in 2 of 3 runs');
    expect(claim?.fix).toContain('#SBATCH --gres=gpu:3');
    expect(claim?.blast).toContain('would be slower with fewer');
  });

  it.each([
    {
      name: 'slices',
      told: { gpus: { g0: BUSY, g1: { more: { root_device_id: 'G' } } } },
      want: 'nvidia.com/mig-PROFILE',
    },
    { name: 'GPUs of AMD', told: { model: 'AMD Instinct MI300X' }, want: 'amd.com/gpu' },
  ])('$name are asked for by their own name', async ({ told, want }) => {
    const [claim] = await claimsOn(untouchedGpus, holderRows([job({ source: 'kubernetes', ...told })]));
    expect(claim?.fix[0]).toContain(`{limits: {${want}: `);
  });

  it('of a job that is older than the window it is not said that it never computed', async () => {
    const told = job({ from: '03-01 12:00', until: '03-03 00:00', gpus: { g0: {} } });
    const inside = { from: '2026-03-02', until: '2026-03-03', now: '2026-03-03' };
    const [claim] = await claimsOn(untouchedGpus, holderRows([told]), inside);
    expect(claim?.what).toBe('asks for 1 GPU (H100), touches none in the window, in 1 of 1 run');
    expect(claim?.because[0]).toContain('of this window; what it did before was not looked at');
    expect(claim?.fix[0]).toBe('bursar job 1   # what it did before the window');
  });

  it('memory is the most that any of its runs held', async () => {
    const told = [
      job({ id: '1' }),
      job({ id: '2', until: '03-02 12:00', gpus: { g4: BUSY, g5: { more: { fb_used_mib_max: 58_396 } } } }),
    ];
    const [claim] = await claimsOn(untouchedGpus, holderRows(told));
    expect(claim?.because[1]).toBe(
      '24 GPU-hours on GPUs that computed nothing, and held up to 58,396 MiB of device memory: a process loaded there.',
    );
  });

  it('less than a minute and a half of kernels is told in seconds', async () => {
    const told = job({ gpus: { g0: BUSY, g1: { computing: [['03-02 08:00', '03-02 08:01']] } } });
    const [claim] = await claimsOn(untouchedGpus, holderRows([told]));
    expect(claim?.because[0]).toContain('at most 60 s of kernels on 1 of 2 GPUs');
    expect(claim?.because[1]).toContain('GPUs that computed next to nothing');
  });

  it('of a run that goes on it says since when, and how to stop it', async () => {
    const gpus = { g0: { computing: [['03-03 08:05', '03-04 00:00']] }, g1: {} } as const;
    const now = { from: '03-03 08:00', until: '03-04 00:00', isOpen: true };
    const [some] = await claimsOn(untouchedGpus, holderRows([job({ ...now, gpus })]));
    expect(some?.liveSince).toEqual(new Date('2026-03-03T08:00:00Z'));
    expect(some?.fix.slice(-2)).toEqual([
      '# goes on now, and computes on its other GPUs: after its next checkpoint, to start again with fewer:',
      // It is pasted along with the rest, and would lose what is not saved.
      '# scancel 1   # cluster=a',
    ]);
    expect(some?.spark).toEqual([497]);
    const early = { g0: { computing: [['03-03 08:05', '03-03 12:00']] }, g1: {} } as const;
    const [stopped] = await claimsOn(untouchedGpus, holderRows([job({ ...now, gpus: early })]));
    expect(stopped?.fix.slice(-2)).toEqual(['# goes on now, and computes on nothing:', 'scancel 1   # cluster=a']);
    const [none] = await claimsOn(untouchedGpus, holderRows([job({ ...now, gpus: { g1: {} } })]));
    expect(none?.fix.slice(-2)).toEqual(['# goes on now, and computes on nothing:', 'scancel 1   # cluster=a']);
    const [past] = await claimsOn(untouchedGpus, holderRows([job()]));
    expect([past?.liveSince, past?.fix.some((line) => line.startsWith('scancel'))]).toEqual([undefined, false]);
  });
});
