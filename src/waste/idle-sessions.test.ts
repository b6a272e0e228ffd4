import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import type { Claim } from '../facts/detector.ts';
import { idleSessions } from './idle-sessions.ts';

const U = 63_000;
const H = 3600;
const clock = (day: string, hour: number): string =>
  `${day} ${String(Math.floor(hour)).padStart(2, '0')}:${String(Math.round((hour % 1) * 60)).padStart(2, '0')}:00`;
const nextDay = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

interface Day {
  readonly day: string;
  /** Hours held, and those between which it computed; all of it idle where left out. */
  readonly held?: readonly [from: number, until: number];
  readonly used?: readonly [first: number, last: number];
  readonly unknownHours?: number;
  readonly over?: Readonly<Record<string, string | number | null>>;
}

/** A session's days as `stint_day` has them. It computes all the time between its first and its last kernel. */
const days = (id: string, all: readonly Day[], over: Readonly<Record<string, string | number | null>> = {}) =>
  all.map(({ day, held: [from, until] = [0, 24], used, unknownHours = 0, over: own = {} }) => {
    const computing = used === undefined ? 0 : used[1] - used[0];
    const end = until === 24 ? clock(nextDay(day), 0) : clock(day, until);
    return {
      day,
      subject: `job kubernetes/${id}/0`,
      source: 'kubernetes',
      allocation_id: id,
      attempt: 0,
      node_id: 'n1',
      device_id: `gpu-${id}`,
      root_device_id: `gpu-${id}`,
      manner: 'interactive',
      workload_kind: 'Notebook',
      workload_name: `notes-${id}`,
      held_since: '2026-03-01 08:00:00',
      ended_at: null,
      held_from: clock(day, from),
      held_until: end,
      held_s: (until - from) * H,
      computing_s: computing * H,
      idle_s: (until - from - computing - unknownHours) * H,
      unknown_s: unknownHours * H,
      units: (until - from) * H * U,
      first_computing_at: used === undefined ? null : clock(day, used[0]),
      last_computing_at: used === undefined ? null : clock(day, used[1]),
      known_until: end,
      idle_from: null,
      ...over,
      ...own,
    };
  });

const known = (id: string, over: Readonly<Record<string, string | null>> = {}) => ({
  day: '2026-03-03',
  subject: `job kubernetes/${id}/0`,
  namespace: 'nlp',
  user_name: 'mchen',
  workload_stem: 'notes-0',
  ...over,
});

const claims = (
  stint_day: readonly Readonly<Record<string, string | number | null>>[],
  more: Parameters<typeof claimsOn>[1] = {},
  asked: Parameters<typeof claimsOn>[2] = {},
): Promise<readonly Claim[]> => claimsOn(idleSessions, { stint_day, ...more }, asked);

const [MON, TUE] = ['2026-03-02', '2026-03-03'];
const now = '2026-03-03 20:00:00';
const until = now;
const today = (over: Partial<Day>): Day => ({ day: TUE, held: [0, 20], ...over });

describe('it says nothing', () => {
  const silent: { name: string; rows: readonly Day[]; over?: Readonly<Record<string, string | number | null>> }[] = [
    { name: 'of a notebook that was used an hour ago', rows: [today({ held: [8, 20], used: [8, 19] })] },
    { name: 'of bursts of debugging: the last one is what counts', rows: [today({ held: [8, 20], used: [9, 18.5] })] },
    { name: 'of a start that has not computed yet', rows: [today({ held: [19, 20] })] },
    {
      name: 'of one whose sensors are dark for more than 5 % of the time',
      rows: [today({ used: [0, 10], unknownHours: 2 })],
    },
    {
      name: 'of one whose newest sample is older than an hour',
      rows: [today({ used: [0, 10], over: { known_until: clock(TUE, 18) } })],
    },
    {
      name: 'of a holder by count that computed today: nobody knows when',
      rows: [today({ used: [0, 10], over: { first_computing_at: null, last_computing_at: null } })],
    },
    { name: 'of a training job that waits', rows: [today({ used: [0, 10] })], over: { manner: 'job' } },
    { name: 'of a service between requests', rows: [today({ used: [0, 10] })], over: { manner: 'serving' } },
    {
      name: 'of a pause shorter than a night in a session that ended',
      rows: [{ day: MON, held: [8, 18], used: [8, 15], over: { ended_at: clock(MON, 18) } }],
    },
  ];
  it.each(silent)('$name', async ({ rows, over = {} }) =>
    expect(await claims(days('1', rows, over), {}, { until, now })).toEqual([]),
  );
});

describe('idle now', () => {
  it('of what is forgotten it takes whole days only: parts of one day by two detectors would be taken for two parts', async () => {
    const rows = [
      { day: '2026-02-20', held: [8, 24], used: [8, 20] } as const,
      ...Array.from({ length: 10 }, (_, step) => ({
        day: new Date(Date.UTC(2026, 1, 21 + step)).toISOString().slice(0, 10),
      })),
      today({}),
    ];
    const since = { held_since: '2026-02-20 08:00:00' };
    const [claim] = await claims(days('1', rows, since), {}, { from: '2026-02-02 00:00:00', until, now });
    expect(claim?.takes.map(({ firstDay, lastDay, permille }) => [firstDay, lastDay, permille])).toEqual([
      ['2026-02-21', TUE, undefined],
    ]);
  });

  it('says since when, what it rests on, what to paste, and names the money of the stretch only', async () => {
    const rows = days('1', [
      { day: MON, held: [8, 24], used: [8, 20] },
      today({ over: { power_w_max: 71, fb_used_mib_max: 9000 } }),
    ]);
    const model = [{ day: TUE, subject: 'job kubernetes/1/0', device_id: 'gpu-1', model: 'NVIDIA H100 80GB HBM3' }];
    const [claim, ...others] = await claims(rows, { subject: [known('1')], subject_day: model }, { until, now });
    expect(others).toEqual([]);
    expect(claim).toMatchObject({
      about: 'job kubernetes/1/0',
      ownerSubject: 'job kubernetes/1/0',
      what: 'notebook notes-1 idle since Mon 20:00, 1×H100',
      because: [
        'No kernel in 24 h up to Tue 20:00, at most 71 W on its last day, 9,000 MiB of memory held. Measured (engine, else SM, else utilisation; power).',
      ],
      fix: ['kubectl annotate notebook notes-1 -n nlp kubeflow-resource-stopped="$(date -u +%FT%TZ)" --overwrite'],
      liveSince: new Date('2026-03-02T20:00:00Z'),
      spark: [750, 0],
      takes: [
        { subject: 'job kubernetes/1/0', firstDay: MON, lastDay: MON, category: 'idle', permille: 1000 },
        { subject: 'job kubernetes/1/0', firstDay: TUE, lastDay: TUE, category: 'idle' },
      ],
    });
  });

  it('says nothing of the watts and the memory of a day that computed: they may be those of its kernels', async () => {
    const rows = days('1', [today({ used: [10, 15], over: { power_w_max: 342, fb_used_mib_max: 40_000 } })]);
    const [claim] = await claims(rows, { subject: [known('1')] }, { until, now });
    expect(claim?.because).toEqual(['No kernel in 5 h up to Tue 20:00. Measured (engine, else SM, else utilisation).']);
  });

  it('speaks of power only where it was measured', async () => {
    const rows = days('1', [{ day: MON, held: [8, 24], used: [8, 20] }, today({})]).map((row) => ({
      ...row,
      power_w_max: null,
    }));
    const [claim] = await claims(rows, { subject: [known('1')] }, { until, now });
    expect(claim?.because.join(' ')).not.toContain('power');
  });

  it('of the first day only the part after the last kernel', async () => {
    const [claim] = await claims(days('1', [today({ used: [10, 15] })]), {}, { until, now });
    // 10 h of the morning and 5 h of the evening are idle, and the evening is meant.
    expect(claim?.takes).toEqual([
      { subject: 'job kubernetes/1/0', firstDay: TUE, lastDay: TUE, category: 'idle', permille: 333 },
    ]);
  });

  it('a hostile name stays one word of the command', async () => {
    const rows = days('1', [today({ used: [0, 10] })], { workload_name: "x; rm -rf '~'" });
    const [claim] = await claims(rows, { subject: [known('1')] }, { until, now });
    expect(claim?.fix).toEqual([
      `kubectl annotate notebook 'x; rm -rf '\\''~'\\''' -n nlp kubeflow-resource-stopped="$(date -u +%FT%TZ)" --overwrite`,
    ]);
  });

  it('a box no scheduler knows is told after a working day, as riskier, with the command of its cloud', async () => {
    const box = {
      subject: 'node box1',
      source: null,
      allocation_id: null,
      manner: null,
      node_id: 'box1',
      workload_kind: null,
      workload_name: null,
      held_since: null,
    };
    const subject = [
      { day: TUE, subject: 'node box1', provider: 'AWS', region: 'us-east-1', resource_id: 'arn:aws:ec2/i-0ab' },
    ];
    const rows = (last: number) => days('b', [today({ used: [0, last] })], box);
    expect(await claims(rows(13), { subject }, { until, now })).toEqual([]);
    const [claim] = await claims(rows(10), { subject }, { until, now });
    expect(claim).toMatchObject({
      what: 'box box1 idle since Tue 10:00, 1 GPU',
      fix: ['aws ec2 stop-instances --instance-ids i-0ab --region us-east-1'],
      blastRadius: 3,
    });
    const google = [{ day: TUE, subject: 'node box1', provider: 'Google Cloud', resource_id: '4711' }];
    const node = [{ node_id: 'box1', zone: 'europe-west4-a' }];
    const [stopped] = await claims(rows(10), { subject: google, node }, { until, now });
    expect(stopped?.fix).toEqual(['gcloud compute instances stop box1 --zone europe-west4-a']);
  });
});

describe('after a long silence', () => {
  const silent = (day: string, from: number, silentUntil: number, over: Partial<Day> = {}): Day => ({
    day,
    held: [from, 24],
    unknownHours: silentUntil - from,
    ...over,
    over: { idle_from: clock(day, silentUntil), ...over.over },
  });
  const dark = (day: string, from: number, darkFrom: number): Day => ({
    day,
    held: [from, 24],
    unknownHours: 24 - darkFrom,
    over: { idle_from: clock(day, from), known_until: clock(day, darkFrom) },
  });
  const whole = (day: string): Day => ({ day, over: { idle_from: clock(day, 0) } });
  const last: Day = today({ over: { idle_from: clock(TUE, 0) } });
  const cases: { name: string; rows: readonly Day[]; want: readonly string[] }[] = [
    {
      name: 'it is idle since the silence ended, however small a part of the month that is',
      rows: [
        ...Array.from({ length: 28 }, (_, step) => whole(`2026-02-${String(step + 1).padStart(2, '0')}`)),
        silent('2026-03-01', 0, 12),
        whole(MON),
        last,
      ],
      want: ['notebook notes-1 idle since Sun 12:00, 1 GPU: from 2026-03-01'],
    },
    {
      name: 'what is known since then is enough, though the day before is dark',
      rows: [dark('2026-03-01', 8, 20), silent(MON, 0, 20), last],
      want: ['notebook notes-1 idle since Mon 20:00, 1 GPU: from 2026-03-02'],
    },
    {
      name: 'a silence that ends at midnight is one',
      rows: [whole('2026-03-01'), dark(MON, 0, 6), last],
      want: ['notebook notes-1 idle since Tue 00:00, 1 GPU: from 2026-03-03'],
    },
    {
      name: 'of a day with a kernel it counts as unknown: nobody says on which side of it it was',
      rows: [
        dark('2026-03-01', 8, 20),
        silent(MON, 0, 12, { used: [12, 15], over: { idle_from: clock(MON, 15) } }),
        last,
      ],
      want: [],
    },
    {
      name: 'it says nothing where the idle time is dark in between, too',
      rows: [dark('2026-03-01', 8, 20), silent(MON, 0, 12, { unknownHours: 16 }), last],
      want: [],
    },
  ];
  it.each(cases)('$name', async ({ rows, want }) => {
    const found = await claims(days('1', rows), { subject: [known('1')] }, { from: '2026-02-01 00:00:00', until, now });
    const live = found.filter(({ liveSince }) => liveSince !== undefined);
    expect(live.map(({ what, takes }) => `${what}: from ${takes[0]?.firstDay}`)).toEqual(want);
  });
});

describe('night after night', () => {
  const night = (id: string, day: string): Readonly<Record<string, string | number | null>>[] =>
    days(id, [
      { day, held: [8, 24], used: [8, 18] },
      { day: nextDay(day), held: [0, 12], used: [8, 12], over: { ended_at: clock(nextDay(day), 12) } },
    ]);

  it('one session is one finding, and its money the nights without the pauses of the day', async () => {
    const [claim, ...others] = await claims(night('1', '2026-02-10'), { subject: [known('1')] });
    expect(others).toEqual([]);
    expect(claim?.what).toBe('notebook notes-1 left on unused once, 1 GPU');
    expect(claim?.liveSince).toBeUndefined();
    // A culler of two hours leaves 12 of the 14; who ends it when he goes saves all.
    expect(claim?.reachable).toEqual({ lowPermille: 857, highPermille: 1000 });
    // 6 h and 8 h of 14 idle hours.
    expect(claim?.takes).toEqual([
      {
        subject: 'job kubernetes/1/0',
        firstDay: '2026-02-10',
        lastDay: '2026-02-11',
        category: 'idle',
        permille: 1000,
      },
    ]);
  });

  it('says what its user can do, and of the setting for all only that there is one', async () => {
    const fixOf = async (labels: Readonly<Record<string, string>>) => {
      const subject = [{ ...known('1'), day: '2026-02-11', labels }];
      return (await claimsOn(idleSessions, { stint_day: night('1', '2026-02-10'), subject }))[0]?.fix;
    };
    const hub = { 'hub.jupyter.org/username': 'mchen' };
    const all =
      '# whoever runs the cluster can do it for all: ENABLE_CULLING=true, CULL_IDLE_TIME=120 of the notebook controller; jupyterhub-idle-culler --timeout=7200';
    expect(await fixOf({})).toEqual([
      '# in the evening:',
      'kubectl annotate notebook notes-1 -n nlp kubeflow-resource-stopped="$(date -u +%FT%TZ)" --overwrite',
      all,
    ]);
    expect((await fixOf(hub))?.[1]).toBe(
      "kubectl delete pod -n nlp -l 'component=singleuser-server,hub.jupyter.org/username=mchen'",
    );
  });

  it('the sessions of one person and name are one finding, never one a night', async () => {
    const rows = ['2026-02-10', '2026-02-12', '2026-02-16'].flatMap((day, index) => night(String(index), day));
    const all = await claims(rows, { subject: ['0', '1', '2'].map((id) => known(id)) });
    expect(all.map(({ what }) => what)).toEqual(['3 sessions of notes left on unused 3 times, 1 GPU each']);
    expect(all[0]?.about).toBe('nights of /nlp/mchen notes-0');
    expect(all[0]?.ownerSubject).toBe('job kubernetes/2/0');
    expect(all[0]?.takes.map(({ subject, firstDay, permille }) => [subject, firstDay, permille])).toEqual([
      ['job kubernetes/0/0', '2026-02-10', 1000],
      ['job kubernetes/1/0', '2026-02-12', 1000],
      ['job kubernetes/2/0', '2026-02-16', 1000],
    ]);
  });

  it('of one person in two namespaces they are two: each is the money of its team', async () => {
    const rows = ['2026-02-10', '2026-02-12'].flatMap((day, index) => night(String(index), day));
    const all = await claims(rows, { subject: [known('0'), { ...known('1'), namespace: 'vision' }] });
    expect(all.map(({ takes }) => takes.map(({ subject }) => subject))).toEqual([
      ['job kubernetes/0/0'],
      ['job kubernetes/1/0'],
    ]);
  });

  it.each([
    { name: 'who runs the pool', users: ['mchen', 'mchen', 'kim'], want: null },
    { name: 'who runs it where one may be anybody’s', users: ['mchen', 'mchen', null], want: null },
    { name: 'the one person whose all of them are', users: ['mchen', 'mchen', 'mchen'], want: 'node b1' },
  ])('boxes of one pool are one finding, and its owner is $name', async ({ users, want }) => {
    const ids = ['b1', 'b2', 'b3'];
    const box = { allocation_id: null, source: null, manner: null, workload_kind: null, workload_name: null };
    const rows = ids.flatMap((id) =>
      night(id, '2026-02-10').map((row) => ({ ...row, ...box, node_id: id, subject: `node ${id}` })),
    );
    const subject = ids.map((id, place) => ({
      day: '2026-02-11',
      subject: `node ${id}`,
      cluster: 'workstations',
      user_name: users[place] ?? null,
    }));
    const all = await claims(rows, { subject });
    const what = '3 boxes of workstations left on unused 3 times, 1 GPU each';
    expect(all).toMatchObject([{ what, about: 'nights of boxes of workstations', ownerSubject: want }]);
  });

  it('the name of a box may have spaces in it', async () => {
    const box = { allocation_id: null, source: null, manner: null, node_id: 'box  of 9', subject: 'node box  of 9' };
    const [claim] = await claims(night('b', '2026-02-10').map((row) => ({ ...row, ...box })));
    expect(claim?.takes.map(({ subject }) => subject)).toEqual(['node box  of 9']);
  });

  it('a night far from Greenwich lies within a day', async () => {
    const used = { used: [0, 24] as const, over: { computing_s: 9 * H, idle_s: 15 * H, inner_idle_s: 14 * H } };
    const rows = days('1', [
      { day: '2026-02-10', ...used },
      { day: '2026-02-11', held: [0, 1], used: [0, 1], over: { ended_at: clock('2026-02-11', 1) } },
    ]);
    const [claim] = await claims(rows, { subject: [known('1')] });
    expect(claim?.what).toBe('notebook notes-1 left on unused once, 1 GPU');
    expect(claim?.takes).toEqual([
      { subject: 'job kubernetes/1/0', firstDay: '2026-02-10', lastDay: '2026-02-10', category: 'idle', permille: 933 },
    ]);
  });

  it('one that computes right now after a night is not idle now', async () => {
    const rows = days('1', [{ day: MON, held: [8, 24], used: [8, 10] }, today({ used: [9, 20] })]);
    const all = await claims(rows, { subject: [known('1')] }, { until, now });
    expect(all.map(({ about, liveSince }) => [about, liveSince])).toEqual([
      ['nights of /nlp/mchen notes-0', undefined],
    ]);
  });

  it('the day on which a stretch began that goes on is shared with the night before it, and no second is meant twice', async () => {
    const rows = days('1', [{ day: MON, held: [8, 24], used: [8, 18] }, today({ used: [9, 12] })]);
    const [live, nights] = await claims(rows, { subject: [known('1')] }, { until, now });
    // Of 17 idle hours on Tuesday 8 are of the evening and 9 of the night.
    expect(live?.takes).toEqual([
      { subject: 'job kubernetes/1/0', firstDay: TUE, lastDay: TUE, category: 'idle', permille: 470 },
    ]);
    expect(nights?.takes).toEqual([
      { subject: 'job kubernetes/1/0', firstDay: MON, lastDay: MON, category: 'idle', permille: 1000 },
      { subject: 'job kubernetes/1/0', firstDay: TUE, lastDay: TUE, category: 'idle', permille: 529 },
    ]);
  });

  it('what was idle to its end counts once it has ended', async () => {
    const rows = days('1', [{ day: MON, held: [8, 20], used: [8, 10], over: { ended_at: clock(MON, 20) } }]);
    expect((await claims(rows, { subject: [known('1')] })).map(({ what }) => what)).toEqual([
      'notebook notes-1 left on unused once, 1 GPU',
    ]);
  });
});
