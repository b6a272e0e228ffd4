import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { pause } from './pause.ts';

interface Case {
  /** What the device did: day of March, from, until, class. */
  readonly runs: readonly string[];
  /** Who had it: holder, day of March, from, until; `pooled` where it is one of several that it may be. */
  readonly held: readonly string[];
  /** The workload kind of each holder that is no plain job. */
  readonly kinds?: Readonly<Record<string, string>>;
  /** Holder, from, until. */
  readonly want: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'idle between two stretches of computing of one job is a pause': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 09:00', 'a 2 09:00 10:00'],
    want: ['a 09:00 09:20'],
  },
  'the start-up of a job is one, from when it got the device': {
    runs: ['2 05:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 09:05 10:00'],
    want: ['a 09:05 09:20'],
  },
  'what does not go on is idle': {
    runs: ['2 08:00 09:00 computing', '2 09:00 10:00 idle'],
    held: ['a 2 08:00 09:00', 'a 2 09:00 10:00'],
    want: [],
  },
  'two hours are a pause, a second more is not': {
    runs: [
      '2 08:00 09:00 computing',
      '2 09:00 11:00 idle',
      '2 11:00 12:00 computing',
      '2 12:00 14:00:01 idle',
      '2 14:00:01 15:00 computing',
    ],
    held: ['a 2 08:00 15:00'],
    want: ['a 09:00 11:00'],
  },
  'a device that idled for longer before the job came does not count against it': {
    runs: ['2 01:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['b 2 01:00 08:00', 'a 2 08:00 10:00'],
    want: ['a 08:00 09:20'],
  },
  'computing of the next holder makes no pause of the last one': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 09:20', 'b 2 09:20 10:00'],
    want: [],
  },
  'where two share the device, nobody knows whose computing ended it': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 10:00', 'b 2 08:00 10:00'],
    want: [],
  },
  'a holder that has the device to itself again goes on': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 09:20', 'b 2 08:00 09:20', 'a 2 09:20 10:00'],
    want: ['a 09:00 09:20'],
  },
  'a holder that changes in the middle of it leaves the second its part': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 09:10', 'b 2 09:10 10:00'],
    want: ['b 09:10 09:20'],
  },
  'a break in what is known is no pause, before it or after it': {
    runs: [
      '2 08:00 08:50 computing',
      '2 09:00 09:20 idle',
      '2 09:20 10:00 computing',
      '2 10:00 10:20 idle',
      '2 10:30 11:00 computing',
    ],
    held: ['a 2 08:00 11:00'],
    want: [],
  },
  'a contradiction of the sensors in between is none either': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:10 unknown', '2 09:10 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 10:00'],
    want: [],
  },
  'another metric takes over in the middle: one stretch': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:10 idle', '2 09:10 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 10:00'],
    want: ['a 09:00 09:20'],
  },
  'over the midnight before, this day has its part': {
    runs: ['1 22:00 23:30 computing', '1 23:30 24:00 idle', '2 00:00 00:20 idle', '2 00:20 01:00 computing'],
    held: ['a 1 22:00 23:00', 'a 1 23:00 24:00', 'a 2 00:00 01:00'],
    want: ['a 00:00 00:20'],
  },
  'over the midnight after, this day has its part': {
    runs: ['2 22:00 23:30 computing', '2 23:30 24:00 idle', '3 00:00 00:20 idle', '3 00:20 01:00 computing'],
    held: ['a 2 22:00 23:00', 'a 2 23:00 24:00', 'a 3 00:00 01:00'],
    want: ['a 23:30 24:00'],
  },
  'over midnight, too long in all': {
    runs: ['1 21:00 22:30 computing', '1 22:30 24:00 idle', '2 00:00 00:31 idle', '2 00:31 01:00 computing'],
    held: ['a 1 21:00 24:00', 'a 2 00:00 01:00'],
    want: [],
  },
  'computing that begins with the day ends the pause of the day before': {
    runs: ['2 22:00 23:30 computing', '2 23:30 24:00 idle', '3 00:00 01:00 computing'],
    held: ['a 2 22:00 24:00', 'a 3 00:00 01:00'],
    want: ['a 23:30 24:00'],
  },
  'services and notebooks have no pauses': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['s 2 08:00 10:00', 'n 2 08:00 10:00'],
    kinds: { s: 'Deployment', n: 'Notebook' },
    want: [],
  },
  'a holder by count has none, and nobody has none': {
    runs: ['2 08:00 09:00 computing', '2 09:00 09:20 idle', '2 09:20 10:00 computing'],
    held: ['a 2 08:00 10:00 pooled', '- 2 08:00 10:00'],
    want: [],
  },
};

const at = (day: string, clock: string): string =>
  clock === '24:00' ? `2026-03-0${Number(day) + 1} 00:00:00` : `2026-03-0${day} ${clock.padEnd(8, ':00')}`;

describe('pauses of a job', () => {
  test.each(Object.entries(cases))('%s', async (_, { runs, held, kinds = {}, want }) => {
    const pieces = held.map((text) => {
      const [holder = '', day = '', from = '', until = '', pooled] = text.split(' ');
      const name = holder === '-' ? null : holder;
      return {
        source: name === null ? null : 'slurm',
        allocation_id: name,
        attempt: name === null ? null : 0,
        day: `2026-03-0${day}`,
        device_id: 'g',
        from_at: at(day, from),
        until_at: at(day, until),
        disposition: 'held',
        pooled: pooled === 'pooled',
      };
    });
    const rows = await stagesOn([pause], {
      run: runs.map((text) => {
        const [day = '', from = '', until = '', name = ''] = text.split(' ');
        return {
          day: `2026-03-0${day}`,
          device_id: 'g',
          class: name,
          from_at: at(day, from),
          until_at: at(day, until),
        };
      }),
      held: pieces,
      holding: [...new Set(pieces.flatMap(({ allocation_id }) => allocation_id ?? []))].map((name) => ({
        day: '2026-03-02',
        source: 'slurm',
        allocation_id: name,
        attempt: 0,
        workload_kind: kinds[name] ?? 'Job',
        held_from: '2026-03-01 00:00:00',
        ends_at: '2026-03-03 00:02:01',
      })),
    });
    const clock = (time: unknown): string => String(time).slice(11, 16);
    const until = (time: unknown): string => (String(time).startsWith('2026-03-03') ? '24:00' : clock(time));
    expect(
      rows.map((row) => `${String(row['allocation_id'])} ${clock(row['from_at'])} ${until(row['until_at'])}`),
    ).toEqual(want);
  });
});
