import { describe, expect, test } from 'vitest';
import { stagesOn, type Row } from '../../test/stage-on.ts';
import { activityHour } from './activity-hour.ts';
import { gpuHour } from './gpu-hour.ts';
import { stintDay } from './stint-day.ts';

interface Case {
  /** Holder, device, from, until, and what sets it apart: `half` of the device, or `pooled`. */
  readonly held: readonly string[];
  /** Device, from, until, class. */
  readonly runs: readonly string[];
  readonly pauses?: readonly string[];
  /** Device, hour, gap in permille, computing samples. */
  readonly sensors?: readonly string[];
  /** Device, error, the last sample without it, the first with it. */
  readonly errors?: readonly string[];
  /** Holder and device: held, shared, computing, idle, unknown, pause and gap seconds; first and last computing, idle since. */
  readonly want: readonly string[];
}

// Everything lies in the hours of eight and nine.
const cases: Readonly<Record<string, Case>> = {
  'a job that paused, went on and then stopped': {
    held: ['a g 08:00 09:00', 'a g 09:00 10:00'],
    runs: ['g 08:00 08:20 computing', 'g 08:20 08:40 idle', 'g 08:40 09:30 computing', 'g 09:30 10:00 idle'],
    pauses: ['a g 08:20 08:40'],
    sensors: ['g 08:00 100 4', 'g 09:00 400 2'],
    want: ['a g 7200 0 4200 3000 0, 1200 960, 08:00 09:30 09:30, gap mean 200'],
  },
  'two jobs share a device by halves: each has its seconds, and what the device did': {
    held: ['a g 08:00 09:00 half', 'b g 08:00 09:00 half'],
    runs: ['g 08:00 08:30 computing', 'g 08:30 09:00 idle'],
    sensors: ['g 08:00 500 3'],
    want: [
      'a g 3600 3600 1800 1800 0, 0 900, 08:00 08:30 08:30, gap mean 500',
      'b g 3600 3600 1800 1800 0, 0 900, 08:00 08:30 08:30, gap mean 500',
    ],
  },
  'an error is of who held the device between the last sample without it and the first with it, and of nobody after': {
    held: ['a g 08:00 09:00', 'b g 09:00 10:00'],
    runs: ['g 08:00 10:00 computing'],
    sensors: ['g 08:00 0 4', 'g 09:00 0 4'],
    errors: ['g 31 08:59 09:00'],
    want: [
      'a g 3600 0 3600 0 0, 0 0, 08:00 09:00 –, gap mean 0, XID 31',
      'b g 3600 0 3600 0 0, 0 0, 09:00 10:00 –, gap mean 0',
    ],
  },
  'what stands still is idle from the end of the last long silence on': {
    held: ['a g 08:00 09:00', 'a g 09:00 10:00'],
    runs: ['g 08:00 08:10 computing', 'g 08:10 08:20 idle', 'g 09:30 09:40 idle', 'g 09:45 10:00 idle'],
    sensors: ['g 08:00 0 4', 'g 09:00 0 4'],
    want: ['a g 7200 0 600 2100 4500, 0 0, 08:00 08:10 09:30, gap mean 0'],
  },
  'slices of one GPU are devices of their own': {
    held: ['a g/0 08:00 09:00', 'b g/1 08:00 09:00'],
    runs: ['g/0 08:00 09:00 computing'],
    sensors: ['g/0 08:00 200 5'],
    want: [
      'a g/0 3600 0 3600 0 0, 0 720, 08:00 09:00 –, gap mean 200',
      'b g/1 3600 0 0 0 3600, 0 0, – – –, gap mean –',
    ],
  },
  'of a holder that may be on either of two devices times are not told, nor gaps': {
    held: ['a g 08:00 09:00 pooled', 'a h 08:00 09:00 pooled'],
    runs: ['g 08:00 09:00 computing', 'h 08:00 09:00 computing'],
    sensors: ['g 08:00 200 5', 'h 08:00 200 5'],
    want: ['a g 3600 0 3600 0 0, 0 0, – – –, gap mean 200', 'a h 3600 0 3600 0 0, 0 0, – – –, gap mean 200'],
  },
};

const at = (clock: string): string => `2026-03-02 ${clock}:00`;
const day = { day: '2026-03-02' };
const holderOf = (name: string) => ({ source: 'slurm', allocation_id: name, attempt: 0 });

function heldRows(held: readonly string[]): Row[] {
  const holders = [...new Set(held.map((text) => text.slice(0, 1)))];
  return held.map((text) => {
    const [holder = '', device_id = '', from = '', until = '', how] = text.split(' ');
    return {
      ...day,
      ...holderOf(holder),
      device_id,
      root_device_id: device_id,
      node_id: 'n',
      hour_start: at(`${from.slice(0, 2)}:00`),
      from_at: at(from),
      until_at: at(until),
      seconds: (Date.parse(at(until)) - Date.parse(at(from))) / 1000,
      place: holders.indexOf(holder) + 1,
      share_units: how === 'half' ? 31_500 : 63_000,
      disposition: 'held',
      conflict: false,
      pooled: how === 'pooled',
    };
  });
}

describe('a holder on a device', () => {
  test.each(Object.entries(cases))('%s', async (_, { held, runs, pauses = [], sensors = [], errors = [], want }) => {
    const holders = [...new Set(held.map((text) => text.slice(0, 1)))];
    const rows = await stagesOn([gpuHour, stintDay], {
      held: heldRows(held),
      gpu_sample: [],
      run: runs.map((text) => {
        const [device_id = '', from = '', until = '', what = ''] = text.split(' ');
        return { ...day, device_id, class: what, signal: 'engine', from_at: at(from), until_at: at(until) };
      }),
      pause: pauses.map((text) => {
        const [holder = '', device_id = '', from = '', until = ''] = text.split(' ');
        return { ...day, ...holderOf(holder), device_id, from_at: at(from), until_at: at(until) };
      }),
      activity_hour: sensors.map((text) => {
        const [device_id = '', hour = '', gap = '', samples = ''] = text.split(' ');
        const active = 1000 - Number(gap);
        const [xid, after, seen] =
          errors
            .map((error) => error.split(' '))
            .find(([on, , , when = '']) => on === device_id && when.slice(0, 2) === hour.slice(0, 2))
            ?.slice(1) ?? [];
        return {
          ...(xid !== undefined && { xid: Number(xid), xid_after: at(after ?? ''), xid_at: at(seen ?? '') }),
          ...day,
          device_id,
          hour_start: at(hour),
          gap_permille: Number(gap),
          engine_permille: active,
          samples: Number(samples),
          computing_samples: Number(samples),
        };
      }),
      holding: holders.map((name) => ({
        ...day,
        ...holderOf(name),
        workload_kind: 'Job',
        held_from: at('08:00'),
        ends_at: at('10:00'),
      })),
      presence: [{ ...day, device_id: 'g', root_device_id: 'g', model: 'H100' }],
      subject: holders.map((name) => ({ ...day, subject: `job slurm/${name}/0`, account: 'nlp', user_name: 'mchen' })),
    });
    const clock = (time: unknown): string => (typeof time === 'string' ? time.slice(11, 16) : '–');
    const told = (row: Readonly<Record<string, unknown>>): string => {
      const seconds = (...names: readonly string[]): string => names.map((name) => String(row[`${name}_s`])).join(' ');
      const engine = row['engine_permille'];
      return [
        `${String(row['allocation_id'])} ${String(row['device_id'])} ${seconds('held', 'shared', 'computing', 'idle', 'unknown')}`,
        seconds('pause', 'gap'),
        ['first_computing_at', 'last_computing_at', 'idle_from'].map((name) => clock(row[name])).join(' '),
        `gap mean ${engine === null ? '–' : 1000 - Number(engine)}`,
        ...(row['xid'] === null ? [] : [`XID ${Number(row['xid'])}`]),
      ].join(', ');
    };
    expect(rows.map(told)).toEqual(want);
    expect(new Set(rows.map((row) => row['manner']))).toEqual(new Set(['job']));
    expect(new Set(rows.map((row) => `${String(row['account'])} ${String(row['user_name'])}`))).toEqual(
      new Set(['nlp mchen']),
    );
    for (const row of rows) expect(row['model']).toBe(row['device_id'] === 'g' ? 'H100' : null);
  });

  test('memory and power are what samples of its own time said, not those of who had the device before or after', async () => {
    const rows = await stagesOn([activityHour, gpuHour, stintDay], {
      held: heldRows([
        'a g 08:00 09:00',
        'a g 09:00 09:31',
        'b g 09:31 09:50',
        'c g 09:50 10:00',
        'd h 08:00 08:30 half',
        'e h 08:00 08:30 half',
        'd h 08:30 09:00',
      ]),
      // Device, time, MiB, watts.
      gpu_sample: [
        'g 08:00 0 70',
        'g 09:00 3 72',
        'g 09:30 0 71',
        'g 09:31 61332 300',
        'g 09:40 50000 250',
        'h 08:00 7000 110',
        'h 08:30 500 60',
      ].map((text) => {
        const [device_id = '', clock = '', mib = '', watts = ''] = text.split(' ');
        return {
          device_id,
          ...day,
          ts: at(clock),
          step_s: 60,
          engine_permille: 0,
          fb_used_mib: Number(mib),
          power_w: Number(watts),
        };
      }),
      seen: [],
      run: [],
      pause: [],
      holding: [],
      presence: [],
      subject: [],
    });
    const shown = (value: unknown) => (value === null ? '–' : JSON.stringify(value).replaceAll('"', ''));
    const names = ['allocation_id', 'fb_used_mib_max', 'power_w_max', 'power_w_min'];
    expect(rows.map((row) => names.map((name) => shown(row[name])).join(' '))).toEqual([
      'a 3 72 70',
      'b 61332 300 250',
      'c – – –',
      'd 7000 110 60',
      'e 7000 110 110',
    ]);
  });

  test.each([
    { name: 'a job that goes on has no outcome yet', outcomes: ['running'], want: null },
    { name: 'of which a part has ended has that', outcomes: ['running', 'completed'], want: 'completed' },
    { name: 'that failed has failed', outcomes: ['failed'], want: 'failed' },
  ])('$name', async ({ outcomes, want }) => {
    const [row] = await stagesOn([gpuHour, stintDay], {
      held: heldRows(['a g 08:00 09:00']),
      gpu_sample: [],
      run: [],
      pause: [],
      activity_hour: [],
      holding: outcomes.map((outcome) => ({ ...day, ...holderOf('a'), held_from: at('08:00'), outcome })),
      presence: [],
      subject: [],
    });
    expect(row?.['outcome']).toBe(want);
  });
});
