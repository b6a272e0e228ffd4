import { chanceOf } from '../chance.ts';
import type { Course, CourseRequest, Job, Outcome } from '../organisation.ts';
import { NOTHING, type Levels, type Seconds, type Span } from '../timeline.ts';
import type { Notebook } from '../world/habit-schema.ts';
import type { Reason } from '../world/world-schema.ts';
import { atFullPace, holdingMemory, kernelOf } from './activity.ts';
import { allOf, bursts } from './bursts.ts';
import { coresBeside } from './cores.ts';
import { outerEnd, type OuterEnd } from './lifetime.ts';
import { DAY_S, workingHoursOf, type WorkingHours } from './working-hours.ts';

/** A span of a session and how many working days it has been used for by then. */
interface Stretch {
  readonly span: Span;
  readonly daysUsed: number;
}

interface Session {
  readonly job: Job;
  readonly habit: Notebook;
  readonly hours: WorkingHours;
  /** Working days it will be used for in all its lives. */
  readonly days: number;
  readonly isForgotten: boolean;
  readonly forgottenS: number;
  readonly busy: Levels;
  readonly resting: Levels;
}

/** People come within so many seconds of the morning, and go within so many of the evening. */
const COMES_WITHIN_S = 5400;
const GOES_WITHIN_S = 2700;
/** Nobody starts a session to close it at once. */
const SHORTEST_VISIT_S = 600;
/** Sessions whose server is killed from outside instead of shut down from within. */
const KILLED_PERCENT = 20;

/**
 * What a session does with the GPUs it was given: used by day, and in the evening closed, left on or forgotten. Its
 * memory stays held from the first run on, whether or not somebody is there.
 */
export function notebookCourse(request: CourseRequest, habit: Notebook): Course {
  const { job, number, from, devices, progress } = request;
  const session = sessionOf(request, habit);
  const { spans, outcome, daysUsed } = lifeOf(
    stretchesOf(session, from, progress.done),
    { from, daysUsed: progress.done, idleS: Math.round(habit.stopped_idle_hours * 3600) },
    outerEnd(request),
  );
  const until = spans.at(-1)!.until;
  const comesBack = outcome !== 'running' && daysUsed < session.days;
  return {
    until,
    outcome: outcome === 'closed' ? closedAs(job, number) : outcome,
    cpusPerGpu: coresBeside(devices),
    spansOfDevice: devices.map(() => spans),
    progress: { done: daysUsed, crashes: progress.crashes },
    ...(comesBack && { asksAgainAt: comesAfter(session, until) }),
  };
}

/** How a session that was not stopped is ended: whether somebody had forgotten it before does not show in it. */
function closedAs(job: Job, number: number): Outcome {
  return chanceOf(...job.key, 'closed', number).happens(KILLED_PERCENT) ? 'cancelled' : 'completed';
}

function sessionOf(request: CourseRequest, habit: Notebook): Session {
  const { world, job } = request;
  const chance = chanceOf(...job.key, 'session');
  const kernel = kernelOf(request);
  return {
    job,
    habit,
    hours: workingHoursOf(world, job.team),
    days: Math.max(1, Math.round(chance.from(habit.days_used))),
    isForgotten: chance.happens(habit.forgotten_percent),
    forgottenS: Math.round(chance.from(habit.forgotten_days) * DAY_S),
    busy: atFullPace(kernel),
    resting: holdingMemory(kernel),
  };
}

/** When the person comes on the next working day after the moment. */
function comesAfter({ job, hours }: Session, moment: Seconds): Seconds {
  const morning = hours.nextMorning(moment);
  const day = hours.dayOf(morning);
  const dayS = hours.eveningOf(day) - morning;
  return morning + chanceOf(...job.key, 'morning', day).whole(Math.min(COMES_WITHIN_S, dayS / 2));
}

/** The life as it goes if nothing cuts it off, up to the evening on which it is closed or found forgotten. */
function* stretchesOf(session: Session, from: Seconds, daysUsedBefore: number): Generator<Stretch> {
  const { job, habit, hours, days, busy, resting } = session;
  let daysUsed = daysUsedBefore;
  const still = (start: Seconds, until: Seconds, reason: Reason, levels: Levels): Stretch => ({
    span: { from: start, until, parts: allOf(reason), levels },
    daysUsed,
  });

  let at = from;
  if (!hours.isWorking(from)) {
    // The queue let it in at night; its owner finds it in the morning.
    at = comesAfter(session, from);
    yield still(from, at, 'left-overnight', NOTHING);
  }
  for (;;) {
    const day = hours.dayOf(at);
    const chance = chanceOf(...job.key, 'day', day);
    const evening = hours.eveningOf(day) - GOES_WITHIN_S + chance.whole(2 * GOES_WITHIN_S);
    const isClosed = chance.happens(habit.closed_at_night_percent);
    const goes = Math.max(evening, at + SHORTEST_VISIT_S);
    daysUsed += 1;
    for (const span of bursts(chance, habit, { from: at, until: goes, busy, resting })) yield { span, daysUsed };

    if (daysUsed >= days) {
      if (session.isForgotten && session.forgottenS > 0) {
        yield still(goes, goes + session.forgottenS, 'forgotten', resting);
      }
      return;
    }
    if (isClosed) return;
    at = comesAfter(session, goes);
    yield still(goes, at, 'left-overnight', resting);
  }
}

interface Life {
  readonly spans: readonly Span[];
  readonly outcome: Outcome | 'closed';
  readonly daysUsed: number;
}

/** The life as it is: until its machine is lost, the platform stops it for standing idle, or it ends by itself. */
function lifeOf(
  stretches: Iterable<Stretch>,
  start: { readonly from: Seconds; readonly daysUsed: number; readonly idleS: number },
  outer: OuterEnd,
): Life {
  const spans: Span[] = [];
  let [lastActive, daysUsed] = [start.from, start.daysUsed];
  for (const { span, daysUsed: used } of stretches) {
    daysUsed = used;
    const { reason } = span.parts[0]!;
    if (reason === 'debugging') lastActive = span.until;
    const stoppedAt = reason === 'debugging' || start.idleS === 0 ? Infinity : lastActive + start.idleS;
    const cutAt = Math.min(outer.at, stoppedAt);
    if (cutAt <= span.until) {
      spans.push({ ...span, until: cutAt });
      return { spans, outcome: outer.at <= stoppedAt ? outer.by : 'cancelled', daysUsed };
    }
    spans.push(span);
  }
  return { spans, outcome: 'closed', daysUsed };
}
