import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import type { Haul } from '../../facts/source.ts';
import { prometheusSource } from './prometheus-source.ts';

const HOUR_S = Date.parse('2026-11-16T10:00:00Z') / 1000;
const METRIC = 'DCGM_FI_PROF_GR_ENGINE_ACTIVE';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

/** A server that says what it has, and gives samples of its first hour; of later ones the test's way. */
async function serverThat(onSamples: (response: ServerResponse) => void): Promise<string> {
  const say = (response: ServerResponse, data: unknown) => response.end(JSON.stringify({ status: 'success', data }));
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += String(piece)));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://x');
      const params = new URLSearchParams(body === '' ? url.search : body);
      if (url.pathname.endsWith('/__name__/values')) say(response, Number(params.get('end')) > HOUR_S ? [METRIC] : []);
      else if (url.pathname.endsWith('/labels')) say(response, ['UUID', 'Hostname', 'gpu']);
      else if (!/\[\d+s\]$/.test(params.get('query') ?? '')) say(response, { resultType: 'vector', result: [] });
      else if (Number(params.get('time')) > HOUR_S + 3600) onSamples(response);
      else say(response, { resultType: 'matrix', result: [FIRST_HOUR] });
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const FIRST_HOUR = {
  metric: { __name__: METRIC, UUID: 'GPU-1', Hostname: 'n', gpu: '0' },
  values: [[HOUR_S + 30, '0.5']],
};

interface Case {
  readonly reply: (response: ServerResponse) => void;
  readonly limits: { readonly timeoutMs: number; readonly patienceMs: number };
  readonly timesMax: number;
  readonly want: RegExp;
}

const cases: Record<string, Case> = {
  'sends a byte now and then': {
    reply: (response) => {
      response.write('{"status":"success","data":{"resultType":"matrix","result":[');
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    },
    limits: { timeoutMs: 5000, patienceMs: 500 },
    timesMax: 1,
    want: /no complete answer.*given up after 0.5 s and one try, the next run goes on from here/,
  },
  'never answers': {
    reply: () => undefined,
    limits: { timeoutMs: 5000, patienceMs: 500 },
    timesMax: 1,
    want: /given up after 0.5 s and one try/,
  },
  'asks for more patience than there is': {
    reply: (response) => response.writeHead(503, { 'retry-after': '20' }).end('busy'),
    limits: { timeoutMs: 5000, patienceMs: 10_000 },
    timesMax: 1,
    want: /503.*given up after 10 s and one try/,
  },
  'has a gateway before it that gives up on every part': {
    reply: (response) => void setTimeout(() => response.writeHead(504).end('upstream timed out'), 250),
    limits: { timeoutMs: 1200, patienceMs: 600 },
    timesMax: 3,
    want: /504/,
  },
};

describe('a server that is stuck is given up when its time is over, tries and parts included', () => {
  it.each(Object.entries(cases))('one that %s', async (_, { reply, limits, timesMax, want }) => {
    let times = 0;
    const url = await serverThat((response) => {
      times += 1;
      reply(response);
    });
    const source = prometheusSource({ name: 'p', url, retryPausesMs: [5, 10], ...limits });
    const hauls: Haul[] = [];
    let error: unknown;
    try {
      const request = { now: new Date((HOUR_S + 5400) * 1000), since: new Date(HOUR_S * 1000) };
      const pull = source.pull(undefined, {
        ...request,
        signal: new AbortController().signal,
        progress: () => undefined,
      });
      for await (const haul of pull) hauls.push(haul);
    } catch (failure) {
      error = failure;
    }
    expect(error).toBeInstanceOf(OperationError);
    expect(error).toMatchObject({ message: expect.stringMatching(want), hint: expect.stringMatching(/\w/) });
    expect(times).toBeLessThanOrEqual(timesMax);
    // What was read before is kept, and where it ended.
    expect(hauls.map(({ cursor }) => cursor)).toEqual([expect.objectContaining({ fullS: HOUR_S + 3600 })]);
  });
});
