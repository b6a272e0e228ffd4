import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldHolder } from '../../test/holder-rows.ts';
import { forgottenResources } from './forgotten-resources.ts';

/** A service of one GPU that has been there for three weeks without a kernel; now is midnight, 2026-03-04. */
const service = (more: Partial<ToldHolder> = {}): ToldHolder => ({
  manner: 'serving',
  kind: 'Deployment',
  name: 'recommender-v1',
  from: '02-11 00:00',
  until: '03-04 00:00',
  isOpen: true,
  gpus: { g0: {} },
  ...more,
});
const session = (more: Partial<ToldHolder> = {}): ToldHolder =>
  service({
    manner: 'interactive',
    kind: 'Notebook',
    name: 'notes',
    gpus: { g0: { computing: [['02-11 09:00', '02-20 15:00']] } },
    ...more,
  });

const silent: Record<string, readonly ToldHolder[]> = {
  'a warm standby by its name': [service({ name: 'chat-standby-1' })],
  'a service whose family serves, which oversized-serving asks about': [
    service({ id: '1', name: 'chat-b' }),
    service({ id: '2', name: 'chat-a', gpus: { g1: { computing: [['02-20 03:00', '02-20 09:00']] } } }),
  ],
  'a warm standby by a label': [service({ labels: { role: 'failover' } })],
  'a service that computed once in the window': [
    service({ gpus: { g0: { computing: [['02-20 03:00', '02-20 03:05']] } } }),
  ],
  'a service of which another replica computes': [
    service({ id: '1' }),
    service({ id: '2', gpus: { g1: { computing: [['02-20 03:00', '02-20 09:00']] } } }),
  ],
  'a service of three days': [service({ from: '03-01 00:00' })],
  'a service that is gone': [service({ isOpen: false, until: '03-02 00:00' })],
  'a service of which a tenth is unknown': [service({ gpus: { g0: { unknown: [['02-11 00:00', '02-14 00:00']] } } })],
  'a service that fell silent, and may be busy now': [
    service({ gpus: { g0: { unknown: [['03-03 12:00', '03-04 00:00']] } } }),
  ],
  'a session that was used yesterday': [session({ gpus: { g0: { computing: [['02-11 09:00', '03-02 15:00']] } } })],
  'a job, however long it waits': [service({ manner: 'job', kind: 'Job' })],
};

interface Case {
  readonly told: readonly ToldHolder[];
  readonly what: string;
  readonly firstDay: string;
  readonly isQuestion: boolean;
}

const spoken: Record<string, Case> = {
  'a service without a kernel in three weeks': {
    told: [service()],
    what: 'service recommender-v1 has not computed in 21 days, 1×H100',
    firstDay: '2026-02-11',
    isQuestion: false,
  },
  'whose GPU computed for somebody else up to the handover': {
    told: [service({ gpus: { g0: { computing: [['02-11 00:00', '02-11 00:04']] } } })],
    what: 'service recommender-v1 has not computed in 21 days, 1×H100',
    firstDay: '2026-02-11',
    isQuestion: false,
  },
  'a session nobody has used for twelve days, from its first whole day on': {
    told: [session()],
    what: 'session notes unused since 2026-02-20 15:00, 1×H100',
    firstDay: '2026-02-21',
    isQuestion: false,
  },
};

describe('forgotten-resources', () => {
  it.each(Object.entries(silent))('says nothing of %s', async (_, told) => {
    expect(await claimsOn(forgottenResources, holderRows(told))).toEqual([]);
  });

  it('takes of the day of the last kernel what came after it', async () => {
    // Used from 12:00 to 15:00 of its first day: nine of 21 idle hours follow.
    const told = [session({ gpus: { g0: { computing: [['02-20 12:00', '02-20 15:00']] } } })];
    const [claim] = await claimsOn(forgottenResources, holderRows(told));
    expect(claim?.takes.map(({ firstDay, permille }) => ({ firstDay, permille }))).toEqual([
      { firstDay: '2026-02-21', permille: undefined },
      { firstDay: '2026-02-20', permille: 428 },
    ]);
  });

  it('counts half a GPU as half of one', async () => {
    const rows = holderRows([service({ until: '02-25 00:00' })]);
    const stint_day = (rows['stint_day'] ?? []).map((row) => ({ ...row, units: (Number(row['held_s']) * 63_000) / 2 }));
    const [claim] = await claimsOn(
      forgottenResources,
      { ...rows, stint_day },
      { until: '2026-02-25 00:00:00', now: '2026-02-25 00:00:00' },
    );
    expect(claim?.what).toMatch(/, 0\.5×H100$/);
    expect(claim?.because[0]).toMatch(/, 168 GPU-hours /);
  });

  it.each([
    { holder: service(), blastRadius: 3, blast: /if it stands by for another, nothing takes over/ },
    { holder: session(), blastRadius: undefined, blast: /^undefined$/ },
  ])('of what may stand by unseen it says so: $blastRadius', async ({ holder, ...want }) => {
    const [claim] = await claimsOn(forgottenResources, holderRows([holder]));
    expect(claim?.blastRadius).toBe(want.blastRadius);
    expect(String(claim?.blast)).toMatch(want.blast);
  });

  it.each(Object.entries(spoken))('names %s', async (_, { told, ...want }) => {
    const claims = await claimsOn(forgottenResources, holderRows(told));
    expect(
      claims.map(({ what, takes, isQuestion = false }) => ({ what, firstDay: takes[0]?.firstDay, isQuestion })),
    ).toEqual([want]);
  });

  it('services of one name in two accounts are two findings', async () => {
    const told = ['nlp', 'vision'].map((account, index) =>
      service({ id: String(index + 1), source: 'slurm', namespace: null, account, gpus: { [`g${index}`]: {} } }),
    );
    const claims = await claimsOn(forgottenResources, holderRows(told));
    expect(claims.map(({ about, takes }) => [about, takes.map(({ subject }) => subject)])).toEqual([
      ['a/nlp/recommender-v1', ['job slurm/1/0']],
      ['a/vision/recommender-v1', ['job slurm/2/0']],
    ]);
  });
});

it('ends pods, and says that a bill is of nodes', async () => {
  const fixOf = async (told: ToldHolder) => (await claimsOn(forgottenResources, holderRows([told])))[0]?.fix;
  expect(await fixOf(service())).toEqual([
    expect.stringMatching(/^kubectl scale .*--replicas=0 {3}# cluster=a$/),
    expect.stringMatching(/^# this frees pods; a bill falls once the node is gone/),
  ]);
  expect(await fixOf(session({ source: 'slurm' }))).toEqual(['scancel 1   # cluster=a']);
});
