import { z } from 'zod';
import { detector } from '../../facts/detector.ts';
import type { Claim } from '../../facts/detector.ts';
import { nameWord } from '../../facts/shell-word.ts';
import { commentLine } from '../stop-command.ts';
import { SERVED_SQL, ServedWork } from './inefficient-rows.ts';
import { figureWords, percentWords, wholeWords } from '../wording.ts';

const Options = z.object({
  unknownPermilleMax: z.number().int().default(50), // Of an hour of which more is unknown nothing is said.
  hoursMin: z.number().int().default(72), // Three days: one of them may be a weekend.
  gainPermilleMin: z.number().int().default(1250), // Less lies within what the mix of requests does to a rate.
  slowerPermilleMax: z.number().int().default(1250), // Hours that were this much slower bought their tokens with latency.
  inFlightMin: z.number().default(2), // A busy replica with fewer reads all its weights for one request at a time.
  preemptedPermilleMin: z.number().int().default(10), // One request of a hundred that is worked on twice.
  prefixHitPermilleMin: z.number().int().default(100), // Chats and agents that share a system prompt lie far above it.
  promptShareMin: z.number().default(3), // So many prompt tokens for one that is generated: reading prompts is most of the work.
  replicasMin: z.number().default(2), // Of fewer in its quiet hours none can go: its requests have nobody else to meet.
  batchMin: z.number().default(2), // Inferences in one execution, of which Triton could put together more.
});
type Options = z.infer<typeof Options>;

const EVALUATION =
  'First pass your evaluation: p95 time to first token and from end to end at that load, and answers unchanged (quality).';

/**
 * Question: which services get less out of a busy GPU than their own hours show they could, and why?
 *
 * Tokens (else inferences, requests) for each second a GPU was busy, in all hours and in the busiest quarter of them: larger batches read the
 * weights once for more requests. Said only where the busy hours were hardly slower for callers, from end to end and to the first token. How full the
 * GPU was does not count. It asks and claims nothing: seconds saved in a replica that stays are nobody's, and what replicas can go is `oversized-serving`.
 *
 * Reads: service_hour, service_day.
 */
export const inefficientServing = detector({
  name: 'inefficient-serving',
  title: 'services that make less of a busy GPU than they could',
  category: 'computing',
  factor: 'efficiency',
  basis: 'modelled',
  blastRadius: 3,
  blast: 'Every caller of the service: latency changes with the size of batches.',
  effort: 'a flag, and an evaluation at the new load',
  options: Options,
  ask: ({ unknownPermilleMax }) => ({
    served: {
      row: ServedWork,
      tables: ['service_hour', 'service_day'],
      params: { unknownPermilleMax },
      sql: SERVED_SQL,
    },
  }),
  judge: ({ served }, { options }) =>
    served
      .filter(({ hours }) => hours >= options.hoursMin)
      .flatMap((service) =>
        [
          batchQuestion(service, options),
          executionQuestion(service, options),
          preemptionQuestion(service, options),
          prefixQuestion(service, options),
        ].filter((claim) => claim !== undefined),
      ),
});

/** Requests a busy replica has in flight (Little: seconds of requests ÷ seconds of the clock); null where nobody counted. */
function inFlight(requestMs: number | null, busyReplicaMs: number): number | null {
  return requestMs === null || busyReplicaMs === 0 ? null : requestMs / busyReplicaMs;
}

const mean = (sum: number | null, of: number | null): number | null =>
  sum === null || of === null || of === 0 ? null : sum / of;

/** Its busiest hours make more of a GPU than all of them together; or so few requests meet that a trial is worth it. */
function batchQuestion(service: ServedWork, options: Options): Claim | undefined {
  const { work, peakWork, busyUnits, peakBusyUnits, requestMs, requests, peakRequestMs, peakRequests } = service;
  if (work === null || work === 0 || peakWork === null || peakBusyUnits === 0) return undefined;
  const gain = peakWork / peakBusyUnits / (work / busyUnits);
  const flight = inFlight(requestMs, service.busyReplicaMs);
  const peakFlight = inFlight(peakRequestMs, service.peakBusyReplicaMs);
  const latency = mean(requestMs, requests);
  const peakLatency = mean(peakRequestMs, peakRequests);
  const isGain = gain * 1000 >= options.gainPermilleMin;
  const isSmall = flight !== null && flight < options.inFlightMin;
  if (!isGain && !isSmall) return undefined;
  const first = mean(service.firstTokenMs, requests);
  const peakFirst = mean(service.peakFirstTokenMs, peakRequests);
  const isSlower = (all: number | null, peak: number | null): boolean =>
    all !== null && peak !== null && peak * 1000 > all * options.slowerPermilleMax;
  if (isGain && (isSlower(latency, peakLatency) || isSlower(first, peakFirst))) return undefined;
  const canGo = service.quietReplicas >= options.replicasMin * Math.max(1, service.quietHours);
  const unit = service.hasTokens ? 'tokens' : service.inferences === null ? 'requests' : 'inferences';
  const rate = (done: number, units: number): string => figureWords((done * 63_000) / units);
  return {
    about: `${service.service} batches`,
    ownerSubject: service.lastSubject,
    what: isGain
      ? `${service.name} makes ${figureWords(gain)}× the ${unit} of a busy GPU in its busiest hours: ${canGo ? 'would fewer replicas do?' : 'could its one replica serve more?'}`
      : `${service.name} has ${figureWords(flight ?? 0)} requests in flight while it is busy: would ${canGo ? 'fewer replicas' : 'a smaller GPU or a shared one'} do?`,
    because: [
      `${rate(work, busyUnits)} ${unit} for each busy GPU-second in ${wholeWords(service.hours)} hours, ${rate(peakWork, peakBusyUnits)} in the busiest quarter of them.`,
      ...costWords(service, unit),
      flight === null || peakFlight === null
        ? 'Seconds of requests are not counted, so that nothing is known of its latency.'
        : `Requests in flight in a busy replica: ${figureWords(flight)}, in the busiest quarter ${figureWords(peakFlight)}.`,
      ...(isSmall && service.hasTokens
        ? ['So few meet because so few come: by default an engine takes far more at a time.']
        : []),
      ...latencyWords('A request took', latency, peakLatency),
      ...latencyWords('Its first token came after', first, peakFirst),
      ...(isGain && !canGo
        ? ['Its quiet hours have one replica: none can go, and only more requests would fill it.']
        : []),
      EVALUATION,
    ],
    fix: batchFix(service, { isCounted: peakFlight !== null, canGo }),
    unless: 'The mix of requests differs between quiet and busy hours, or the latency target holds only in quiet ones.',
    effort: canGo
      ? 'fewer replicas for a day, and an evaluation at that load'
      : 'a trial on a smaller or shared GPU, and an evaluation',
    takes: [],
    isQuestion: true,
  };
}

function latencyWords(what: string, all: number | null, peak: number | null): string[] {
  return all === null || peak === null
    ? []
    : [`${what} ${seconds(all)} on average, ${seconds(peak)} in the busiest quarter.`];
}

/** What a million tokens (a thousand of what else is counted) cost in hours with work and in the busiest: what replicas held, busy or not. */
function costWords(
  { hours, work, peakWork, heldUnits, peakHeldUnits, usdMicros, paidUnits }: ServedWork,
  unit: string,
): string[] {
  if (work === null || work === 0 || peakWork === null || peakWork === 0) return [];
  const [many, words] = unit === 'tokens' ? [1_000_000, 'a million tokens'] : [1000, `a thousand ${unit}`];
  const cost = (units: number, done: number): string => {
    const heldFor = (units * many) / done;
    return usdMicros === null || paidUnits === 0
      ? `${smallFigure(heldFor / 63_000 / 3600)} GPU-hours`
      : `$${smallFigure((Number(usdMicros) * heldFor) / paidUnits / 1_000_000)}`;
  };
  return [
    `${words.replace(/^a/, 'A')} cost ${cost(heldUnits, work)} in the ${wholeWords(hours)} hours it worked in, ${cost(peakHeldUnits, peakWork)} in the busiest quarter of them (all that its replicas held then; bursar outcomes counts the other hours too).`,
  ];
}

/** Two digits that count, also far below one: `0.042`, `1.8`, `12`. */
const smallFigure = (value: number): string =>
  value >= 9.95 ? wholeWords(value) : String(Number(value.toPrecision(2)));

const seconds = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${figureWords(ms / 1000)} s`);

/** Traffic is the limit, not the engine: by default it takes hundreds of requests at a time. */
function batchFix(
  { name }: ServedWork,
  { isCounted, canGo }: { readonly isCounted: boolean; readonly canGo: boolean },
): readonly string[] {
  return [
    ...(isCounted
      ? []
      : [commentLine('scrape e2e_request_latency_seconds (vLLM) or nv_inference_request_duration_us (Triton) first')]),
    ...(canGo
      ? [
          commentLine(`fewer replicas of ${nameWord(name)} in its quiet hours, so that requests meet`),
          'bursar findings --all --detector oversized-serving   # how many its hours need',
        ]
      : [
          commentLine(
            `one replica of ${nameWord(name)}: a smaller GPU or a slice, a GPU shared with another small model, or none while nobody asks`,
          ),
        ]),
  ];
}

/** Triton says how many inferences it puts into one execution. What larger batches would bring only a trial tells. */
function executionQuestion(
  { service, name, lastSubject, inferences, executions }: ServedWork,
  { batchMin }: Options,
): Claim | undefined {
  const batch = mean(inferences, executions);
  if (batch === null || batch >= batchMin) return undefined;
  return {
    about: `${service} executions`,
    ownerSubject: lastSubject,
    what: `${name} runs ${figureWords(batch)} inferences at a time: does its model batch?`,
    because: [
      `${wholeWords(inferences ?? 0)} inferences in ${wholeWords(executions ?? 0)} executions (Triton's own counters).`,
      EVALUATION,
    ],
    fix: ['# config.pbtxt: max_batch_size: 8', '# dynamic_batching { max_queue_delay_microseconds: 5000 }'],
    unless: 'The model keeps state or takes one input at a time, or five milliseconds more are too many.',
    takes: [],
    isQuestion: true,
  };
}

/** Requests that gave way are read again from the beginning. */
function preemptionQuestion(service: ServedWork, options: Options): Claim | undefined {
  const { preemptions, requests } = service;
  if (preemptions === null || requests === null || requests === 0) return undefined;
  const permille = Math.floor((preemptions * 1000) / requests);
  if (permille < options.preemptedPermilleMin) return undefined;
  return {
    about: `${service.service} preemptions`,
    ownerSubject: service.lastSubject,
    what: `${service.name} works on ${percentWords(permille)} of its requests again for want of cache: is there room for more?`,
    because: [
      `${wholeWords(preemptions)} preemptions of ${wholeWords(requests)} requests (vllm:num_preemptions): what had been worked out of them was thrown away.`,
      EVALUATION,
    ],
    fix: ['# vLLM: --gpu-memory-utilization 0.95, or --max-num-seqs lower, or --kv-cache-dtype fp8 (quality)'],
    unless: 'The same few requests give way again and again: then it is their length that is to be looked at.',
    takes: [],
    isQuestion: true,
  };
}

/** Whether prompts have a beginning in common nobody but their callers knows. */
function prefixQuestion(service: ServedWork, options: Options): Claim | undefined {
  const { promptTokens, generationTokens, prefixHitTokens } = service;
  // SGLang counts what it found, of all it was asked.
  const looked = service.prefixQueryTokens ?? promptTokens;
  if (looked === null || looked === 0 || prefixHitTokens === null || promptTokens === null) return undefined;
  const permille = Math.floor((prefixHitTokens * 1000) / looked);
  if (permille >= options.prefixHitPermilleMin || promptTokens < options.promptShareMin * (generationTokens ?? 0)) {
    return undefined;
  }
  return {
    about: `${service.service} prefixes`,
    ownerSubject: service.lastSubject,
    what: `${service.name} finds ${percentWords(permille)} of its prompts in the prefix cache: do they begin alike?`,
    because: [
      `${wholeWords(prefixHitTokens)} of ${wholeWords(looked)} tokens were found; ${wholeWords(promptTokens)} prompt tokens stand against ${wholeWords(generationTokens ?? 0)} generated.`,
      EVALUATION,
    ],
    fix: [
      '# vLLM: --enable-prefix-caching; put what all prompts share first, what changes (date, user) last',
      '# route by prefix or session, so that a request meets the replica that has it',
    ],
    unless: 'Prompts have nothing in common at their beginning.',
    takes: [],
    isQuestion: true,
  };
}
