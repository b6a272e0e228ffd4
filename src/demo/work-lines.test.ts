import { describe, expect, it } from 'vitest';
import {
  attemptOf,
  cellsOf,
  DAY_S,
  daysOf,
  FROM,
  machineOf,
  poolOf,
  providerOf,
  scopeOf,
  worldOf,
} from './money/hand-made-days.ts';
import type { Attempt } from './organisation.ts';
import { habitOf } from './schedule/small-world.ts';
import { NOTHING, type Span } from './timeline.ts';
import { WORK_HEADER, workLines } from './work-lines.ts';
import type { Habit } from './world/habit-schema.ts';
import type { Reason } from './world/world-schema.ts';

const HOUR_S = 3600;
const SCOPE = scopeOf(2);
const BURST = { p0: 1, p10: 1, p50: 1, p90: 1, p99: 1, p100: 1 };
const machine = machineOf(poolOf(), 'a');

const span = (from: number, until: number, reason: Reason, more: Partial<Span> = {}): Span => ({
  from,
  until,
  parts: [{ reason, permille: 1000 }],
  levels: NOTHING,
  ...more,
});

function lived(habit: Habit, spans: readonly Span[], more: Partial<Attempt> = {}): Attempt {
  const attempt = attemptOf('42', [machine.devices[0]!], spans);
  return { ...attempt, ...more, job: { ...attempt.job, habit } };
}

function rowsOf(attempt: Attempt): string[][] {
  const days = daysOf(worldOf([providerOf()], [machine.pool]), SCOPE, [machine], [attempt]);
  return days.flatMap((day) =>
    [...workLines(day)].map((line) => {
      const { unit, window_from: from, window_until: until, quantity } = cellsOf(WORK_HEADER, line);
      return [unit ?? '', from ?? '', until ?? '', quantity ?? ''];
    }),
  );
}

/** The clock of each checkpoint's window, and how many. */
function checkpointsOf(attempt: Attempt): string[][] {
  return rowsOf(attempt)
    .filter(([unit]) => unit === 'checkpoint')
    .map(([, from = '', until = '', quantity = '']) => [from.slice(11), until.slice(11), quantity]);
}

describe('what trainers and model servers count', () => {
  it('requests and tokens of each hour, none lost between two hours', () => {
    const traffic = { perHour: 10.5, busyS: 1, burst: BURST };
    const spans = [0, 1, 2].map((hour) =>
      span(FROM + Math.max(1800, hour * HOUR_S), FROM + (hour + 1) * HOUR_S, 'serving', { traffic }),
    );
    const requests = rowsOf(lived(habitOf('serving', { purpose: 'traffic' }), spans)).filter(
      ([unit]) => unit === 'request',
    );
    // 5.25 in the first half hour, 15.75 after the next hour, 26.25 in the end.
    expect(requests).toEqual([
      ['request', '2026-10-29T00:30:00Z', '2026-10-29T01:00:00Z', '5'],
      ['request', '2026-10-29T01:00:00Z', '2026-10-29T02:00:00Z', '10'],
      ['request', '2026-10-29T02:00:00Z', '2026-10-29T03:00:00Z', '11'],
    ]);
  });

  it('seconds of requests and what the prefix cache knew of their prompts, by the same requests', () => {
    const traffic = { perHour: 10, busyS: 1, burst: BURST };
    const spans = [span(FROM, FROM + HOUR_S, 'serving', { traffic })];
    const rows = rowsOf(lived(habitOf('serving', { purpose: 'traffic', request_s: 0.35 }), spans));
    expect(rows.map(([unit, , , quantity]) => [unit, quantity])).toEqual([
      ['request', '10'],
      ['prompt_token', '12000'],
      ['generation_token', '2200'],
      ['request_second', '3.5'],
      ['prefix_query_token', '12000'],
      ['prefix_hit_token', '3600'],
    ]);
  });

  it('steps of each day, those that were lost like the others, none while a checkpoint is written', () => {
    const pause = { everyS: 100, forS: 10, reason: 'checkpointing', levels: NOTHING } as const;
    const begin = FROM + DAY_S - 1000;
    const spans = [
      span(begin, begin + 100, 'starting-up'),
      span(begin + 100, begin + 1000, 'stepping', { pause }),
      span(begin + 1000, begin + 1500, 'lost-since-checkpoint'),
    ];
    expect(rowsOf(lived(habitOf('training', { step_ms: 500, checkpoint_minutes: 0 }), spans))).toEqual([
      ['step', '2026-10-29T23:43:20Z', '2026-10-30T00:00:00Z', '1620'],
      ['step', '2026-10-30T00:00:00Z', '2026-10-30T00:08:20Z', '1000'],
    ]);
  });

  it('what goes on after the window is cut at its end', () => {
    const spans = [span(FROM + DAY_S, FROM + 3 * DAY_S, 'stepping')];
    expect(rowsOf(lived(habitOf('training', { step_ms: 1000, checkpoint_minutes: 0 }), spans))).toEqual([
      ['step', '2026-10-30T00:00:00Z', '2026-10-31T00:00:00Z', String(DAY_S)],
    ]);
  });

  it('a checkpoint where all of it is written, whatever came of the steps; not one that was cut off', () => {
    const pause = { everyS: 1000, forS: 10, reason: 'checkpointing', levels: NOTHING } as const;
    const spans = [
      span(FROM, FROM + 500, 'starting-up'),
      span(FROM + 500, FROM + 3000, 'stepping', { pause }),
      span(FROM + 3000, FROM + 3060, 'checkpointing'),
      span(FROM + 3060, FROM + 3300, 'validating-on-cpu'),
      span(FROM + 3300, FROM + 4300, 'lost-since-checkpoint', { pause }),
      span(FROM + 4300, FROM + 4330, 'checkpointing'),
    ];
    expect(checkpointsOf(lived(habitOf('training', {}), spans))).toEqual([
      ['00:24:50Z', '00:25:00Z', '1'],
      ['00:41:30Z', '00:41:40Z', '1'],
      ['00:50:00Z', '00:51:00Z', '1'],
      ['01:11:30Z', '01:11:40Z', '1'],
    ]);
  });

  it('a checkpoint that is written beside the work, up to the end of the window', () => {
    const begin = FROM + 2 * DAY_S - 2 * HOUR_S;
    const spans = [span(begin, begin + 4 * HOUR_S, 'stepping')];
    expect(checkpointsOf(lived(habitOf('training', { checkpoint_minutes: 60, checkpoint_s: 0 }), spans))).toEqual([
      ['22:59:59Z', '23:00:00Z', '1'],
      ['23:59:59Z', '00:00:00Z', '1'],
    ]);
  });

  it.each([
    ['a service nobody calls', habitOf('serving', { purpose: 'abandoned' }), 'abandoned'],
    ['a notebook', habitOf('notebook', {}), 'debugging'],
    ['a run that dies of a mistake', habitOf('training', {}), 'failed-early'],
  ] as const)('%s counts nothing', (_, habit, reason) => {
    expect(rowsOf(lived(habit, [span(FROM, FROM + HOUR_S, reason)]))).toEqual([]);
  });
});
