import { describe, expect, it } from 'vitest';
import { gpuSampleTable } from '../../facts/gpu-sample.ts';
import { timeText } from '../csv.ts';
import type { OrganisationDay } from '../organisation.ts';
import { NOTHING, type Levels, type Span } from '../timeline.ts';
import type { World } from '../world/world-schema.ts';
import { faultsOf } from './faults.ts';
import { SAMPLE_HEADER, sampleLines, secondExporterLines } from './samples.ts';
import { DAY_FROM, DAY_S, hours, smallDay, WORK, type SmallDay } from './small-day.ts';

type Row = Readonly<Record<string, string>>;

const COLUMNS = SAMPLE_HEADER.trimEnd().split(',');
const textOf = (day: OrganisationDay, lines = sampleLines): string => [...lines(day)].join('');
const rowsOf = (day: OrganisationDay, lines = sampleLines): Row[] =>
  textOf(day, lines)
    .split('\n')
    .slice(0, -1)
    .map((line) => Object.fromEntries(line.split(',').map((cell, place) => [COLUMNS[place]!, cell])));
const rowsAt = (rows: readonly Row[], hour: number, device = 'GPU-0-0'): Row[] =>
  rows.filter(({ device_id: id, ts }) => id === device && ts === timeText(DAY_FROM + hour * 3600));
/** The cells after the step, as one text. */
const shown = (row: Row | undefined): string =>
  row === undefined
    ? 'nothing'
    : COLUMNS.slice(3)
        .map((column) => row[column])
        .join(' ');
const day = (different: SmallDay = {}): OrganisationDay => smallDay(different);
const working = (levels: Levels = WORK, more: Partial<Span> = {}): SmallDay => ({
  onDevice: { 0: [[hours(-24, 48, levels, more)]] },
});
const faulty = (sensors: Partial<World['sensors']>, different: SmallDay = working()): SmallDay => ({
  ...different,
  sensors: { ...different.sensors, ...sensors },
});

const AT_WORK = '900 600 300 400 990 40000 500 1000 100000 0 0';
const AT_REST = '0 0 0 0 0 0 100 0 0 0 0';

describe('what a device shows at ten o’clock', () => {
  const cases: Record<string, { day: SmallDay; device?: string; want: string }> = {
    'at rest: engine 0, power as at rest': { day: {}, want: AT_REST },
    'at work: levels by what the GPU can do': { day: working(), want: AT_WORK },
    'the other GPU of the machine stays at rest': { day: working(), device: 'GPU-0-1', want: AT_REST },
    'held and untouched: memory only': {
      day: working({ ...NOTHING, memory: 250 }),
      want: '0 0 0 0 0 20000 100 0 0 0 0',
    },
    'held and untouched, where a context keeps the clocks up': {
      day: { ...working({ ...NOTHING, memory: 250 }), gpu: { held_w: 150 } },
      want: '0 0 0 0 0 20000 150 0 0 0 0',
    },
    'at work from there: full work is full work': {
      day: { ...working({ ...WORK, power: 500 }), gpu: { held_w: 150 } },
      want: '900 600 300 400 990 40000 375 1000 100000 0 0',
    },
    'in a pause': {
      day: working(WORK, {
        pause: { everyS: 3600, forS: 3600, reason: 'checkpointing', levels: { ...NOTHING, memory: 500 } },
      }),
      want: '0 0 0 0 0 40000 100 0 0 0 0',
    },
    'a GPU without NVLink says nothing about it': {
      day: { ...working(), gpu: { nvlink_mb_s: 0 } },
      want: '900 600 300 400 990 40000 500 1000  0 0',
    },
    'a slice by what the slice can do': {
      day: { cutInto: [31_500, 15_750], onDevice: { 1: [[hours(0, 24, WORK)]] } },
      device: 'MIG-0-0-0',
      want: '900 600 300 400  20000     ',
    },
    'a slice nobody holds': {
      day: { cutInto: [31_500, 15_750], onDevice: { 1: [[hours(0, 24, WORK)]] } },
      device: 'MIG-0-0-1',
      want: '0 0 0 0  0     ',
    },
    'the GPU that was cut: memory of all slices, their power, no utilisation': {
      day: { cutInto: [31_500, 15_750], onDevice: { 1: [[hours(0, 24, WORK)]], 2: [[hours(0, 24, WORK)]] } },
      want: '     30000 400 750 75000 0 0',
    },
  };
  it.each(Object.entries(cases))('%s', (_, { day: different, device, want }) => {
    expect(rowsAt(rowsOf(day(different)), 10, device).map(shown)).toEqual([want]);
  });
});

describe('when a device shows something', () => {
  const hoursOf = (different: SmallDay, device = 'GPU-0-1'): number[] =>
    rowsOf(day(different))
      .filter(({ device_id: id }) => id === device)
      .map(({ ts }) => (Date.parse(ts!) / 1000 - DAY_FROM) / 3600);
  const every = (from: number, until: number, step = 1): number[] =>
    Array.from({ length: Math.ceil((until - from) / step) }, (_, place) => from + place * step);
  const state = (from: number, until: number, name: 'up' | 'down' | 'drained') => ({
    from: DAY_FROM + from * 3600,
    until: DAY_FROM + until * 3600,
    state: name,
  });
  const cases: Record<string, { day: SmallDay; want: readonly number[] }> = {
    'every step of the day': { day: {}, want: every(0, 24) },
    'on the grid of the window, where a step does not divide the day': {
      // The window begins 24 hours before; 7-hour steps from there reach the day at -24 + 28 = 4.
      day: { stepS: 7 * 3600 },
      want: [4, 11, 18],
    },
    'from when the machine came until it went': {
      day: { present: [DAY_FROM + 3 * 3600, DAY_FROM + 5 * 3600 + 1] },
      want: [3, 4, 5],
    },
    'not while the machine is down': {
      day: { states: [state(-24, 2, 'up'), state(2, 20, 'down'), state(20, 72, 'up')] },
      want: [0, 1, 20, 21, 22, 23],
    },
    'also while it is drained': { day: { states: [state(-24, 72, 'drained')] }, want: every(0, 24) },
    'by a clock that is ahead': {
      day: { sensors: { clock_off_percent: 100, clock_off_s: 1800 } },
      want: every(0.5, 24.5),
    },
    'by a clock that is right': { day: { sensors: { clock_off_percent: 0, clock_off_s: 1800 } }, want: every(0, 24) },
    'not before the window, by a clock that is behind': {
      day: { dayNumber: 0, sensors: { clock_off_percent: 100, clock_off_s: -1800 } },
      want: every(-23.5, -0.5),
    },
    'not after the window, by a clock that is ahead': {
      day: { dayNumber: 2, sensors: { clock_off_percent: 100, clock_off_s: 3600 } },
      want: every(25, 48),
    },
  };
  it.each(Object.entries(cases))('%s', (_, { day: different, want }) => expect(hoursOf(different)).toEqual(want));

  it('not while the exporter is dead, on no device of the machine', () => {
    const days = [0, 1, 2].map((dayNumber) => day({ dayNumber, sensors: { dead_exporter_percent: 100 } }));
    const { dead } = faultsOf(days[0]!.world, days[0]!.scope, days[0]!.nodes[0]!);
    const want = every(-24, 48).filter((hour) => {
      const moment = DAY_FROM + hour * 3600;
      return moment < dead!.from || moment >= dead!.until;
    });
    for (const device of ['GPU-0-0', 'GPU-0-1']) {
      const times = days.flatMap((one) => rowsOf(one)).filter(({ device_id: id }) => id === device);
      expect(times.map(({ ts }) => (Date.parse(ts!) / 1000 - DAY_FROM) / 3600)).toEqual(want);
    }
    expect(want.length).toBeLessThan(72);
  });

  it('not where a sample is lost', () => {
    const count = (permille: number): number =>
      rowsOf(day({ stepS: 60, sensors: { missing_permille: permille } })).length;
    expect(count(0)).toBe(2880);
    expect(Math.abs(count(100) - 2592)).toBeLessThan(60);
    expect(count(1000)).toBe(0);
  });
});

describe('what instruments get wrong', () => {
  it('noise stays within its bound, and is there', () => {
    const rows = rowsOf(day({ ...faulty({ noise_permille: 50 }), stepS: 60 })).filter(
      (row) => row['device_id'] === 'GPU-0-0',
    );
    const truth: Record<string, number> = {
      engine_permille: 900,
      sm_permille: 600,
      nvlink_mb_s: 100_000,
    };
    for (const [column, value] of Object.entries(truth)) {
      const off = rows.map((row) => Number(row[column]) - value);
      expect(Math.max(...off.map(Math.abs)), column).toBeLessThanOrEqual(value * 0.05 + 0.5);
      expect(Math.min(...off), column).toBeLessThan(-value * 0.03);
      expect(Math.max(...off), column).toBeGreaterThan(value * 0.03);
    }
    expect(Math.max(...rows.map((row) => Number(row['util_permille'])))).toBe(1000);
  });

  it('memory is counted, not measured: it is the same from sample to sample while nothing changes', () => {
    for (const levels of [WORK, { ...NOTHING, memory: 333 }]) {
      const rows = rowsOf(day({ ...faulty({ noise_permille: 50 }, working(levels)), stepS: 60 }));
      const memory = rows.filter((row) => row['device_id'] === 'GPU-0-0').map((row) => row['fb_used_mib']);
      expect(new Set(memory)).toEqual(new Set([`${levels.memory * 80}`]));
    }
  });

  it('noise of a GPU at rest is a watt or two, and nothing else', () => {
    const rows = rowsOf(day({ ...faulty({ noise_permille: 50 }, {}), stepS: 60 }));
    expect(new Set(rows.map((row) => row['power_w']))).toEqual(new Set(['98', '99', '100', '101', '102']));
    expect(new Set(rows.map((row) => shown({ ...row, power_w: '100' })))).toEqual(new Set([AT_REST]));
  });

  it.each([
    ['all', 1000, new Set(['9223372036854775794']), new Set(['2147483632'])],
    ['none', 0, new Set(['900']), new Set(['990'])],
  ])('blanks: %s', (_, permille, engine, util) => {
    const rows = rowsOf(day(faulty({ blank_permille: permille }))).filter((row) => row['device_id'] === 'GPU-0-0');
    expect(new Set(rows.map((row) => row['engine_permille']))).toEqual(engine);
    expect(new Set(rows.map((row) => row['util_permille']))).toEqual(util);
  });

  it('a blank stands only where there would be a value', () => {
    const different = { ...faulty({ blank_permille: 1000 }, {}), cutInto: [31_500, 15_750] };
    const blank = '9223372036854775794';
    const rows = rowsOf(day(different));
    expect(shown(rowsAt(rows, 10, 'MIG-0-0-0')[0])).toBe(`${blank} ${blank} ${blank} ${blank}  ${blank}     `);
    expect(shown(rowsAt(rows, 10)[0])).toBe(`     ${blank} 2147483632 ${blank} ${blank} 0 0`);
  });

  it.each([
    [100, '    990 40000 500   0 0'],
    [0, AT_WORK],
  ])('%d of 100 machines without profiling fields', (percent, want) => {
    expect(shown(rowsAt(rowsOf(day(faulty({ no_profiling_percent: percent }))), 10)[0])).toBe(want);
  });

  it('a profiler zeroes the profiling fields of every GPU of its machine while it runs, and utilisation stays true', () => {
    const one = day({
      sensors: { profiler_sessions: 100 },
      onDevice: { 0: [[hours(-24, 48, WORK)]], 1: [[hours(-24, 48, WORK)]] },
    });
    const { profiled } = faultsOf(one.world, one.scope, one.nodes[0]!);
    const rows = [0, 1, 2].flatMap((number) =>
      rowsOf({ ...one, from: one.scope.from + number * DAY_S, until: one.scope.from + (number + 1) * DAY_S }),
    );
    const within = (row: Row): boolean =>
      profiled.some(({ from, until }) => timeText(from) <= row['ts']! && row['ts']! < timeText(until));
    expect(new Set(rows.filter(within).map(shown))).toEqual(new Set(['0 0 0 0 990 40000 500 0 0 0 0']));
    expect(new Set(rows.filter((row) => !within(row)).map(shown))).toEqual(new Set([AT_WORK]));
    expect(new Set(rows.filter(within).map((row) => row['device_id'])).size).toBe(2);
  });

  it('the last error stays in the gauge until another comes, or the machine starts anew', () => {
    const shownBy = (perYear: number, different: SmallDay = {}): string =>
      rowsOf(day({ ...different, stepS: 600, sensors: { xid_per_gpu_year: perYear } }))
        .filter(({ device_id: id }) => id === 'GPU-0-0')
        .map((row) => row['xid'])
        .filter((xid, place, all) => xid !== all[place - 1])
        .join(' ');
    expect(shownBy(0)).toBe('0');
    expect(shownBy(2000)).toMatch(/^(13|31|43|63|94)( (13|31|43|63|94))+$/);
    const states = [
      { from: DAY_FROM - DAY_S, until: DAY_FROM, state: 'up' as const },
      { from: DAY_FROM, until: DAY_FROM + 600, state: 'down' as const },
      { from: DAY_FROM + 600, until: DAY_FROM + 2 * DAY_S, state: 'up' as const },
    ];
    expect(shownBy(2000, { states })).toMatch(/^0( (13|31|43|63|94))+$/);
  });

  it('a hot machine slows its busy GPUs down and leaves the others alone', () => {
    const rows = rowsOf(day({ ...faulty({ throttled_percent: 100 }), stepS: 60 }));
    const seen = new Set(rows.filter((row) => row['device_id'] === 'GPU-0-0').map(shown));
    const slowed = '900 510 300 400 990 40000 400 1000 100000 0';
    expect(seen).toEqual(new Set([AT_WORK, `${slowed} 8`, `${slowed} 32`]));
    expect(new Set(rows.filter((row) => row['device_id'] === 'GPU-0-1').map(shown))).toEqual(new Set([AT_REST]));
  });
});

describe('shared GPUs', () => {
  const light: Levels = { ...NOTHING, engine: 200, util: 300, power: 100, memory: 250 };
  const two = { 0: [[hours(0, 12, light)], [hours(6, 24, light)]] };
  const cases: Record<string, { pool: SmallDay['pool']; at: number; want: readonly string[] }> = {
    'one pod, one line': { pool: { sharing: 'time-slice' }, at: 3, want: ['200 0 0 0 300 20000 150 0 0 0 0'] },
    'two pods, the sum of both, twice': {
      pool: { sharing: 'time-slice' },
      at: 9,
      want: ['400 0 0 0 600 40000 200 0 0 0 0', '400 0 0 0 600 40000 200 0 0 0 0'],
    },
    'not repeated where GPUs are handed out whole': {
      pool: { sharing: 'whole' },
      at: 9,
      want: ['400 0 0 0 600 40000 200 0 0 0 0'],
    },
  };
  it.each(Object.entries(cases))('%s', (_, { pool, at, want }) => {
    expect(rowsAt(rowsOf(day({ pool: pool!, onDevice: two })), at).map(shown)).toEqual(want);
  });

  it('nobody holds it: one line', () => {
    expect(rowsAt(rowsOf(day({ pool: { sharing: 'time-slice' } })), 9).map(shown)).toEqual([AT_REST]);
  });

  it('more pods than a chunk has room for lines', () => {
    const onDevice = { 0: Array.from({ length: 1000 }, () => [hours(0, 24, NOTHING)]) };
    expect(rowsAt(rowsOf(day({ pool: { sharing: 'time-slice' }, onDevice })), 9).length).toBe(1000);
  });
});

describe('a second exporter', () => {
  it('reads utilisation, memory and power half a step later', () => {
    const rows = rowsOf(day(faulty({ two_exporters_percent: 100 })), secondExporterLines);
    expect(rows.length).toBe(48);
    expect(shown(rowsAt(rows, 10.5)[0])).toBe('    990 40000 500    ');
    expect(rowsAt(rows, 10.5)[0]!['step_s']).toBe('3600');
    expect(rowsAt(rows, 10)).toEqual([]);
  });

  it('is on no machine where there is none', () => {
    expect(textOf(day(working()), secondExporterLines)).toBe('');
  });

  it('shows what happens half a step later', () => {
    const rows = rowsOf(
      day({ sensors: { two_exporters_percent: 100 }, onDevice: { 0: [[hours(10.25, 10.75, WORK)]] } }),
      secondExporterLines,
    );
    expect([9.5, 10.5, 11.5].map((hour) => rowsAt(rows, hour)[0]!['util_permille'])).toEqual(['0', '990', '0']);
  });

  it('has noise of its own, and lives on where the first is dead', () => {
    const flawed = faulty({ two_exporters_percent: 100, noise_permille: 50, dead_exporter_percent: 100 });
    const days = [0, 1, 2].map((dayNumber) => day({ ...flawed, dayNumber }));
    const second = days.flatMap((one) => rowsOf(one, secondExporterLines));
    const first = days.flatMap((one) => rowsOf(one));
    // Of the 72 hours of each GPU the last is left out: read half an hour late, it would reach past the window.
    expect(second.length).toBe(142);
    expect(second.at(-1)!['ts']).toBe(timeText(DAY_FROM + 46.5 * 3600));
    expect(first.length).toBeLessThan(144);
    const watts = (rows: readonly Row[]): (string | undefined)[] => rows.map((row) => row['power_w']).slice(0, 20);
    expect(watts(second)).not.toEqual(watts(first));
  });
});

describe('the lines', () => {
  const everything = {
    noise_permille: 20,
    missing_permille: 20,
    blank_permille: 20,
    dead_exporter_percent: 20,
    no_profiling_percent: 20,
    clock_off_percent: 20,
    two_exporters_percent: 50,
    profiler_sessions: 3,
    xid_per_gpu_year: 1000,
    throttled_percent: 20,
  };
  const busy = (more: SmallDay = {}): OrganisationDay =>
    day({
      ...faulty(everything),
      nodes: 30,
      stepS: 300,
      cutInto: [31_500, 15_750],
      onDevice: { 1: [[hours(0, 24, WORK)]] },
      ...more,
    });

  it('have the columns of the fact table, in its order', () => {
    expect(SAMPLE_HEADER).toBe(`${gpuSampleTable.columns.map(({ name }) => name).join(',')}\n`);
  });

  it('hold whole numbers that the fact table knows, blanks, or nothing', () => {
    const blanks = new Set(['9223372036854775794', '2147483632']);
    const isFine = (row: Row): boolean =>
      gpuSampleTable.columns.every(({ name, kind, knownRange }) => {
        const cell = row[name]!;
        if (kind === 'time') return /^2026-10-0\dT\d\d:\d\d:\d\dZ$/.test(cell);
        if (kind !== 'integer') return /^(GPU|MIG)-[\d-]+$/.test(cell);
        if (cell === '' || blanks.has(cell)) return name !== 'step_s';
        return /^\d+$/.test(cell) && Number(cell) >= knownRange![0] && Number(cell) <= knownRange![1];
      });
    const rows = [...rowsOf(busy()), ...rowsOf(busy(), secondExporterLines)];
    expect(rows.filter((row) => !isFine(row) || Object.keys(row).length !== COLUMNS.length)).toEqual([]);
    expect(rows.length).toBeGreaterThan(10_000);
  });

  it('come in chunks of whole lines, neither tiny nor huge', () => {
    const chunks = [...sampleLines(busy())];
    expect(chunks.length).toBeGreaterThan(10);
    for (const chunk of chunks.slice(0, -1)) {
      expect(chunk.endsWith('\n')).toBe(true);
      expect(chunk.length).toBeGreaterThanOrEqual(65_536);
      expect(chunk.length).toBeLessThan(70_000);
    }
    expect(chunks.at(-1)!.endsWith('\n')).toBe(true);
  });

  it('are the same for the same day, whatever was written before', () => {
    const first = textOf(busy());
    textOf(busy({ dayNumber: 0 }));
    sampleLines(busy({ seed: 7 })).next();
    expect(textOf(busy())).toBe(first);
  });

  it('are others with another seed and on another day', () => {
    expect(textOf(busy({ seed: 2 }))).not.toBe(textOf(busy()));
    const values = (dayNumber: number): string => rowsOf(busy({ dayNumber })).map(shown).join('\n');
    expect(values(2)).not.toBe(values(1));
  });

  it('a day of nobody is no line', () => {
    expect(textOf({ ...day(), nodes: [] })).toBe('');
  });
});
