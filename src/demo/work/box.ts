import { chanceOf } from '../chance.ts';
import type { Course, CourseRequest } from '../organisation.ts';
import { NOTHING, spanOf, type Levels, type Seconds, type Span } from '../timeline.ts';
import type { Box } from '../world/habit-schema.ts';
import { atFullPace, holdingMemory, kernelOf } from './activity.ts';
import { allOf, bursts } from './bursts.ts';
import { coresBeside } from './cores.ts';
import { asksAgainAfter, outerEnd } from './lifetime.ts';
import { isWorkday, workingHoursOf } from './working-hours.ts';

/** People come so many seconds after the morning at most, and go within so many of the evening. */
const COMES_WITHIN_S = 5400;
const GOES_WITHIN_S = 2700;
/** Evenings on which a process is left behind that holds its memory. */
const LEFT_LOADED_PERCENT = 50;

/** What somebody’s own machine does: it is on, and on some working days somebody sits at it. */
export function boxCourse(request: CourseRequest, habit: Box): Course {
  const { job, from, devices, progress } = request;
  const { at: until, by: outcome } = outerEnd(request);
  const isForgotten = chanceOf(...job.key, 'box').happens(habit.forgotten_percent);
  const spans = isForgotten
    ? [spanOf(from, until, 'forgotten', NOTHING)]
    : [...clipped(daysOf(request, habit, until), from, until)];
  return {
    until,
    outcome,
    cpusPerGpu: coresBeside(devices),
    spansOfDevice: devices.map(() => spans),
    progress,
    ...asksAgainAfter(outcome, until),
  };
}

/**
 * Its days and nights, without gaps from some moment before the life until some moment after it. Each day has draws of
 * its own, so that a machine that comes back from a repair goes on with the days it would have had.
 */
function* daysOf(request: CourseRequest, habit: Box, until: Seconds): Generator<Span> {
  const { world, job, from } = request;
  const kernel = kernelOf(request);
  const [busy, resting] = [atFullPace(kernel), holdingMemory(kernel)];
  const hours = workingHoursOf(world, job.team);
  let day = hours.dayOf(from) - 1;
  let at = hours.morningOf(day);
  let left: Levels = NOTHING;
  while (at < until) {
    const chance = chanceOf(...job.key, 'day', day);
    const [morning, evening] = [hours.morningOf(day), hours.eveningOf(day)];
    const comes = Math.max(at, morning + chance.whole(Math.min(COMES_WITHIN_S, (evening - morning) / 2)));
    const goes = evening - Math.min(GOES_WITHIN_S, (evening - morning) / 4) + chance.whole(2 * GOES_WITHIN_S);
    if (isWorkday(day) && chance.happens(habit.used_days_percent) && goes > comes) {
      if (comes > at) yield { from: at, until: comes, parts: allOf('left-overnight'), levels: left };
      yield* bursts(chance, habit, { from: comes, until: goes, busy, resting });
      left = chance.happens(LEFT_LOADED_PERCENT) ? resting : NOTHING;
      at = goes;
    }
    day += 1;
    if (hours.morningOf(day) >= until && at < until) {
      yield { from: at, until, parts: allOf('left-overnight'), levels: left };
      return;
    }
  }
}

function* clipped(spans: Iterable<Span>, from: Seconds, until: Seconds): Generator<Span> {
  for (const span of spans) {
    if (span.until <= from || span.from >= until) continue;
    yield { ...span, from: Math.max(span.from, from), until: Math.min(span.until, until) };
  }
}
