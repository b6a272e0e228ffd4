import { beforeAll, describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { checkpoint } from './checkpoint.ts';

const NO_PAUSES = { pause: [], gpu_hour: [] };

/** A moment of March 2026: `02 09:30`. */
const at = (moment: string): string => `2026-03-${moment}:00`;

interface Case {
  /** What was recorded, of the job 42 unless it says otherwise. */
  readonly work: Readonly<Record<string, string | null>>;
  readonly want: string | undefined;
}

// Asked about 2026-03-02, on which 42 holds from 01:00 to 13:00 in its second life; each case has a cluster of its own.
const cases: Readonly<Record<string, Case>> = {
  'written where its window ends': {
    work: { window_from: '02 09:00', window_until: '02 09:05' },
    want: '1 02 09:05',
  },
  'or at its moment': { work: { window_from: '02 09:00' }, want: '1 02 09:00' },
  'with the last second of the attempt': {
    work: { window_from: '02 12:59', window_until: '02 13:00' },
    want: '1 02 13:00',
  },
  'not before it began': { work: { window_from: '02 01:00' }, want: undefined },
  'not when it is over': { work: { window_from: '02 13:00', window_until: '02 13:01' }, want: undefined },
  'steps are none': { work: { window_from: '02 09:00', unit: 'step' }, want: undefined },
  'none written is none': { work: { window_from: '02 09:00', quantity: '0' }, want: undefined },
  'the job may be named with its scheduler': {
    work: { window_from: '02 09:00', allocation_id: 'slurm/42' },
    want: '1 02 09:00',
  },
  'a run by its name, where no job is named': {
    work: { window_from: '02 09:00', allocation_id: null, run: 'train' },
    want: '1 02 09:00',
  },
  'a run of another name is another': {
    work: { window_from: '02 09:00', allocation_id: null, run: 'trainer' },
    want: undefined,
  },
  'the job counts before the run': {
    work: { window_from: '02 09:00', allocation_id: '43', run: 'train' },
    want: undefined,
  },
  'nobody’s is nobody’s': { work: { window_from: '02 09:00', allocation_id: null }, want: undefined },
  'of another cluster is another’s': { work: { window_from: '02 09:00', cluster: 'elsewhere' }, want: undefined },
  'of no cluster is of whichever holds that job': {
    work: { window_from: '02 09:00', cluster: null, allocation_id: 'only-here' },
    want: '1 02 09:00',
  },
};

describe('which attempts saved their work', () => {
  const told = new Map<string, string>();
  beforeAll(async () => {
    const all = Object.entries(cases);
    const rows = await stagesOn([checkpoint], {
      ...NO_PAUSES,
      holding: all.map(([title, { work }], index) => ({
        day: '2026-03-02',
        source: 'slurm',
        allocation_id: work['allocation_id'] === 'only-here' ? 'only-here' : '42',
        attempt: index,
        cluster: title,
        workload_name: 'train',
        held_from: at('02 01:00'),
        held_until: at('02 13:00'),
        ends_at: at('02 13:00'),
      })),
      work: all.map(([title, { work }], index) => ({
        source: 'trainer',
        work_id: `w${index}`,
        unit: 'checkpoint',
        quantity: '1',
        allocation_id: '42',
        cluster: title,
        ...work,
        window_from: at(String(work['window_from'])),
        window_until: typeof work['window_until'] === 'string' ? at(work['window_until']) : null,
      })),
    });
    const titles = all.map(([title]) => title);
    for (const row of rows) {
      told.set(
        titles[Number(row['attempt'])] ?? '',
        `${String(row['checkpoints'])} ${String(row['last_at']).slice(8, 16)}`,
      );
    }
  });

  test.each(Object.entries(cases))('%s', (title, { want }) => {
    expect(told.get(title)).toBe(want);
  });

  test('those of a midnight are of the day that ends with it; of a day only the last counts, and how many', async () => {
    const held = { source: 'slurm', allocation_id: '42', attempt: 0, day: '2026-03-02', ends_at: at('03 00:02') };
    const row = { source: 'trainer', unit: 'checkpoint', quantity: '1', allocation_id: '42' };
    const moments = ['02 00:00', '02 09:00', '02 17:00', '03 00:00'];
    const rows = await stagesOn([checkpoint], {
      ...NO_PAUSES,
      holding: [{ ...held, held_from: at('01 12:00'), held_until: at('04 12:00') }],
      work: moments.map((moment) => ({ ...row, work_id: moment, window_from: at(moment) })),
    });
    expect(rows.map((found) => [found['checkpoints'], String(found['last_at'])])).toEqual([[3n, at('03 00:00')]]);
  });

  // Devices with the pauses of each; all of them computed on the day, and hold since 01:00.
  test.each<[string, Readonly<Record<string, readonly [string, string][]>>, string | undefined]>([
    ['all devices paused in an hour', { a: [['09:00', '09:05']], b: [['09:01', '09:06']] }, '1 09:06'],
    ['one went on', { a: [['09:00', '09:05']], b: [] }, undefined],
    ['they paused in other hours', { a: [['09:00', '09:05']], b: [['10:00', '10:05']] }, undefined],
    ['the hour is that of the end', { a: [['08:58', '09:05']], b: [['09:01', '10:00']] }, '1 10:00'],
    [
      'two hours',
      {
        a: [
          ['09:00', '09:05'],
          ['11:00', '11:02'],
        ],
      },
      '2 11:02',
    ],
    ['starting up saves nothing', { a: [['01:00', '01:20']] }, undefined],
  ])('seen where %s', async (_, pauses, want) => {
    const holder = { day: '2026-03-02', source: 'slurm', allocation_id: '42', attempt: 0 };
    const clock = (time: string): string => at(`02 ${time}`);
    const rows = await stagesOn([checkpoint], {
      work: [],
      holding: [{ ...holder, held_from: clock('01:00'), ends_at: clock('13:00') }],
      gpu_hour: Object.keys(pauses).map((device_id) => ({ ...holder, device_id, disposition: 'held', computing_s: 1 })),
      pause: Object.entries(pauses).flatMap(([device_id, of]) =>
        of.map(([from, until]) => ({ ...holder, device_id, from_at: clock(from), until_at: clock(until) })),
      ),
    });
    const found = rows.map((row) => `${String(row['checkpoints'])} ${String(row['last_at']).slice(11, 16)}`);
    expect([rows[0]?.['basis'], found[0]]).toEqual([want === undefined ? undefined : 'seen', want]);
  });

  // Hours of the day, each with what its devices did in it; the attempt ends at 13:00 of the day.
  test.each<[string, string, string, boolean]>([
    ['idle in its last three hours, and taken away', 'node-fail', 'ciii', true],
    ['taken away by another job', 'preempted', 'ciii', true],
    ['it ended by itself', 'failed', 'ciii', false],
    ['it computed two hours ago', 'node-fail', 'ccii', false],
    ['nobody knows what it did', 'node-fail', 'ciui', false],
    ['two hours are all it had', 'node-fail', 'ii', false],
  ])('rested: %s', async (_, outcome, hours, want) => {
    const holder = { day: '2026-03-02', source: 'slurm', allocation_id: '42', attempt: 0 };
    const rows = await stagesOn([checkpoint], {
      work: [],
      pause: [],
      holding: [{ ...holder, held_from: at('01 01:00'), held_until: at('02 13:00'), ends_at: at('02 13:00'), outcome }],
      gpu_hour: hours.split('').flatMap((did, place) =>
        ['a', 'b'].map((device_id) => ({
          ...holder,
          device_id,
          disposition: 'held',
          hour_start: at(`02 ${13 - hours.length + place}:00`.replace(/ (\d):/, ' 0$1:')),
          computing_units: did === 'c' && device_id === 'b' ? 1 : 0,
          unknown_units: did === 'u' ? 1 : 0,
        })),
      ),
    });
    expect(rows.map((row) => [row['basis'], String(row['last_at']).slice(11, 16)])).toEqual(
      want ? [['rested', '10:00']] : [],
    );
  });
});
