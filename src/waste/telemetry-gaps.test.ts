import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldGpu, type ToldHolder } from '../../test/holder-rows.ts';
import { telemetryGaps } from './telemetry-gaps.ts';

/** A job of a day, 2026-03-03, which ends at the end of the window. */
const job = (gpus: Readonly<Record<string, ToldGpu>>, more: Partial<ToldHolder> = {}): ToldHolder => ({
  from: '03-03 00:00',
  until: '03-04 00:00',
  isOpen: true,
  gpus,
  ...more,
});
const ALL_DAY = ['03-03 00:00', '03-04 00:00'] as const;
const BUSY: ToldGpu = { computing: [ALL_DAY] };
const DARK: ToldGpu = { unknown: [ALL_DAY] };
/** Samples arrive, and say nothing of activity. */
const BLIND: ToldGpu = { unknown: [ALL_DAY], more: { samples: 288 } };

describe('telemetry-gaps', () => {
  const silent: Record<string, readonly ToldHolder[]> = {
    'a GPU that is heard': [job({ g0: BUSY })],
    'an idle GPU that is heard': [job({ g0: {} })],
    'a scrape that was missed': [job({ g0: { unknown: [['03-03 03:00', '03-03 04:00']] } })],
    'a reboot': [job({ g0: { unknown: [['03-03 03:00', '03-03 09:00']] } })],
    'sensors that lie, which are said elsewhere': [
      job({ g0: { ...BLIND, more: { samples: 288, lying_samples: 288 } } }),
    ],
  };
  it.each(Object.entries(silent))('says nothing of %s', async (_, told) => {
    expect(await claimsOn(telemetryGaps, holderRows(told))).toEqual([]);
  });

  const spoken = {
    'GPUs that send nothing': {
      told: [job({ g0: DARK, g1: DARK, g2: BUSY })],
      want: '2 GPUs of a send no activity: nothing is said about them',
    },
    'GPUs that were silent and are back': {
      told: [job({ g0: { unknown: [['03-03 02:00', '03-03 14:00']] } })],
      want: '1 GPU of a sent no activity for hours: nothing is said about it',
    },
    'GPUs of which some are back': {
      told: [job({ g0: DARK, g1: { unknown: [['03-03 02:00', '03-03 14:00']] } })],
      want: '2 GPUs of a sent no activity for hours, 1 of them now: nothing is said about those hours',
    },
    'slices, which are GPUs only together': {
      told: [
        job({
          s0: { ...DARK, more: { root_device_id: 'g0' } },
          s1: { ...DARK, more: { root_device_id: 'g0' } },
        }),
      ],
      want: '1 GPU of a sends no activity: nothing is said about it',
    },
    'samples without the fields': {
      told: [job({ g0: BLIND })],
      want: '1 GPU of a sends samples without activity: nothing is said about it',
    },
  };
  it.each(Object.entries(spoken))('names %s, and takes unknown money only', async (_, { told, want }) => {
    const claims = await claimsOn(telemetryGaps, holderRows(told));
    expect(claims.map(({ what }) => what)).toEqual([want]);
    expect(claims.flatMap(({ takes }) => takes)).toEqual([
      { subject: 'job kubernetes/1/0', firstDay: '2026-03-03', lastDay: '2026-03-03', category: 'unknown' },
    ]);
  });

  const after = {
    'a GPU that was heard again': {
      told: [job({ g0: { unknown: [['03-03 02:00', '03-03 14:00']] } })],
      fix: /they are back/,
      because: 'None of it counts as idle.',
    },
    'a GPU that was silent when its job ended, and that nobody holds since': {
      told: [
        job(
          { g0: { unknown: [['03-02 10:00', '03-02 22:00']] } },
          { from: '03-02 00:00', until: '03-02 22:00', isOpen: false },
        ),
      ],
      presence: [{ node_id: 'n1', device_id: 'g0', from_at: '2026-03-03 00:00:00', until_at: '2026-03-04 00:00:00' }],
      fix: /kubectl delete pod .*dcgm-exporter|systemctl restart/,
      because: '1 GPU silent when last held, and held by nobody now; the last of them was heard Mon 10:00.',
    },
    'a GPU that was silent when its job ended, and whose machine has gone since': {
      told: [
        job(
          { g0: { unknown: [['03-02 10:00', '03-02 22:00']] } },
          { from: '03-02 00:00', until: '03-02 22:00', isOpen: false },
        ),
      ],
      presence: [{ node_id: 'n1', device_id: 'g0', from_at: '2026-03-02 00:00:00', until_at: '2026-03-02 23:00:00' }],
      fix: /^# they are gone or back; next time/,
      because: '1 GPU silent when last held, and no longer known to be there; the last of them was heard Mon 10:00.',
    },
    'one whose next job is heard': {
      told: [
        job(
          { g0: { unknown: [['03-02 10:00', '03-02 22:00']] } },
          { from: '03-02 00:00', until: '03-02 22:00', isOpen: false },
        ),
        job({ g0: BUSY }, { id: '2' }),
      ],
      fix: /they are back/,
      because: 'None of it counts as idle.',
    },
  };
  it.each(Object.entries(after))('says what became of %s', async (_, { told, fix, because, ...rest }) => {
    const [claim] = await claimsOn(telemetryGaps, { ...holderRows(told), ...rest });
    expect(claim?.fix.join('\n')).toMatch(fix);
    expect(claim?.because).toContain(because);
  });

  it('asks other days for the cluster of a node that was listed later', async () => {
    const { stint_day: stints, subject } = holderRows([job({ g0: DARK })]);
    const unlisted = (stints ?? []).map((row) => ({ ...row, cluster: null }));
    const listed = (subject ?? []).map((row) => ({ ...row, day: '2026-03-04', cluster: 'b' }));
    const [claim] = await claimsOn(telemetryGaps, { stint_day: unlisted, subject: listed });
    expect(claim?.about).toBe('b/silent');
  });

  it('tells a job that holds by count from missing fields', async () => {
    const rows = holderRows([job({ g0: BLIND }, { source: 'slurm' })]);
    const holding = [
      { day: '2026-03-03', source: 'slurm', allocation_id: '1', attempt: 0, node_id: 'n1', gpu_count: 1 },
    ];
    const [claim] = await claimsOn(telemetryGaps, { ...rows, holding });
    expect(claim?.what).toBe('1 GPU of a on nodes of which jobs hold some by count: which ones a job has is not known');
    expect(claim?.because[1]).toBe('They send their samples; whose these are nobody says.');
  });

  it('asks for the profiling fields of GPUs that send utilisation alone, and claims nothing', async () => {
    const only: ToldGpu = { ...BUSY, more: { engine_permille: null, sm_permille: null, util_permille: 980 } };
    const [claim, ...others] = await claimsOn(telemetryGaps, holderRows([job({ g0: only, g1: only, g2: BUSY })]));
    expect(others).toEqual([]);
    expect(claim).toMatchObject({
      about: 'a/profiling',
      what: '2 GPUs of a send utilisation and no profiling fields: can they be turned on?',
      isQuestion: true,
      takes: [],
    });
    expect(claim?.fix.join(' ')).toContain('DCGM_FI_PROF_SM_ACTIVE');
    // An idle day has no profiling means either: it says nothing.
    const idle: ToldGpu = { more: { util_permille: null } };
    expect(await claimsOn(telemetryGaps, holderRows([job({ g0: idle })]))).toEqual([]);
  });

  it('restarts the exporter of a node that is silent now, and of no other', async () => {
    const back = job({ g1: { node: 'n2', unknown: [['03-03 02:00', '03-03 14:00']] } }, { id: '2', source: 'slurm' });
    const [claim] = await claimsOn(telemetryGaps, holderRows([job({ g0: DARK }, { source: 'slurm' }), back]));
    expect(claim?.fix.filter((line) => line.includes('restart'))).toEqual([
      'ssh n1 sudo systemctl restart nvidia-dcgm-exporter',
    ]);
  });
});
