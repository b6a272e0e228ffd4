import { beforeAll, describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { fate } from './fate.ts';

/** A moment of March 2026: `02 09:30`. */
const at = (moment: string): string => `2026-03-${moment}:00`;

interface Later {
  readonly from: string;
  /** Null: it waits. */
  readonly attempt?: number | null;
  readonly source?: string;
  readonly id?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly kind?: string;
  readonly account?: string;
  readonly user?: string;
  /** When it was handed in, where that is known. */
  readonly submitted?: string;
}

interface Case {
  readonly outcome: string;
  readonly from: string;
  /** Undefined: it goes on. */
  readonly until?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly kind?: string;
  readonly account?: string;
  readonly user?: string;
  /** What begins afterwards: the same job's next life unless it says otherwise. */
  readonly later?: readonly Later[];
  /** Last checkpoint of a day, `seen` or `rested` where the word is before it. */
  readonly saved?: readonly string[];
  readonly want: string | undefined;
}

// All are asked about 2026-03-02: from which clock on is it lost, and what kept the rest? Undefined: nothing of the day is lost.
const OTHERS = { from: '05 00:00', id: 'other', name: 'other' };
const MORNING = { from: '02 01:00', until: '02 12:30' };
const WHOSE = { name: 'sft', account: 'nlp', user: 'mchen' };
const CRASHED = { outcome: 'failed', ...MORNING, saved: ['seen 02 10:15'], ...WHOSE };
const AGAIN = { from: '02 13:00', id: '43', attempt: 0, ...WHOSE };
const cases: Readonly<Record<string, Case>> = {
  'preempted and resumed: what came after the last checkpoint': {
    outcome: 'preempted',
    ...MORNING,
    saved: ['02 10:15'],
    later: [{ from: '02 13:00' }],
    want: '10:15 recorded',
  },
  'resumed, without a checkpoint: since its begin': {
    outcome: 'preempted',
    ...MORNING,
    later: [{ from: '02 13:00' }],
    want: '01:00',
  },
  'a checkpoint on a later day keeps this one': {
    outcome: 'failed',
    from: '02 01:00',
    until: '04 12:30',
    saved: ['02 10:15', '04 00:01'],
    later: [{ from: '04 13:00' }],
    want: undefined,
  },
  'what an earlier day saved does not keep this one': {
    outcome: 'node-fail',
    from: '01 01:00',
    until: '02 12:30',
    saved: ['01 23:00'],
    later: [{ from: '02 13:00' }],
    want: '00:00 recorded',
  },
  'failed for good: nobody went on with what was saved': {
    outcome: 'failed',
    ...MORNING,
    saved: ['02 10:15'],
    later: [OTHERS],
    want: '01:00',
  },
  'a crash at its teardown does not throw away what it saved on its last day': {
    outcome: 'out-of-memory',
    from: '01 01:00',
    until: '06 12:30',
    saved: ['06 12:20'],
    later: [{ ...OTHERS, from: '08 00:00' }],
    want: undefined,
  },
  'nobody has resumed it, but the queue has not moved since: its checkpoint may still be': {
    outcome: 'node-fail',
    ...MORNING,
    saved: ['02 10:15'],
    later: [{ ...OTHERS, from: '03 12:29' }],
    want: '10:15 recorded',
  },
  'its next life still waits in the queue': {
    outcome: 'node-fail',
    ...MORNING,
    saved: ['02 10:15'],
    later: [OTHERS, { from: '02 12:40', attempt: null }],
    want: '10:15 recorded',
  },
  'others that wait move no queue': {
    outcome: 'node-fail',
    ...MORNING,
    saved: ['02 10:15'],
    later: [{ ...OTHERS, attempt: null }],
    want: '10:15 recorded',
  },
  'resumed after days': {
    outcome: 'node-fail',
    ...MORNING,
    saved: ['02 10:15'],
    later: [OTHERS, { from: '16 12:29' }],
    want: '10:15 recorded',
  },
  'resumed after two weeks is not resumed': {
    outcome: 'node-fail',
    ...MORNING,
    saved: ['seen 02 10:15'],
    later: [OTHERS, { from: '16 12:30' }],
    want: '01:00',
  },
  'more than two weeks before its end nobody can say': {
    outcome: 'failed',
    from: '02 01:00',
    until: '17 00:01',
    later: [{ ...OTHERS, from: '20 00:00' }],
    want: undefined,
  },
  'two weeks before its end it can be said': {
    outcome: 'failed',
    from: '02 01:00',
    until: '17 00:00',
    later: [{ ...OTHERS, from: '20 00:00' }],
    want: '01:00',
  },
  'out of time and nobody goes on with it: it took what it got': {
    outcome: 'timeout',
    ...MORNING,
    later: [OTHERS],
    want: undefined,
  },
  'out of time and resumed: what came after the last checkpoint': {
    outcome: 'timeout',
    ...MORNING,
    saved: ['02 10:15'],
    later: [{ from: '02 13:00' }],
    want: '10:15 recorded',
  },
  'an attempt of another source with the same id resumes nothing': {
    outcome: 'failed',
    ...MORNING,
    saved: ['seen 02 10:15'],
    later: [OTHERS, { from: '02 13:00', source: 'kubernetes' }],
    want: '01:00',
  },
  'nor does an earlier attempt': {
    outcome: 'failed',
    ...MORNING,
    saved: ['seen 02 10:15'],
    later: [OTHERS, { from: '02 13:00', attempt: 0 }],
    want: '01:00',
  },
  'the next pod of the same job resumes, also a little before the old one is gone': {
    outcome: 'failed',
    ...MORNING,
    name: 'train',
    namespace: 'nlp',
    kind: 'PyTorchJob',
    saved: ['02 10:15'],
    later: [OTHERS, { from: '02 12:28', id: 'pod-2', attempt: 0, name: 'train', namespace: 'nlp', kind: 'PyTorchJob' }],
    want: '10:15 recorded',
  },
  'a pod that ran beside it does not': {
    outcome: 'failed',
    ...MORNING,
    name: 'train',
    namespace: 'nlp',
    kind: 'PyTorchJob',
    saved: ['seen 02 10:15'],
    later: [OTHERS, { from: '02 12:27', id: 'pod-2', attempt: 0, name: 'train', namespace: 'nlp', kind: 'PyTorchJob' }],
    want: '01:00',
  },
  'nor does one of that name in another namespace': {
    outcome: 'failed',
    ...MORNING,
    name: 'train',
    namespace: 'nlp',
    kind: 'Job',
    saved: ['seen 02 10:15'],
    later: [OTHERS, { from: '02 13:00', id: 'pod-2', name: 'train', namespace: 'asr', kind: 'Job' }],
    want: '01:00',
  },
  'the next run of a schedule is another run': {
    outcome: 'failed',
    ...MORNING,
    name: 'nightly',
    namespace: 'nlp',
    kind: 'CronJob',
    saved: ['seen 02 10:15'],
    later: [OTHERS, { from: '03 01:00', id: 'pod-2', name: 'nightly', namespace: 'nlp', kind: 'CronJob' }],
    want: '01:00',
  },
  'the same name where there are no namespaces, accounts or users is another job': {
    outcome: 'failed',
    ...MORNING,
    name: 'train',
    kind: 'Job',
    saved: ['seen 02 10:15'],
    later: [OTHERS, { from: '02 13:00', id: '43', name: 'train', kind: 'Job' }],
    want: '01:00',
  },
  'failed for good, and only pauses were seen: nobody knows that they saved anything': {
    outcome: 'failed',
    ...MORNING,
    saved: ['seen 02 10:15'],
    later: [OTHERS],
    want: '01:00',
  },
  'handed in again by hand on Slurm: the same run goes on': {
    ...CRASHED,
    later: [OTHERS, { ...AGAIN, submitted: '03 09:00', from: '06 13:00' }],
    want: '10:15 seen',
  },
  'with another number at the end it is another run': {
    ...CRASHED,
    name: 'sft-1',
    later: [OTHERS, { ...AGAIN, name: 'sft-2', submitted: '02 13:00' }],
    want: '01:00',
  },
  'it waits in the queue': { ...CRASHED, later: [OTHERS, { ...AGAIN, attempt: null }], want: '10:15 seen' },
  'what was handed in before the end is another run of a sweep': {
    ...CRASHED,
    later: [OTHERS, { ...AGAIN, submitted: '02 12:27' }],
    want: '01:00',
  },
  'so is what comes after three days': {
    ...CRASHED,
    later: [OTHERS, { ...AGAIN, submitted: '05 12:30', from: '05 13:00' }],
    want: '01:00',
  },
  'a colleague’s run of that name is another': {
    ...CRASHED,
    later: [OTHERS, { ...AGAIN, user: 'kim' }],
    want: '01:00',
  },
  'and so is one for another account': { ...CRASHED, later: [OTHERS, { ...AGAIN, account: 'asr' }], want: '01:00' },
  'out of time and handed in again, with a checkpoint: what came after it': {
    ...CRASHED,
    outcome: 'timeout',
    saved: ['02 10:15'],
    later: [AGAIN],
    want: '10:15 recorded',
  },
  'out of time and handed in again, without one: it took what it got, and so may the next': {
    ...CRASHED,
    outcome: 'timeout',
    saved: [],
    later: [AGAIN],
    want: undefined,
  },
  'where checkpoints are recorded, pauses are none': {
    outcome: 'failed',
    ...MORNING,
    saved: ['01 10:15', 'seen 02 11:00'],
    later: [{ from: '02 13:00' }],
    want: '01:00 recorded',
  },
  'where none is recorded, the last pause stands for one': {
    outcome: 'failed',
    ...MORNING,
    saved: ['seen 02 08:00', 'seen 02 11:00'],
    later: [{ from: '02 13:00' }],
    want: '11:00 seen',
  },
  'saved with its last second: nothing is lost': {
    outcome: 'preempted',
    ...MORNING,
    saved: ['02 12:30'],
    later: [{ from: '02 13:00' }],
    want: undefined,
  },
  'cancelled is somebody’s decision': { outcome: 'cancelled', from: '02 01:00', until: '02 12:30', want: undefined },
  'completed is done': { outcome: 'completed', from: '02 01:00', until: '02 12:30', want: undefined },
  'what goes on has no fate yet': { outcome: 'failed', from: '02 01:00', want: undefined },
  'a notebook that dies loses no work of ours to tell': {
    outcome: 'node-fail',
    ...MORNING,
    kind: 'Notebook',
    later: [OTHERS],
    want: undefined,
  },
  'its machine died long after it had done its work: nothing': {
    outcome: 'node-fail',
    from: '02 01:00',
    until: '03 12:30',
    saved: ['02 10:15', 'rested 03 09:00'],
    later: [OTHERS],
    want: undefined,
  },
  'it had rested, and somebody went on with it: since the last checkpoint': {
    outcome: 'node-fail',
    ...MORNING,
    saved: ['02 08:15', 'rested 02 09:00'],
    later: [{ from: '02 13:00' }],
    want: '08:15 recorded',
  },
  'it rested on a day before its last': {
    outcome: 'preempted',
    from: '02 01:00',
    until: '04 12:30',
    saved: ['rested 03 09:00'],
    later: [{ ...OTHERS, from: '06 00:00' }],
    want: '01:00',
  },
  'nor does a service': {
    outcome: 'failed',
    ...MORNING,
    kind: 'Deployment',
    later: [OTHERS],
    want: undefined,
  },
};

/** Every case has a scheduler of its own, so that one engine answers for all. */
const sourceOf = (title: string): string => `slurm of ${title}`;

type Names = Pick<Later, 'name' | 'namespace' | 'kind' | 'account' | 'user'>;

const names = ({ name, namespace, kind = 'Job', account, user }: Names) => ({
  workload_name: name ?? null,
  account: account ?? null,
  user_name: user ?? null,
  namespace: namespace ?? null,
  workload_kind: kind,
});

const holdingOf = ([title, each]: [string, Case]) => ({
  source: sourceOf(title),
  allocation_id: '42',
  attempt: 0,
  ...names(each),
  day: '2026-03-02',
  node_id: 'n1',
  slot: 0,
  held_from: at(each.from),
  held_until: each.until === undefined ? null : at(each.until),
  outcome: each.outcome,
});

const begunOf = ([title, { later = [] }]: [string, Case]) =>
  later.map((each) => ({
    day: at(each.from).slice(0, 10),
    source: each.source ?? sourceOf(title),
    allocation_id: each.id ?? '42',
    attempt: each.attempt === undefined ? 1 : each.attempt,
    begun_at: at(each.from),
    submitted_at: each.submitted === undefined ? null : at(each.submitted),
    ...names(each),
  }));

const checkpointsOf = ([title, { saved = [] }]: [string, Case]) =>
  saved.map((text) => {
    const last_at = at(text.replace(/^(?:seen|rested) /, ''));
    const basis = /^(?:seen|rested)/.exec(text)?.[0] ?? 'recorded';
    const holder = { source: sourceOf(title), allocation_id: '42', attempt: 0 };
    return { ...holder, day: last_at.slice(0, 10), basis, checkpoints: 1, last_at };
  });

describe('what of a day came to nothing', () => {
  const told = new Map<string, string>();
  beforeAll(async () => {
    const all = Object.entries(cases);
    const rows = await stagesOn([fate], {
      holding: all.map(holdingOf),
      begun: all.flatMap(begunOf),
      checkpoint: all.flatMap(checkpointsOf),
    });
    for (const row of rows) {
      told.set(
        String(row['source']),
        [String(row['lost_from']).slice(11, 16), row['kept_by']].filter(Boolean).join(' '),
      );
    }
  });

  test.each(Object.entries(cases))('%s', (title, { want }) => {
    expect(told.get(sourceOf(title))).toBe(want);
  });
});
