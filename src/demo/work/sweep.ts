import { chanceOf } from '../chance.ts';
import type { Course, CourseRequest } from '../organisation.ts';
import { NOTHING, type Seconds, type Span } from '../timeline.ts';
import type { Sweep } from '../world/habit-schema.ts';
import type { Reason } from '../world/world-schema.ts';
import { atPace, kernelOf } from './activity.ts';
import { allOf } from './bursts.ts';
import { coresBeside } from './cores.ts';
import { asksAgainAfter, outerEnd } from './lifetime.ts';
import { paceOf, partsOf, secondsForWork } from './pace.ts';

/** What is settled about a trial when its sweep is submitted. */
export function trialOf(key: readonly (string | number)[], habit: Sweep) {
  const chance = chanceOf(...key, 'trial');
  const workS = Math.max(1, Math.round(chance.from(habit.hours) * 3600));
  const isWinner = chance.happens(habit.winners_percent);
  return { workS, isWinner, isStopped: !isWinner && chance.happens(habit.stopped_early_percent) };
}

/**
 * What one trial of a sweep does. A loser had fallen behind a third of the way: what it steps after that nobody
 * needed. Trials write no checkpoints, so one whose machine is lost begins anew.
 */
export function sweepCourse(request: CourseRequest, habit: Sweep): Course {
  const { job, number, from, devices, progress } = request;
  const chance = chanceOf(...job.key, 'life', number);
  const { workS, isWinner, isStopped } = trialOf(job.key, habit);
  const pace = paceOf({ stepMs: habit.step_ms, allReduceMs: 0, loadMs: habit.load_ms });
  const outer = outerEnd(request);

  const startedAt = from + Math.round(chance.from(habit.startup_minutes) * 60);
  const finishedAt = startedAt + secondsForWork(workS, pace);
  const behindAt = isWinner ? Infinity : Math.min(finishedAt, startedAt + secondsForWork(workS / 3, pace));
  const ownEnd = isStopped ? behindAt : finishedAt;
  const isCutOff = outer.at < ownEnd;
  const until = isCutOff ? outer.at : ownEnd;
  const outcome = isCutOff ? outer.by : isStopped ? 'cancelled' : 'completed';

  const levels = atPace(kernelOf(request), pace);
  const steps = (start: Seconds, stop: Seconds, reason: Reason): Span => ({
    from: start,
    until: stop,
    parts: partsOf(pace, reason),
    levels,
  });
  const lost = lossOf(outcome);
  const spans: readonly Span[] = [
    { from, until: startedAt, parts: allOf('starting-up'), levels: NOTHING },
    steps(startedAt, Math.min(behindAt, until), lost ?? 'stepping'),
    steps(behindAt, until, lost ?? 'sweep-loser'),
  ];
  const told = spans
    .map((span) => ({ ...span, until: Math.min(span.until, until) }))
    .filter((span) => span.from < span.until);
  return {
    until,
    outcome,
    cpusPerGpu: coresBeside(devices),
    spansOfDevice: devices.map(() => told),
    progress: { done: isCutOff ? 0 : workS, crashes: progress.crashes },
    ...asksAgainAfter(outcome, until),
  };
}

function lossOf(outcome: Course['outcome']): Reason | undefined {
  if (outcome === 'preempted') return 'preempted';
  return outcome === 'node-fail' ? 'lost-since-checkpoint' : undefined;
}
