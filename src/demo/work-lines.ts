import { csvLine, timeText } from './csv.ts';
import type { Attempt, OrganisationDay } from './organisation.ts';
import { pausedSeconds, type Seconds, type Span } from './timeline.ts';
import type { Training } from './world/habit-schema.ts';
import type { Reason } from './world/world-schema.ts';

export const WORK_HEADER =
  'source,work_id,unit,window_from,window_until,quantity,allocation_id,run,model_name,cluster\n';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** Tokens of a request as it comes and as it is answered: made up, and the same for all. */
const PROMPT_TOKENS = 1200;
const GENERATION_TOKENS = 220;
/** Tokens of a prompt that the server had worked on before, mostly its system prompt. */
const PREFIX_HIT_TOKENS = 360;

/** Steps a trainer counts, whatever became of them afterwards; one that dies of a mistake has not got so far. */
const STEPS: ReadonlySet<Reason> = new Set([
  'stepping',
  'lost-since-checkpoint',
  'failed-for-good',
  'preempted',
  'cancelled-work',
  'sweep-loser',
]);

/**
 * What trainers and model servers counted, of the attempts that begin on this day: steps of each day, checkpoints as they are written,
 * requests, their seconds and tokens of each hour.
 *
 * Counters know nothing of why: steps that were lost are counted like the others. Machines of people's own count nothing, nor do services
 * nobody calls.
 */
export function* workLines({ begun, scope }: OrganisationDay): Generator<string> {
  for (const attempt of begun) {
    const { habit, pool } = attempt.job;
    const until = Math.min(attempt.until, scope.until);
    if (pool.scheduler === 'none') continue;
    if (habit.kind === 'serving' && habit.purpose === 'traffic') yield* servingLines(attempt, habit.request_s, until);
    if (habit.kind === 'training' || habit.kind === 'sweep') yield* stepLines(attempt, habit.step_ms, until);
    if (habit.kind === 'training') yield* checkpointLines(attempt, habit, until);
  }
}

function* servingLines(attempt: Attempt, requestS: number, until: Seconds): Generator<string> {
  const spans = attempt.groups[0]?.spans ?? [];
  const requests = counter(spans, ({ traffic }, seconds) => ((traffic?.perHour ?? 0) * seconds) / HOUR_S);
  let before = 0;
  for (const { from, end } of windows(attempt.from, until, HOUR_S)) {
    const upTo = requests(end);
    const count = upTo - before;
    before = upTo;
    const line = lineOf(attempt, 'vllm', from, end, attempt.job.habit.name);
    yield line('request', count);
    yield line('prompt_token', count * PROMPT_TOKENS);
    yield line('generation_token', count * GENERATION_TOKENS);
    yield line('request_second', Math.round(count * requestS * 1000) / 1000);
    yield line('prefix_query_token', count * PROMPT_TOKENS);
    yield line('prefix_hit_token', count * PREFIX_HIT_TOKENS);
  }
}

function* stepLines(attempt: Attempt, stepMs: number, until: Seconds): Generator<string> {
  const spans = steppingSpans(attempt);
  const steps = counter(spans, (span, seconds) => {
    const permille = span.parts.reduce((sum, part) => sum + (STEPS.has(part.reason) ? part.permille : 0), 0);
    return ((seconds - pausedSeconds(span, span.from, span.from + seconds)) * permille) / stepMs;
  });
  let before = 0;
  for (const { from, end } of windows(attempt.from, until, DAY_S)) {
    const upTo = steps(end);
    const count = upTo - before;
    before = upTo;
    if (count > 0) yield lineOf(attempt, 'trainer', from, end, undefined)('step', count);
  }
}

/** A checkpoint counts when all of it is written; one that the end of the life cut off is none. */
function* checkpointLines(attempt: Attempt, habit: Training, until: Seconds): Generator<string> {
  if (habit.checkpoint_minutes === 0) return;
  const write = (from: Seconds, end: Seconds): string =>
    lineOf(attempt, 'trainer', from, end, undefined)('checkpoint', 1);
  for (const span of steppingSpans(attempt)) {
    if (isStepping(span)) {
      // What is written beside the work leaves no pause, and is written nevertheless.
      const { everyS, forS } = span.pause ?? { everyS: habit.checkpoint_minutes * 60, forS: 1 };
      for (let end = span.from + everyS; end <= Math.min(span.until, until); end += everyS)
        yield write(end - forS, end);
    } else if (span.parts[0]?.reason === 'checkpointing' && span.until < attempt.until && span.until <= until) {
      yield write(span.from, span.until);
    }
  }
}

/** GPUs of a run that do nothing have spans of their own; those that step do it together. */
function steppingSpans({ groups }: Attempt): readonly Span[] {
  return groups.find((group) => group.spans.some(isStepping))?.spans ?? [];
}

function isStepping({ parts }: Span): boolean {
  return parts.some(({ reason }) => STEPS.has(reason));
}

/** A counter that starts with the first span: whole units up to a moment. It is asked for later and later ones. */
function counter(spans: readonly Span[], within: (span: Span, seconds: number) => number): (moment: Seconds) => number {
  let [place, before] = [0, 0];
  return (moment) => {
    for (let span = spans[place]; span !== undefined && span.until <= moment; span = spans[place]) {
      before += within(span, span.until - span.from);
      place += 1;
    }
    const open = spans[place];
    return Math.floor(before + (open === undefined || open.from >= moment ? 0 : within(open, moment - open.from)));
  };
}

/** The parts of a time that lie in one hour, or one day, each. */
function* windows(from: Seconds, until: Seconds, length: number): Generator<{ from: Seconds; end: Seconds }> {
  for (let at = from; at < until; at = (Math.floor(at / length) + 1) * length) {
    yield { from: at, end: Math.min(until, (Math.floor(at / length) + 1) * length) };
  }
}

function lineOf(
  { job, number }: Attempt,
  source: string,
  from: Seconds,
  until: Seconds,
  model: string | undefined,
): (unit: string, quantity: number) => string {
  return (unit, quantity) =>
    csvLine([
      source,
      `${job.id}/${number}`,
      unit,
      timeText(from),
      timeText(until),
      quantity,
      job.id,
      model === undefined ? job.name : undefined,
      model,
      job.pool.cluster,
    ]);
}
