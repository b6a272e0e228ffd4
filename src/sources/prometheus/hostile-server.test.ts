import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import type { Haul } from '../../facts/source.ts';
import { checkPrometheus } from './check.ts';
import { prometheusSource } from './prometheus-source.ts';

const HOUR_S = Date.parse('2026-11-16T10:00:00Z') / 1000;
const NOW = new Date((HOUR_S + 1800) * 1000);
const METRIC = 'DCGM_FI_PROF_GR_ENGINE_ACTIVE';

type Reply = (response: ServerResponse, params: URLSearchParams, path: string) => void;
const servers: Server[] = [];

/** A server of the API that knows one GPU of one hour, and does with a question for samples what the test wants. */
async function serverThat(onSamples: Reply, onAll?: Reply): Promise<string> {
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '', 'http://x');
      const params = new URLSearchParams(body === '' ? url.search : body);
      const query = params.get('query') ?? '';
      if (onAll !== undefined) onAll(response, params, url.pathname);
      else if (url.pathname.endsWith('/__name__/values'))
        say(response, Number(params.get('end')) > HOUR_S ? [METRIC] : []);
      else if (url.pathname.endsWith('/labels')) say(response, ['UUID', 'Hostname', 'gpu']);
      else if (/\[\d+s\]$/.test(query)) onSamples(response, params, url.pathname);
      else say(response, { resultType: 'vector', result: [] });
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

const say = (response: ServerResponse, data: unknown) => response.end(JSON.stringify({ status: 'success', data }));
const refuse = (response: ServerResponse, status: number, errorType: string, error: string) =>
  response.writeHead(status).end(JSON.stringify({ status: 'error', errorType, error }));
const series = (place: number, values: readonly (readonly [number, string])[]) =>
  JSON.stringify({ metric: { __name__: METRIC, UUID: `GPU-${place}`, Hostname: 'n', gpu: '0' }, values });
const HEAD = '{"status":"success","data":{"resultType":"matrix","result":[';

/** The samples a range holds, as Prometheus 2 or 3 would give them: one each 30 s. */
function samplesIn(params: URLSearchParams, isThree = false): [number, string][] {
  const untilS = Number(params.get('time'));
  const fromS = untilS - Number(/\[(\d+)s\]$/.exec(params.get('query') ?? '')?.[1]);
  const found: [number, string][] = [];
  for (let second = HOUR_S - 3600; second <= HOUR_S + 1800; second += 30) {
    const isIn = (isThree ? second > fromS : second >= fromS) && second <= untilS;
    if (isIn) found.push([second, '0.5']);
  }
  return found;
}

const answer = (response: ServerResponse, values: readonly (readonly [number, string])[]) =>
  response.end(`${HEAD}${series(1, values)}]}}`);

afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

interface Pulled {
  readonly hauls: readonly Haul[];
  readonly error?: OperationError;
}

async function pulled(
  url: string,
  more: { signal?: AbortSignal; answerBytesMax?: number; timeoutMs?: number } = {},
): Promise<Pulled> {
  const { signal = new AbortController().signal, ...options } = more;
  const source = prometheusSource({ name: 'p', url, retryPausesMs: [5, 10], timeoutMs: 300, ...options });
  const hauls: Haul[] = [];
  try {
    const request = { now: NOW, since: new Date(HOUR_S * 1000), signal, progress: () => undefined };
    for await (const haul of source.pull(undefined, request)) hauls.push(haul);
    return { hauls };
  } catch (error) {
    if (error instanceof OperationError) return { hauls, error };
    throw error;
  }
}

const secondsOf = ({ hauls }: Pulled) =>
  hauls.flatMap(({ samples }) => samples ?? []).flatMap(({ tsSeconds, rows }) => [...tsSeconds.subarray(0, rows)]);
const EXPECTED = Array.from({ length: 61 }, (_, place) => HOUR_S + place * 30);

describe('the samples at the ends of an hour', () => {
  it.each([
    ['Prometheus 2', false],
    ['Prometheus 3', true],
  ] as const)('are read once from %s', async (_, isThree) => {
    const url = await serverThat((response, params) => answer(response, samplesIn(params, isThree)));
    expect(secondsOf(await pulled(url))).toEqual(EXPECTED);
  });
});

describe('what passes is tried again, with an end', () => {
  it('a server that is busy twice', async () => {
    let times = 0;
    const url = await serverThat((response, params) => {
      times += 1;
      if (times <= 2) response.writeHead(503, { 'retry-after': '0' }).end('busy');
      else answer(response, samplesIn(params));
    });
    expect(secondsOf(await pulled(url))).toEqual(EXPECTED);
  });

  it('a server that stays busy', async () => {
    let times = 0;
    const url = await serverThat((response) => {
      times += 1;
      response.writeHead(503).end('busy');
    });
    const { hauls, error } = await pulled(url);
    expect([times, hauls.length, error?.code, error?.message]).toEqual([
      3,
      0,
      'http-503',
      expect.stringContaining('busy'),
    ]);
  });

  it('a question that is refused is not', async () => {
    let times = 0;
    const url = await serverThat((response) => {
      times += 1;
      refuse(response, 400, 'bad_data', 'parse error');
    });
    expect([(await pulled(url)).error?.code, times]).toEqual(['query-refused', 1]);
  });
});

describe('too much at once is asked in parts', () => {
  const limits: Record<string, { refused: (response: ServerResponse) => void }> = {
    'the server’s own limit': {
      refused: (response) =>
        refuse(response, 422, 'execution', 'query processing would load too many samples into memory'),
    },
    'its time limit': {
      refused: (response) => refuse(response, 503, 'timeout', 'query timed out in expression evaluation'),
    },
    'Mimir’s words': {
      refused: (response) => refuse(response, 422, 'execution', 'the query exceeded the maximum number of chunks'),
    },
  };
  it.each(Object.entries(limits))('%s', async (_, { refused }) => {
    let asked = 0;
    const url = await serverThat((response, params) => {
      asked += 1;
      const samples = samplesIn(params);
      if (samples.length > 40) refused(response);
      else answer(response, samples);
    });
    expect(secondsOf(await pulled(url))).toEqual(EXPECTED);
    expect(asked).toBeLessThan(12);
  });

  it('our own, on an answer without end', async () => {
    let asked = 0;
    const url = await serverThat((response, params) => {
      asked += 1;
      if (samplesIn(params).length > 40)
        answer(
          response,
          Array.from({ length: 50_000 }, (_, place) => [HOUR_S, String(place)] as const),
        );
      else answer(response, samplesIn(params));
    });
    expect(secondsOf(await pulled(url, { answerBytesMax: 200_000 }))).toEqual(EXPECTED);
    expect(asked).toBeGreaterThan(2);
  });

  it('a server that refuses everything comes to an end', async () => {
    let asked = 0;
    const url = await serverThat((response) => {
      asked += 1;
      refuse(response, 422, 'execution', 'too many samples');
    });
    expect((await pulled(url)).error?.code).toBe('too-many-samples');
    expect(asked).toBeLessThan(20);
  });
});

describe('a server that hangs, lies or breaks off: a clear word, in bounded time, and no half haul', () => {
  const cases: Record<string, { reply: Reply; want: [code: string, words: RegExp] }> = {
    'never answers': { reply: () => undefined, want: ['timeout', /no answer/] },
    'stops in the middle': { reply: (response) => response.write(HEAD), want: ['timeout', /silence/] },
    'breaks off': {
      reply: (response) => response.write(`${HEAD}${series(1, [[HOUR_S, '1']])}`, () => response.destroy()),
      want: ['cut-off', /ended before/],
    },
    'ends without closing its brackets': {
      reply: (response) => response.end(`${HEAD}${series(1, [[HOUR_S, '1']])}`),
      want: ['cut-off', /before it was complete/],
    },
    'answers with a web page': {
      reply: (response) => response.setHeader('content-type', 'text/html').end('<html>Sign in</html>'),
      want: ['web-page', /web page, not with the Prometheus API/],
    },
    'answers with a web page that says it is JSON': {
      reply: (response) => response.setHeader('content-type', 'application/json').end('<html>Sign in</html>'),
      want: ['not-prometheus', /no answer of the Prometheus API/],
    },
    'says success and means something else': {
      reply: (response) => say(response, { resultType: 'matrix', result: ['GPU'] }),
      want: ['not-prometheus', /no list of series/],
    },
    'says error under 200': {
      reply: (response) => refuse(response, 200, 'internal', 'disk on fire'),
      want: ['query-refused', /disk on fire/],
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { reply, want }) => {
    const begun = performance.now();
    const { hauls, error } = await pulled(await serverThat(reply));
    expect([hauls.length, error?.code, error?.message]).toEqual([0, want[0], expect.stringMatching(want[1])]);
    expect(error?.hint).toBeTruthy();
    expect(performance.now() - begun).toBeLessThan(30_000);
  });

  it('a million series are too many, and do not fill the memory', async () => {
    const url = await serverThat((response) => {
      response.write(HEAD);
      let place = 0;
      const more = () => {
        while (place < 1_000_000) {
          place += 1;
          const text = `${place === 1 ? '' : ','}${series(place, [[HOUR_S, '0.5']])}`;
          if (!response.write(text)) {
            response.once('drain', more);
            return;
          }
        }
        response.end(']}}');
      };
      more();
    });
    const before = process.memoryUsage().rss;
    const { hauls, error } = await pulled(url, { timeoutMs: 20_000 });
    expect([hauls.length, error?.code, error?.hint]).toEqual([
      0,
      'too-many-series',
      expect.stringContaining('matchers'),
    ]);
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(1000);
  }, 120_000);

  it('a signal ends it soon, without complaint', async () => {
    const url = await serverThat(() => undefined);
    expect(await pulled(url, { signal: AbortSignal.timeout(60) })).toEqual({ hauls: [] });
  });
});

describe('series nobody can place are told, not lost', () => {
  const ahead: Reply = (response) => {
    const strange = JSON.stringify({ metric: { __name__: METRIC }, values: [[HOUR_S, '1']] });
    const values = series(1, [
      [HOUR_S + 30, '0.5'],
      [HOUR_S + 1900, '0.5'],
      [HOUR_S + 3000, '0.5'],
    ]);
    response.end(`${HEAD}${strange},${values}]},"warnings":["store-2 is down"]}`);
  };
  const cases: Record<string, { clock: number; want: [string, number][] }> = {
    'labels that name no GPU, values from a wrong clock, warnings': {
      clock: NOW.getTime(),
      want: [
        ['samples more than 5 minutes in the future: a clock goes wrong', 1],
        ['series whose labels name no GPU', 1],
        ['the server says: store-2 is down', 1],
      ],
    },
    'asked as of an hour ago, what came since is neither taken nor wrong': {
      clock: NOW.getTime() + 3_600_000,
      want: [
        ['series whose labels name no GPU', 1],
        ['the server says: store-2 is down', 1],
      ],
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { clock, want }) => {
    vi.useFakeTimers({ toFake: ['Date'], now: clock });
    try {
      const found = await pulled(await serverThat(ahead));
      expect(found.hauls.flatMap(({ skipped }) => skipped ?? []).map(({ reason, count }) => [reason, count])).toEqual(
        want,
      );
      expect(secondsOf(found)).toEqual([HOUR_S + 30]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('how a server is that is not', () => {
  const check = (url: string) => checkPrometheus({ name: 'p', url, timeoutMs: 400 }, NOW, new AbortController().signal);
  const cases: Record<string, { reply: Reply; want: RegExp }> = {
    hanging: { reply: () => undefined, want: /no answer|did not answer/ },
    'a login page': {
      reply: (response) => response.setHeader('content-type', 'text/html').end('<html>'),
      want: /web page/,
    },
    'something else that speaks JSON': {
      reply: (response) => response.end('{"hello":1}'),
      want: /does not speak the Prometheus API/,
    },
    'asking for a password': {
      reply: (response) => response.writeHead(401).end('who are you?'),
      want: /401: who are you/,
    },
    'a server without such a path': { reply: (response) => response.writeHead(404).end('not here'), want: /404/ },
  };
  it.each(Object.entries(cases))('%s', async (_, { reply, want }) => {
    const health = await check(await serverThat(() => undefined, reply));
    expect(health).toMatchObject({
      state: 'down',
      says: expect.stringMatching(want),
      todo: expect.stringMatching(/\w/),
    });
  });

  it('nothing listens, and the password is not told', async () => {
    const health = await check('http://kim:secret@127.0.0.1:1');
    expect(health).toMatchObject({ state: 'down', says: expect.stringContaining('nothing listens') });
    expect(JSON.stringify(health)).not.toContain('secret');
  });
});

describe('the address', () => {
  it.each(['', '/', '/prometheus', '/prometheus/', '/prometheus/graph', '/prometheus/api/v1/query?x=1'])(
    'pasted with %j behind it',
    async (suffix) => {
      const paths = new Set<string>();
      const url = await serverThat(
        () => undefined,
        (response, _, path) => {
          paths.add(path);
          say(response, path.includes('label') ? [] : { resultType: 'vector', result: [] });
        },
      );
      await pulled(`${url}${suffix}`);
      const prefix = suffix.startsWith('/prometheus') ? '/prometheus' : '';
      expect([...paths]).toEqual([`${prefix}/api/v1/label/__name__/values`]);
    },
  );

  it('headers go along: a tenant of Mimir', async () => {
    const tenants = new Set<unknown>();
    const server = createServer((request, response) => {
      tenants.add(request.headers['x-scope-orgid']);
      say(response, []);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await checkPrometheus(
      { name: 'p', url, headers: { 'X-Scope-OrgID': 'team-a' } },
      NOW,
      new AbortController().signal,
    );
    expect(tenants).toEqual(new Set(['team-a']));
  });
});
