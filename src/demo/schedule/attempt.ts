import type { Attempt, Course, Device, DeviceGroup } from '../organisation.ts';
import type { Seconds, Span } from '../timeline.ts';
import type { Ask } from './queue.ts';

/**
 * One life of a job, as far as it lies in the window; undefined if it ended before. Who ran already when the window
 * began begins with it: nobody has facts from before.
 */
export function attemptOf(
  { job, number, since }: Ask,
  from: Seconds,
  devices: readonly Device[],
  course: Course,
  windowFrom: Seconds,
): Attempt | undefined {
  if (course.until <= windowFrom) return undefined;
  const { until, outcome, cpusPerGpu } = course;
  const groups = groupsOf(devices, course.spansOfDevice);
  if (from >= windowFrom) return { job, number, askedAt: since, from, until, outcome, cpusPerGpu, groups };
  const seen = groups.map((group) => ({ ...group, spans: group.spans.flatMap((span) => spanSince(span, windowFrom)) }));
  return { job, number, from: windowFrom, until, outcome, cpusPerGpu, groups: seen };
}

/** Devices that share one list of spans do the same at the same time. */
function groupsOf(devices: readonly Device[], spansOfDevice: Course['spansOfDevice']): readonly DeviceGroup[] {
  const groups = new Map<readonly Span[], Device[]>();
  for (const [index, device] of devices.entries()) {
    const spans = spansOfDevice[index]!;
    const group = groups.get(spans);
    if (group === undefined) groups.set(spans, [device]);
    else group.push(device);
  }
  return [...groups].map(([spans, members]) => ({ devices: members, spans }));
}

/**
 * What of a span lies at or after a moment. Pauses are counted from where a span begins, so what is left of the round
 * the moment falls into becomes a span of its own, with a round just as long.
 */
function spanSince(span: Span, moment: Seconds): readonly Span[] {
  if (span.until <= moment) return [];
  if (span.from >= moment) return [span];
  const { pause } = span;
  const since = pause === undefined ? 0 : (moment - span.from) % pause.everyS;
  if (pause === undefined || since === 0) return [{ ...span, from: moment }];
  const leftS = pause.everyS - since;
  const round = { ...span, from: moment, pause: { ...pause, everyS: leftS, forS: Math.min(pause.forS, leftS) } };
  if (moment + leftS >= span.until) return [round];
  return [
    { ...round, until: moment + leftS },
    { ...span, from: moment + leftS },
  ];
}
