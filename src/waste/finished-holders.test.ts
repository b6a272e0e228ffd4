import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldHolder } from '../../test/holder-rows.ts';
import { finishedHolders } from './finished-holders.ts';

/** A job of two GPUs from 8:00 on that has computed until 12:00; now is midnight, 2026-03-04. */
const job = (more: Partial<ToldHolder> = {}): ToldHolder => ({
  name: 'sft-1',
  stem: 'sft-0',
  from: '03-03 08:00',
  until: '03-04 00:00',
  gpus: {
    g0: { computing: [['03-03 08:10', '03-03 12:00']] },
    g1: { computing: [['03-03 08:10', '03-03 11:30']] },
  },
  ...more,
});

interface Case {
  readonly told: readonly ToldHolder[];
  /** What is said, and which days at how many thousandths are taken of which subject. */
  readonly want: readonly { readonly what: string; readonly takes: readonly string[] }[];
}

const silent: Record<string, Case> = {
  'a job that computes to its end is silent': {
    told: [job({ until: '03-03 12:00' })],
    want: [],
  },
  'half an hour of teardown is normal': { told: [job({ until: '03-03 12:30', outcome: 'completed' })], want: [] },
  'one GPU that goes on keeps all of them': {
    told: [job({ gpus: { g0: { computing: [['03-03 08:10', '03-03 23:55']] }, g1: {} } })],
    want: [],
  },
  'an hour and a half on the CPU may be an evaluation while the job is there': {
    told: [job({ isOpen: true, gpus: { g0: { computing: [['03-03 08:10', '03-03 22:30']] } } })],
    want: [],
  },
  'a kind that has gone on after five hours is given five hours': {
    told: [
      job({
        isOpen: true,
        gpus: {
          g0: {
            computing: [
              ['03-03 08:10', '03-03 10:00'],
              ['03-03 15:30', '03-03 20:00'],
            ],
          },
        },
      }),
    ],
    want: [],
  },
  'a job that was stopped in a pause of an hour and a half was perhaps about to go on': {
    told: [job({ until: '03-03 13:30', outcome: 'preempted' })],
    want: [],
  },
  'nothing is said of GPUs that send nothing after the last kernel': {
    told: [
      job({
        gpus: {
          g0: { computing: [['03-03 08:10', '03-03 12:00']], unknown: [['03-03 12:00', '03-04 00:00']] },
          g1: {},
        },
      }),
    ],
    want: [],
  },
  'a job of which the newest sample is hours old is not called live': {
    told: [
      job({
        isOpen: true,
        gpus: { g0: { computing: [['03-03 08:10', '03-03 12:00']], unknown: [['03-03 23:30', '03-04 00:00']] } },
        until: '03-04 00:00',
      }),
    ].map((each) => ({ ...each, gpus: { g0: { ...each.gpus['g0'], more: { known_until: '2026-03-03 22:00:00' } } } })),
    want: [],
  },
  'a notebook is no job': { told: [job({ manner: 'interactive', kind: 'Notebook' })], want: [] },
  'a service between two requests is no job': { told: [job({ manner: 'serving', kind: 'Deployment' })], want: [] },
  'a job that never computed has not finished': { told: [job({ gpus: { g0: {}, g1: {} } })], want: [] },
};

const spoken: Record<string, Case> = {
  'a job that still holds its GPUs twelve hours after its last kernel is named': {
    told: [job({ isOpen: true })],
    // Idle on the day: g0 10 min + 12 h, g1 10 min + 12.5 h; of these after the last kernel of all 24 h.
    want: [
      {
        what: 'no kernel since Tue 12:00, 2×H100 still held',
        // Each GPU by its own time: the second had stood still for half an hour when the first stopped.
        takes: ['job kubernetes/1/0 g0 2026-03-03..2026-03-03 986', 'job kubernetes/1/0 g1 2026-03-03..2026-03-03 947'],
      },
    ],
  },
  'and it is named still on the days after': {
    told: [job({ isOpen: true, from: '03-01 08:00', gpus: { g0: { computing: [['03-01 08:00', '03-01 18:00']] } } })],
    want: [
      {
        what: 'no kernel since Sun 18:00, 1×H100 still held',
        takes: ['job kubernetes/1/0 2026-03-01..2026-03-01 1000', 'job kubernetes/1/0 2026-03-02..2026-03-03 whole'],
      },
    ],
  },
  'twenty hours in which nobody measured it are no pause after which its kind has gone on': {
    told: [
      job({
        isOpen: true,
        from: '03-02 00:00',
        gpus: {
          g0: {
            computing: [
              ['03-02 00:00', '03-02 01:00'],
              ['03-02 21:00', '03-03 12:00'],
            ],
            unknown: [['03-02 01:00', '03-02 21:00']],
          },
        },
      }),
    ],
    want: [
      {
        what: 'no kernel since Tue 12:00, 1×H100 still held',
        takes: ['job kubernetes/1/0 2026-03-03..2026-03-03 1000'],
      },
    ],
  },
  'one that ended is told with how long it held': {
    told: [
      job({ from: '03-01 08:00', until: '03-03 06:00', gpus: { g0: { computing: [['03-01 08:00', '03-01 18:00']] } } }),
    ],
    want: [
      {
        what: 'held 1×H100 for 36 h after its last kernel: sft-1',
        takes: ['job kubernetes/1/0 2026-03-01..2026-03-01 1000', 'job kubernetes/1/0 2026-03-02..2026-03-03 whole'],
      },
    ],
  },
  'a pause before the work is starved time, and no part of the idle money': {
    told: [job({ gpus: { g0: { computing: [['03-03 08:10', '03-03 12:00']], more: { pause_s: 600 } } } })],
    want: [
      {
        what: 'held 1×H100 for 12 h after its last kernel: sft-1',
        takes: ['job kubernetes/1/0 2026-03-03..2026-03-03 1000'],
      },
    ],
  },
  'runs of one name and person are one finding': {
    told: [
      job({ id: '1', until: '03-03 20:00' }),
      job({ id: '2', name: 'sft-2', until: '03-03 21:00' }),
      job({ id: '3', name: 'sft-3', until: '03-03 12:10' }),
    ],
    want: [
      {
        what: 'sft: GPUs held after the last kernel in 2 of 3 runs',
        takes: [
          'job kubernetes/1/0 g0 2026-03-03..2026-03-03 979',
          'job kubernetes/1/0 g1 2026-03-03..2026-03-03 923',
          'job kubernetes/2/0 g0 2026-03-03..2026-03-03 981',
          'job kubernetes/2/0 g1 2026-03-03..2026-03-03 931',
        ],
      },
    ],
  },
};

/** Three people's jobs of one name, each four hours idle at its end. */
const namesakes = (each: readonly Partial<ToldHolder>[]): ToldHolder[] =>
  each.map((more, index) =>
    job({ id: String(index + 1), name: 'train', stem: 'train', until: '03-03 16:00', ...more }),
  );

describe('finished-holders', () => {
  it.each([
    {
      name: 'accounts that all call a job train',
      told: namesakes([
        { source: 'slurm', namespace: null, account: 'nlp' },
        { source: 'slurm', namespace: null, account: 'vision' },
        { source: 'slurm', namespace: null, account: 'asr' },
      ]),
    },
    { name: 'namespaces', told: namesakes([{}, { namespace: 'vision' }, { namespace: 'asr' }]) },
    { name: 'people of one account', told: namesakes([{}, { user: 'apatel' }, { user: 'kim' }]) },
  ])('it never makes one finding of several $name', async ({ told }) => {
    const claims = await claimsOn(finishedHolders, holderRows(told));
    expect(claims.map(({ ownerSubject, takes }) => takes.every(({ subject }) => subject === ownerSubject))).toEqual([
      true,
      true,
      true,
    ]);
    expect(new Set(claims.map(({ about }) => about)).size).toBe(3);
  });

  it('the longest of several runs is the one that held its GPUs longest, however few', async () => {
    const small = job({
      id: '2',
      name: 'sft-2',
      until: '03-03 21:00',
      gpus: { g9: { computing: [['03-03 08:10', '03-03 12:00']] } },
    });
    const [claim] = await claimsOn(finishedHolders, holderRows([job({ until: '03-03 20:00' }), small]));
    expect(claim?.because[0]).toMatch(/^Longest: sft-2, last kernel Tue 12:00, 1 GPU held until Tue 21:00 \(9 h;/);
  });

  it('how long the namesakes of another account paused says nothing about a job', async () => {
    const other = job({
      id: '2',
      namespace: 'vision',
      gpus: {
        g9: {
          computing: [
            ['03-03 08:10', '03-03 08:20'],
            ['03-03 23:00', '03-04 00:00'],
          ],
        },
      },
    });
    expect(await claimsOn(finishedHolders, holderRows([job({ isOpen: true }), other]))).toHaveLength(1);
  });

  it.each(Object.entries({ ...silent, ...spoken }))('%s', async (_, { told, want }) => {
    const claims = await claimsOn(finishedHolders, holderRows(told));
    expect(
      claims.map(({ what, takes }) => ({
        what,
        takes: takes.map(
          ({ subject, deviceId, firstDay, lastDay, permille }) =>
            `${subject}${deviceId === undefined ? '' : ` ${deviceId}`} ${firstDay}..${lastDay} ${permille ?? 'whole'}`,
        ),
      })),
    ).toEqual(want);
  });

  it('calls a live job finished only where its scheduler says that a part of it ended, and is as careful as it knows', async () => {
    const ended = { g0: { computing: [['03-03 08:10', '03-03 12:00']], more: { outcome: 'completed' } } } as const;
    const [known] = await claimsOn(finishedHolders, holderRows([job({ isOpen: true, gpus: ended })]));
    expect([known?.what, known?.blastRadius]).toEqual(['finished job still holds 1×H100', undefined]);
    const [inferred] = await claimsOn(finishedHolders, holderRows([job({ isOpen: true })]));
    expect(inferred?.blastRadius).toBe(3);
    expect(inferred?.because.slice(1)).toEqual([
      'No scheduler says that it has ended: that it is finished is inferred.',
      'No other run of its name is known; it has gone on before, after 10 min at most.',
    ]);
    const others = [job({ id: '2', until: '03-03 12:10' }), job({ id: '3', until: '03-03 12:10' })];
    const [compared] = await claimsOn(finishedHolders, holderRows([job({ isOpen: true }), ...others]));
    expect(compared?.because[2]).toBe('Of 3 runs of its name none went on after more than 10 min of standing still.');
  });

  it('draws its days, and ends what hangs by what hangs cannot miss', async () => {
    const told = job({
      source: 'slurm',
      from: '03-01 08:00',
      gpus: { g0: { computing: [['03-01 08:00', '03-01 16:00']] } },
    });
    const [claim] = await claimsOn(finishedHolders, holderRows([told]));
    expect(claim?.spark).toEqual([500, 0, 0]);
    expect(claim?.fix.join('\n')).not.toContain('scancel');
    expect(claim?.fix[0]).toBe(
      '#SBATCH --time=10:00:00   # the longest worked for 8 h; of these runs it would have cut off 54 of 56 GPU-hours',
    );
    expect(claim?.fix.join()).not.toContain('--wait');
  });

  it('a limit that would have cut off little is not the fix, and says what it would have cut off', async () => {
    const slurm = { source: 'slurm', namespace: null, account: 'nlp' };
    const long = job({
      ...slurm,
      id: '1',
      from: '03-01 00:00',
      until: '03-02 20:00',
      gpus: { g0: { computing: [['03-01 00:00', '03-02 08:00']] } },
    });
    const short = ['2', '3', '4'].map((id) =>
      job({
        ...slurm,
        id,
        from: '03-02 00:00',
        until: '03-02 12:00',
        gpus: { [`g${id}`]: { computing: [['03-02 00:00', '03-02 01:00']] } },
      }),
    );
    const [claim] = await claimsOn(finishedHolders, holderRows([long, ...short]));
    expect(claim?.fix).toEqual([
      '# the script ends with its program, and ends what runs beside it (a logger, a sync):',
      `trap 'kill $(jobs -p) 2>/dev/null' EXIT; python train.py; exit`,
      '#SBATCH --time=40:00:00   # the longest worked for 32 h; of these runs it would have cut off 4 of 45 GPU-hours',
      '# work on the CPU that follows: a job of its own, sbatch --dependency=afterok:JOBID',
    ]);
  });

  it('a job of several GPUs ends its other tasks', async () => {
    const [claim] = await claimsOn(finishedHolders, holderRows([job({ source: 'slurm' })]));
    expect(claim?.fix).toContain('srun --kill-on-bad-exit=1 --wait=60 python train.py');
  });

  it('says how to stop it by its scheduler, with names as words', async () => {
    const fixOf = async (more: Partial<ToldHolder>): Promise<readonly string[] | undefined> =>
      (await claimsOn(finishedHolders, holderRows([job({ isOpen: true, ...more })])))[0]?.fix;
    expect(await fixOf({ kind: 'PyTorchJob', namespace: 'nlp' })).toEqual([
      'kubectl delete pytorchjob sft-1 -n nlp   # cluster=a',
    ]);
    expect(await fixOf({ source: 'slurm', id: '884213' })).toEqual(['scancel 884213   # cluster=a']);
    expect(await fixOf({ name: 'x; rm -rf ~', namespace: '$(id)' })).toEqual([
      `kubectl delete job 'x; rm -rf ~' -n '$(id)'   # cluster=a`,
    ]);
  });
});
