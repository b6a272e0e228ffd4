import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../../test/claims-on.ts';
import { inefficientServing } from './inefficient-serving.ts';

const ONE_HOUR = 63_000 * 3600;

/** What a service counts in an hour of its quiet and of its busy quarter; busy in replica-hours. */
interface Hour {
  readonly busy?: number;
  readonly tokens?: number | null;
  readonly prompt?: number | null;
  readonly requests?: number | null;
  readonly requestS?: number | null;
  readonly firstTokenS?: number | null;
  readonly preemptions?: number | null;
  readonly hits?: number | null;
  readonly queries?: number | null;
  readonly inferences?: number | null;
  readonly executions?: number | null;
  readonly unknown?: number;
  readonly replicas?: number;
}

const ms = (seconds: number | null | undefined): number | null => (seconds == null ? null : seconds * 1000);

function tablesOf(quiet: Hour, peak: Hour, days: number, usdPerGpuHour: number | null = null) {
  const dayOf = (place: number): string => new Date(Date.UTC(2026, 1, 2 + place)).toISOString().slice(0, 10);
  const places = Array.from({ length: days }, (_, place) => place);
  const hours = places.flatMap((place) =>
    Array.from({ length: 24 }, (_, hour) => {
      const of = { ...quiet, ...(hour >= 18 && peak) };
      return {
        day: dayOf(place),
        service: 'a/serving/chat',
        hour_start: `${dayOf(place)} ${String(hour).padStart(2, '0')}:00:00`,
        replicas: of.replicas ?? 4,
        replica_units: 63_000,
        held_units: (of.replicas ?? 4) * ONE_HOUR,
        busy_units: (of.busy ?? 1) * ONE_HOUR,
        unknown_units: (of.unknown ?? 0) * ONE_HOUR,
        models: 1,
        generation_tokens: of.tokens ?? null,
        prompt_tokens: of.prompt ?? null,
        requests: of.requests ?? null,
        request_ms: ms(of.requestS),
        first_token_ms: ms(of.firstTokenS),
        preemptions: of.preemptions ?? null,
        prefix_hit_tokens: of.hits ?? null,
        prefix_query_tokens: of.queries ?? null,
        inferences: of.inferences ?? null,
        executions: of.executions ?? null,
      };
    }),
  );
  const replica = { service: 'a/serving/chat', name: 'chat', namespace: 'serving', workload_kind: 'Deployment' };
  return {
    service_hour: hours,
    service_day: places.map((place) => ({
      ...replica,
      day: dayOf(place),
      subject: 'job k/u1/0',
      is_silent: false,
      is_standby: false,
    })),
    subject_day: places.map((place) => ({
      day: dayOf(place),
      subject: 'job k/u1/0',
      category: 'computing',
      gpu_units: 24 * ONE_HOUR,
      usd_micros: usdPerGpuHour === null ? null : usdPerGpuHour * 24_000_000,
    })),
  };
}

const claimsOf = (quiet: Hour, peak: Hour = {}, days = 4, usdPerGpuHour: number | null = null) =>
  claimsOn(inefficientServing, tablesOf(quiet, peak, days, usdPerGpuHour));

/** Four requests in flight in a busy replica, two seconds each. */
const CHAT: Hour = { tokens: 1_000_000, requests: 7200, requestS: 14_400 };

describe('what a service makes of a busy GPU', () => {
  it('more in its busiest hours at the same latency is asked about: no bill falls while its replicas stay', async () => {
    const claims = await claimsOf(CHAT, { tokens: 3_000_000, requests: 21_600, requestS: 43_200 });
    // 18 × 1 and 6 × 3 million in 24 busy hours are 1.5 million an hour; the busiest quarter makes twice that.
    expect(claims).toMatchObject([
      {
        about: 'a/serving/chat batches',
        what: 'chat makes 2.0× the tokens of a busy GPU in its busiest hours: would fewer replicas do?',
        isQuestion: true,
        takes: [],
      },
    ]);
    expect(claims[0]?.because.join(' ')).toMatch(/417 tokens .* 833 .*in flight.*: 6\.0, .* 12.*2\.0 s.*2\.0 s.*p95/);
  });

  const PEAK: Hour = { tokens: 3_000_000, requests: 21_600, requestS: 43_200 };

  it('says what a million tokens cost in both groups of hours, in dollars or in GPU-hours', async () => {
    const told = async (usd: number | null) => (await claimsOf(CHAT, PEAK, 4, usd))[0]?.because[1];
    // Four replicas for an hour make one million, in the busiest three; a quarter of the hours makes half of all.
    expect(await told(3)).toBe(
      'A million tokens cost $8 in the 96 hours it worked in, $4 in the busiest quarter of them (all that its replicas held then; bursar outcomes counts the other hours too).',
    );
    expect(await told(null)).toContain(
      'A million tokens cost 2.7 GPU-hours in the 96 hours it worked in, 1.3 GPU-hours in the busiest quarter of them',
    );
  });

  it('of a single replica none can go: it is asked', async () => {
    const [claim] = await claimsOf({ ...CHAT, replicas: 1 }, { ...PEAK, replicas: 3 });
    expect(claim).toMatchObject({
      isQuestion: true,
      takes: [],
      what: 'chat makes 2.0× the tokens of a busy GPU in its busiest hours: could its one replica serve more?',
    });
    expect(claim?.fix.join(' ')).not.toContain('fewer replicas');
  });

  it('tells the time to the first token beside the whole', async () => {
    const [claim] = await claimsOf({ ...CHAT, firstTokenS: 1440 }, { ...PEAK, firstTokenS: 4320 });
    expect(claim?.because.join(' ')).toContain(
      'Its first token came after 200 ms on average, 200 ms in the busiest quarter.',
    );
  });

  const silent: Record<string, { quiet: Hour; peak?: Hour; days?: number }> = {
    'hours that are alike': { quiet: CHAT },
    'tokens that were bought with a later first token': {
      quiet: { ...CHAT, firstTokenS: 1440 },
      peak: { ...PEAK, firstTokenS: 43_200 },
    },
    'tokens that were bought with latency': {
      quiet: CHAT,
      peak: { tokens: 3_000_000, requests: 7200, requestS: 43_200 },
    },
    'less than three days': { quiet: CHAT, peak: { tokens: 3_000_000, requests: 21_600, requestS: 43_200 }, days: 2 },
    'hours that nobody measured': { quiet: { ...CHAT, requestS: 3600, unknown: 1 } },
    'a service of which nothing is counted': { quiet: {} },
    'a request of a thousand that gave way': { quiet: { ...CHAT, preemptions: 7 } },
    'a prefix cache that is used': { quiet: { ...CHAT, prompt: 9_000_000, queries: 9_000_000, hits: 1_000_000 } },
    'short prompts': { quiet: { ...CHAT, prompt: 1_000_000, queries: 1_000_000, hits: 0 } },
    'a Triton that batches': { quiet: { ...CHAT, inferences: 8000, executions: 2000 } },
  };
  it.each(Object.entries(silent))('nothing is said of %s', async (_, { quiet, peak, days }) => {
    expect(await claimsOf(quiet, peak, days)).toEqual([]);
  });

  const asked: Record<string, { quiet: Hour; peak?: Hour; want: string }> = {
    'a gain without known latency': {
      quiet: { tokens: 1_000_000 },
      peak: { tokens: 3_000_000 },
      want: 'chat makes 2.0× the tokens of a busy GPU in its busiest hours: would fewer replicas do?',
    },
    'one request at a time': {
      quiet: { ...CHAT, requestS: 3960 },
      want: 'chat has 1.1 requests in flight while it is busy: would fewer replicas do?',
    },
    'one request at a time of one replica': {
      quiet: { ...CHAT, requestS: 3960, replicas: 1 },
      want: 'chat has 1.1 requests in flight while it is busy: would a smaller GPU or a shared one do?',
    },
    'executions of one inference': {
      quiet: { inferences: 1000, executions: 1000, requests: 1000, requestS: 14_400 },
      want: 'chat runs 1.0 inferences at a time: does its model batch?',
    },
    'long prompts that are never found again': {
      quiet: { ...CHAT, prompt: 9_000_000, queries: 9_000_000, hits: 90_000 },
      want: 'chat finds 1 % of its prompts in the prefix cache: do they begin alike?',
    },
    'and by what SGLang counts': {
      quiet: { ...CHAT, prompt: 9_000_000, hits: 90_000 },
      want: 'chat finds 1 % of its prompts in the prefix cache: do they begin alike?',
    },
  };
  it.each(Object.entries(asked))('%s is asked', async (_, { quiet, peak, want }) => {
    const claims = await claimsOf(quiet, peak);
    expect(claims.map(({ what, isQuestion, takes }) => [what, isQuestion, takes])).toEqual([[want, true, []]]);
  });

  it('where few requests come no flag of the engine is to blame, and what is named can be found', async () => {
    const [claim] = await claimsOf({ ...CHAT, requestS: 3960 });
    expect(claim?.because).toContain('So few meet because so few come: by default an engine takes far more at a time.');
    const fix = claim?.fix.join('\n') ?? '';
    expect(fix).not.toContain('max-num-seqs');
    expect(claim?.fix).toContain('bursar findings --all --detector oversized-serving   # how many its hours need');
    const [one] = await claimsOf({ ...CHAT, requestS: 3960, replicas: 1 });
    expect(one?.fix.join('\n')).toMatch(/smaller GPU or a slice/);
  });

  it('requests that give way are worked on twice', async () => {
    const claims = await claimsOf({ ...CHAT, preemptions: 144 });
    expect(claims).toMatchObject([
      {
        about: 'a/serving/chat preemptions',
        what: 'chat works on 2 % of its requests again for want of cache: is there room for more?',
        isQuestion: true,
        takes: [],
      },
    ]);
  });

  it('every one of them says what must be passed first', async () => {
    const claims = [
      ...(await claimsOf({ ...CHAT, preemptions: 144, requestS: 3960, prompt: 9_000_000, hits: 0 })),
      ...(await claimsOf({ inferences: 1000, executions: 1000 })),
    ];
    expect(claims).toHaveLength(4);
    expect(claims.every(({ because }) => because.some((line) => line.startsWith('First pass your evaluation')))).toBe(
      true,
    );
  });
});
