import { describe, expect, it } from 'vitest';
import { OperationError } from '../../../facts/operation-error.ts';
import { durationSeconds, slurmClock } from './slurm-time.ts';
import { wallText } from './wall-text.ts';

const iso = (moments: readonly number[] | undefined) => moments?.map((each) => new Date(each * 1000).toISOString());

describe('a clock in Berlin', () => {
  const cases: Record<string, { text: string; want: readonly string[] | undefined }> = {
    'in winter': { text: '2026-01-15T12:00:00', want: ['2026-01-15T11:00:00.000Z'] },
    'in summer': { text: '2026-07-15T12:00:00', want: ['2026-07-15T10:00:00.000Z'] },
    'with a blank instead of the T': { text: '2026-07-15 12:00:00', want: ['2026-07-15T10:00:00.000Z'] },
    'in the hour autumn repeats, both are possible, the earlier first': {
      text: '2026-10-25T02:30:00',
      want: ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    },
    'in the hour spring leaves out, as if nobody had touched the clock': {
      text: '2026-03-29T02:30:00',
      want: ['2026-03-29T01:30:00.000Z'],
    },
    'one that says its own zone': { text: '2026-07-15T12:00:00-05:00', want: ['2026-07-15T17:00:00.000Z'] },
    'an epoch': { text: '1794804961', want: ['2026-11-16T04:56:01.000Z'] },
    'not yet': { text: 'Unknown', want: [] },
    never: { text: 'None', want: [] },
    'a day that does not exist': { text: '2026-02-30T12:00:00', want: undefined },
    'an hour that does not exist': { text: '2026-02-20T25:00:00', want: undefined },
    'before there was Slurm': { text: '1970-01-01T00:00:01', want: undefined },
    words: { text: 'yesterday', want: undefined },
  };
  const clock = slurmClock('Europe/Berlin');
  it.each(Object.entries(cases))('%s', (_, { text, want }) => expect(iso(clock.read(text))).toEqual(want));
});

it('without a zone refuses a time that has none, and says what to do', () => {
  const clock = slurmClock();
  expect(iso(clock.read('1794804961'))).toEqual(['2026-11-16T04:56:01.000Z']);
  expect(iso(clock.read('2026-07-15T12:00:00Z'))).toEqual(['2026-07-15T12:00:00.000Z']);
  expect(() => clock.read('2026-07-15T12:00:00')).toThrow(OperationError);
  expect(() => slurmClock('Mars/Olympus')).toThrow('not a time zone');
});

it('reads what SLURM_TIME_FORMAT of a site writes', () => {
  const clock = slurmClock('UTC', '%d/%m/%Y %H:%M:%S');
  expect(iso(clock.read('15/07/2026 12:00:00'))).toEqual(['2026-07-15T12:00:00.000Z']);
  expect(iso(slurmClock('UTC', '%d %b %y %R').read('15 Jul 26 12:30'))).toEqual(['2026-07-15T12:30:00.000Z']);
  expect(() => slurmClock('UTC', '%Q')).toThrow('not understood');
});

it.each([
  ['10-13:27:06', 912_426],
  ['00:00:24', 24],
  ['27:06.123', 1626],
  ['4321', 4321],
  ['UNLIMITED', undefined],
  ['', undefined],
])('a length of %s', (text, want) => expect(durationSeconds(text)).toBe(want));

it('tells Slurm a time on its own wall', () => {
  expect(wallText(1_794_804_961, 'UTC')).toBe('2026-11-16T04:56:01');
  expect(wallText(1_794_804_961, 'Asia/Tokyo')).toBe('2026-11-16T13:56:01');
});
