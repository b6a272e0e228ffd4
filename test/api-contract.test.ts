import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AxiosResponse } from 'axios';
import { OpenAPIClientAxios } from 'openapi-client-axios';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument } from '../src/api/document/openapi.ts';
import type { ApiDocument, ApiOperation, ApiParameter } from '../src/api/document/openapi-document.ts';
import { DEEDS, ROUTES } from '../src/api/routes.ts';
import { bursar, printed } from './demo/bursar-command.ts';
import { closedSchemas } from './closed-schemas.ts';
import { runServer } from './running-server.ts';
import { sameFigures } from './same-figures.ts';
import type { RunningServer } from './running-server.ts';

const DAYS = 3;
/** Questions only: what changes something has tests beside it. */
const QUESTIONS = ROUTES.map(({ name }) => name);

/** Commands that look at this machine: how it is doing is in their exit code, and not the contract's business. */
const OF_THE_MACHINE = new Set(['askDoctor']);
/** What may be said beside a question, and has to be in its command. */
const SAID = ['filter', 'team', 'asOf', 'search'];

/** Findings are asked anew for each parameter, and a busy machine takes seconds for each. */
const QUESTION_MS_MAX = 240_000;

/** Another good value for a parameter, by its name; where nothing is said, its list of values gives one. */
type Values = Readonly<Record<string, string>>;

type Ask = (parameters: Values) => Promise<AxiosResponse<unknown>>;

interface Answer {
  readonly response: AxiosResponse<unknown>;
  readonly operation: ApiOperation;
}

describe('the contract, by a client made of the served document', () => {
  let folder = '';
  let server: RunningServer;
  let document: ApiDocument;
  let values: Values;
  /** What is not as the document says: '' where all is. */
  let problemFaults: (status: number, body: unknown) => string;
  let call: (name: string, parameters: Values) => Promise<Answer>;
  let faultsOf: (answer: Answer) => string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-contract-'));
    const dataDir = join(folder, 'data');
    await printed('demo', '--out', dataDir, '--gpus', '24', '--days', String(DAYS), '--until', '2026-11-02');
    server = await runServer(dataDir);
    const client = new OpenAPIClientAxios({
      definition: `${server.url}/api/openapi.json`,
      axiosConfigDefaults: { baseURL: server.url, validateStatus: () => true },
    });
    const operations = (await client.init()) as unknown as Readonly<Record<string, Ask | undefined>>;
    document = client.document as unknown as ApiDocument;
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
    ajv.addSchema(closedSchemas(await (await fetch(`${server.url}/api/openapi.json`)).json()), 'api');
    const faults = (place: string, body: unknown): string => {
      const check = ajv.getSchema(`api#/components/${place}`);
      if (check === undefined) return `no schema ${place}`;
      return check(body) === true ? '' : ajv.errorsText(check.errors).slice(0, 1000);
    };
    problemFaults = (status, body) =>
      faults(`responses/Problem${status}/content/application~1problem+json/schema`, body);
    faultsOf = ({ response: { status, headers, data }, operation: { operationId } }) => {
      if (status !== 200) return `${status} ${JSON.stringify(data).slice(0, 300)}`;
      if (!String(headers['content-type']).startsWith('application/json')) return '';
      return faults(`schemas/${operationId.replace(/^./, (letter) => letter.toUpperCase())}Reply`, data);
    };
    const described = new Map(operationsOf(document).map((each) => [each.operationId, each]));
    call = async (name, parameters) => {
      const operation = described.get(name);
      const ask = operations[name];
      if (operation === undefined || ask === undefined) throw new Error(`no operation ${name}`);
      const named = operation.parameters
        .filter((each) => each.required)
        .map((each) => [each.name, valueOf(each, values)]);
      return { operation, response: await ask({ ...(Object.fromEntries(named) as Values), ...parameters }) };
    };
    values = await knownValues(server.url);
  }, 180_000);
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it('is the document of the routes, and names each once', () => {
    const listed = openApiDocument({ routes: ROUTES, deeds: DEEDS, version: '0' });
    expect(Object.keys(document.paths).toSorted()).toEqual(Object.keys(listed.paths).toSorted());
    const names = operationsOf(document).map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(QUESTIONS)(
    '%s answers as documented, as it is and with each parameter',
    async (name) => {
      const plain = await call(name, {});
      const found: Record<string, string> = { '': faultsOf(plain) };
      // Who names one thing and a team may well name a thing of another team.
      const namesThing = plain.operation.parameters.some((each) => each.in === 'path');
      const asked = plain.operation.parameters.filter(
        ({ name: each, in: place }) => place === 'query' && !(namesThing && each === 'team'),
      );
      for (const parameter of asked) {
        const value = otherValue(parameter, values);
        if (value === undefined) continue;
        found[`${parameter.name}=${value}`] = faultsOf(await call(name, { [parameter.name]: value }));
      }
      expect(Object.entries(found).filter(([, fault]) => fault !== '')).toEqual([]);
    },
    QUESTION_MS_MAX,
  );

  it.each(ROUTES.filter(({ command }) => command !== undefined).map(({ name }) => name))(
    '%s has the figures of the command it names, whatever is said beside it',
    async (name) => {
      const { operation } = await call(name, {});
      const namesThing = operation.parameters.some((each) => each.in === 'path');
      const said = operation.parameters
        .filter((each) => each.in === 'query' && SAID.includes(each.name) && !(namesThing && each.name === 'team'))
        .flatMap((each) => {
          const value = values[each.name];
          return value === undefined ? [] : [{ [each.name]: value }];
        });
      for (const parameters of [{}, ...said]) {
        const { response } = await call(name, parameters);
        const command = decodeURIComponent(String(response.headers['x-bursar-command']));
        const [program, ...words] = shellWords(command);
        expect(program).toBe('bursar');
        const out = OF_THE_MACHINE.has(name)
          ? (await bursar(...words, '--json')).out
          : await printed(...words, '--json');
        const figures = sameFigures(name, response.data, JSON.parse(out), parameters);
        expect(figures.reply, command).toEqual(figures.said);
      }
    },
    QUESTION_MS_MAX,
  );

  it.each(QUESTIONS)('%s refuses a parameter nobody knows, with a hint', async (name) => {
    const { operation } = await call(name, {});
    const path =
      Object.entries(document.paths).find(([, methods]) => methods.get?.operationId === operation.operationId)?.[0] ??
      '';
    const named = path.replaceAll(/\{(\w+)\}/g, (_, each: string) => encodeURIComponent(values[each] ?? each));
    const response = await fetch(`${server.url}${named}?windoww=30d`);
    const body: unknown = await response.json();
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(problemFaults(400, body)).toBe('');
    expect(body).toMatchObject({ code: 'bad-query', hint: expect.stringMatching(/./) as unknown });
  });

  it('answers what is not there, what is not said well and what is asked too early as documented', async () => {
    const asked = async (path: string): Promise<[number, unknown]> => {
      const response = await fetch(`${server.url}${path}`);
      return [response.status, await response.json()];
    };
    for (const [path, want, code] of [
      ['/api/v1/nothing', 404, 'no-such-route'],
      ['/api/v1/spend?window=13+moons', 400, 'bad-window'],
      ['/api/v1/spend?by=colour', 400, 'unknown-dimension'],
      ['/api/v1/spend?asOf=noon', 400, 'bad-query'],
      ['/allocation?aggregate=colour', 400, 'bad-aggregate'],
      ['/allocation?shareIdle=true', 400, 'bad-query'],
    ] as const) {
      const [status, body] = await asked(path);
      expect([path, status, body]).toEqual([path, want, expect.objectContaining({ code, status: want })]);
      expect(problemFaults(want, body)).toBe('');
    }
  });

  const json = { 'content-type': 'application/json' };
  const refusals: readonly (readonly [string, 'get' | 'post', string, RequestInit, number])[] = [
    ['/api/v1/overview', 'get', '?team=nobody-at-all', {}, 404],
    ['/api/v1/jobs', 'get', '?cursor=eyJxIjoieCIsImFmdGVyIjoieCIsInBsYWNlIjoxfQ', {}, 410],
    ['/api/v1/session', 'post', '', { headers: json, body: '{"token": "bsr_guessed"}' }, 401],
    ['/api/v1/session', 'post', '', { headers: { ...json, origin: 'https://evil.example' }, body: '{}' }, 403],
    ['/api/v1/session', 'post', '', { headers: json, body: `{"token": "${'x'.repeat(70_000)}"}` }, 413],
    ['/api/v1/session', 'post', '', { headers: { 'content-type': 'text/plain' }, body: 'token' }, 415],
    ['/api/v1/session', 'post', '', { headers: json, body: '{"token": 1}' }, 422],
    ['/api/v1/findings/{finding}/dismiss', 'post', '', { headers: json, body: '{"reason": ""}' }, 422],
    [
      '/api/v1/findings/{finding}/accept',
      'post',
      '',
      { headers: json, body: '{"seen": "fixed", "window": "all"}' },
      409,
    ],
  ];
  it.each(refusals)('%s, by %s%s, refuses as documented', async (path, method, query, init, want) => {
    const named = path.replace('{finding}', 'F-1');
    const response = await fetch(`${server.url}${named}${query}`, { method, ...init });
    const body: unknown = await response.json();
    expect([response.status, body]).toEqual([want, expect.objectContaining({ status: want })]);
    expect(problemFaults(want, body)).toBe('');
    expect(document.paths[path]?.[method]?.responses).toHaveProperty(String(want));
  });

  it('answers with the headers it is said to answer with', async () => {
    const { response, operation } = await call('getOverview', {});
    const told = operation.responses['200'];
    const names = told === undefined || '$ref' in told ? [] : Object.keys(told.headers ?? {});
    expect(names).toEqual(['ETag', 'X-Bursar-Generation', 'X-Bursar-Command']);
    expect(names.filter((name) => response.headers[name.toLowerCase()] === undefined)).toEqual([]);
  });

  it('has an example in every problem that is one', () => {
    for (const [name, response] of Object.entries(document.components.responses)) {
      if ('$ref' in response) throw new Error(`${name} refers elsewhere`);
      const example = response.content?.['application/problem+json']?.example;
      expect(problemFaults(Number(name.slice(7)), example), name).toBe('');
    }
  });
});

function operationsOf(document: ApiDocument): ApiOperation[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods));
}

/** Names that are in the demo: what a page would link to. */
async function knownValues(url: string): Promise<Values> {
  const dearest = async (dimension: string): Promise<string> => {
    const response = await fetch(`${url}/api/v1/spend?window=all&by=${dimension}`);
    const { rows } = (await response.json()) as { rows: readonly Readonly<Record<string, string | null>>[] };
    return rows.map((row) => row[dimension]).find((value) => typeof value === 'string') ?? '';
  };
  const [job, team, cluster, node, device, user] = await Promise.all(
    ['job', 'team', 'cluster', 'node', 'device', 'user'].map(dearest),
  );
  return {
    window: '2d',
    by: 'cluster',
    step: '1d',
    asOf: '2026-11-01T12:00:00Z',
    filter: `cluster=${cluster}`,
    aggregate: 'cluster',
    resolution: '1m',
    month: '2026-10',
    day: '2026-11-01',
    finding: 'F-1',
    limit: '2',
    search: 'h100',
    dimension: 'team',
    job,
    team,
    cluster,
    node,
    device,
    gpu: device,
    user,
  } as Values;
}

/** Of a parameter that has to be given. */
function valueOf(parameter: ApiParameter, values: Values): string {
  const value = otherValue(parameter, values);
  if (value === undefined) throw new Error(`say in knownValues what a good ${parameter.name} is`);
  return value;
}

function otherValue({ name, schema }: ApiParameter, values: Values): string | undefined {
  const fromList = schema.enum?.map(String).find((each) => each !== String(schema.default));
  return (
    fromList ??
    values[name] ??
    (schema.const === undefined ? undefined : JSON.stringify(schema.const).replaceAll('"', ''))
  );
}

/** The words of a line as a shell would read them; only what `shellWord` writes. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|\\(')/g,
      (_, quoted: string | undefined, single: string | undefined) => quoted ?? single ?? '',
    ),
  );
}
