import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machineOf } from '../fleet/machines.ts';
import { type Course, type Job, NO_PROGRESS } from '../organisation.ts';
import { NOTHING, pausedSeconds, isPaused, type Span, spanOf } from '../timeline.ts';
import { PRESETS } from '../world/presets.ts';
import { attemptOf } from './attempt.ts';
import { habitOf, poolOf, worldOf } from './small-world.ts';

const pool = poolOf({});
const world = worldOf([pool], []);
const { devices } = machineOf(PRESETS.unmanaged, {
  seed: 1,
  pool,
  number: 1,
  presentFrom: 0,
  presentUntil: 10_000,
  states: [{ from: 0, until: 10_000, state: 'up' }],
});
const job: Job = {
  id: '1',
  habit: habitOf('training', {}),
  team: world.teams[0]!,
  pool,
  user: 'mchen',
  name: 'run-1',
  gpus: 8,
  submittedAt: 0,
  tagged: true,
  place: { index: 0, of: 1 },
  key: [1],
};
const attempt = (spansOfDevice: Course['spansOfDevice'], from: number, until: number, windowFrom: number) =>
  attemptOf(
    { job, number: 2, progress: NO_PROGRESS, since: 0 },
    from,
    devices.slice(0, spansOfDevice.length),
    { until, outcome: 'completed', cpusPerGpu: 4, spansOfDevice, progress: NO_PROGRESS },
    windowFrom,
  );

describe('an attempt', () => {
  it('groups the devices that do the same', () => {
    const [busy, idle] = [[spanOf(0, 10, 'stepping', NOTHING)], [spanOf(0, 10, 'never-touched', NOTHING)]];
    expect(attempt([busy, idle, idle, busy], 0, 10, 0)?.groups).toEqual([
      { devices: [devices[0], devices[3]], spans: busy },
      { devices: [devices[1], devices[2]], spans: idle },
    ]);
  });

  it('knows when this life of it was asked for, unless it ran already when the window began', () => {
    const spans = [spanOf(50, 90, 'stepping', NOTHING)];
    expect(attempt([spans], 50, 90, 50)?.askedAt).toBe(0);
    expect(attempt([spans], 50, 90, 51)?.askedAt).toBeUndefined();
  });

  it('that was over before the window is none', () => {
    expect(attempt([[spanOf(0, 10, 'stepping', NOTHING)]], 0, 10, 10)).toBeUndefined();
  });

  it('that ran already when the window began begins with it', () => {
    const spans = [spanOf(0, 10, 'starting-up', NOTHING), spanOf(10, 90, 'stepping', NOTHING)];
    const seen = attempt([spans, spans], 0, 90, 40)!;
    expect([seen.from, seen.until, seen.number]).toEqual([40, 90, 2]);
    expect(seen.groups).toEqual([{ devices: devices.slice(0, 2), spans: [spanOf(40, 90, 'stepping', NOTHING)] }]);
  });

  it('pauses in the window exactly when it would have, wherever the window cuts it', () => {
    const cut = fc.record({
      everyS: fc.integer({ min: 1, max: 60 }),
      pausePermille: fc.integer({ min: 0, max: 1000 }),
      untilS: fc.integer({ min: 2, max: 300 }),
      atPermille: fc.integer({ min: 0, max: 999 }),
    });
    fc.assert(
      fc.property(cut, ({ everyS, pausePermille, untilS, atPermille }) => {
        const forS = Math.floor((everyS * pausePermille) / 1000);
        const pause = { everyS, forS, reason: 'checkpointing', levels: NOTHING } as const;
        const span: Span = { ...spanOf(100, 100 + untilS, 'stepping', NOTHING), pause };
        const windowFrom = 100 + Math.floor((untilS * atPermille) / 1000);
        const { spans } = attempt([[span]], 100, span.until, windowFrom)!.groups[0]!;
        expect([spans[0]!.from, spans.at(-1)!.until]).toEqual([windowFrom, span.until]);
        let paused = 0;
        expect(spans.slice(1).map(({ from }) => from)).toEqual(spans.slice(0, -1).map(({ until }) => until));
        for (const part of spans) {
          for (let moment = part.from; moment < part.until; moment += 1)
            expect(isPaused(part, moment), `second ${moment}`).toBe(isPaused(span, moment));
          paused += pausedSeconds(part, part.from, part.until);
        }
        expect(paused).toBe(pausedSeconds(span, windowFrom, span.until));
      }),
    );
  });
});
