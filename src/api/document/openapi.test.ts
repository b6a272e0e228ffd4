import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApiMethod } from './openapi-document.ts';
import { openApiDocument } from './openapi.ts';
import { curlLine, referencePage } from './reference-page.ts';
import type { Deed, Route } from '../route.ts';
import { Paging } from '../cursor.ts';
import { deed, route } from '../route.ts';
import { SERVICE_PATHS } from '../service.ts';

interface Folder {
  name: string;
  within: Folder[];
}
const Folder: z.ZodType<Folder> = z.object({ name: z.string(), within: z.array(z.lazy(() => Folder)) });

const HOSTILE = '</code><script>alert(1)</script><img src=x onerror="alert(2)">';

const jobs: Route = route({
  path: '/api/v1/jobs/{job}',
  name: 'getJob',
  summary: `One job ${HOSTILE}`,
  page: 'jobs',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({
    window: z.string().default('30d').meta({ description: 'How far back' }),
    team: z.string().optional(),
    order: z.enum(['cost', 'age']).default('cost'),
  }),
  params: z.object({ job: z.string() }),
  reply: z.object({
    cost: z
      .string()
      .nullable()
      .meta({ description: `Dollars ${HOSTILE}` }),
    at: z.iso.datetime(),
  }),
  command: ({ window }, { job }) => `bursar job ${job} --window ${window}`,
  answer: async () => Promise.resolve({ cost: null, at: '' }),
  csv: () => '',
});

const folders: Route = route({
  path: '/api/v1/folders',
  name: 'listFolders',
  summary: 'Folders in folders',
  page: 'sources',
  access: { role: 'operator', sees: 'fleet' },
  query: z.object({ ...Paging }),
  params: z.object({}),
  reply: z.object({ folders: z.array(Folder) }),
  answer: async () => Promise.resolve({ folders: [] }),
  csv: () => '',
});

const accept: Deed = deed({
  path: '/api/v1/findings/{finding}/accept',
  name: 'acceptFinding',
  summary: 'Accept it',
  page: 'findings',
  access: { role: 'operator', sees: 'team' },
  params: z.object({ finding: z.string() }),
  body: z.object({ reason: z.string().optional() }),
  reply: z.object({ state: z.string() }),
  act: async () => Promise.resolve({ state: 'accepted' }),
});

const document = openApiDocument({ routes: [jobs, folders], deeds: [accept], version: '1.2.3' });

const statusesOf = (path: string, method: ApiMethod = 'get'): string =>
  Object.keys(document.paths[path]?.[method]?.responses ?? {}).join(' ');

describe('the document of the routes', () => {
  it('has every route, deed and path of the server itself, each with its rule', () => {
    const rules = Object.fromEntries(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation['x-bursar-access']]),
      ),
    );
    expect(rules).toEqual({
      'get /api/v1/jobs/{job}': { role: 'viewer', sees: 'team' },
      'get /api/v1/folders': { role: 'operator', sees: 'fleet' },
      'post /api/v1/findings/{finding}/accept': { role: 'operator', sees: 'team' },
      ...Object.fromEntries(SERVICE_PATHS.map(({ method, path, access }) => [`${method} ${path}`, access])),
    });
  });

  it('tells parameters with their defaults, and what must be given', () => {
    expect(document.paths['/api/v1/jobs/{job}']?.get?.parameters).toEqual([
      { name: 'job', in: 'path', required: true, schema: { type: 'string' } },
      {
        name: 'window',
        in: 'query',
        required: false,
        description: 'How far back',
        schema: { type: 'string', default: '30d' },
      },
      { name: 'team', in: 'query', required: false, schema: { type: 'string' } },
      {
        name: 'order',
        in: 'query',
        required: false,
        schema: { type: 'string', enum: ['cost', 'age'], default: 'cost' },
      },
      expect.objectContaining({ name: 'format', in: 'query', required: false }),
    ]);
  });

  it('says the command for the question as it is asked without a query', () => {
    expect(document.paths['/api/v1/jobs/{job}']?.get?.['x-bursar-command']).toBe('bursar job JOB --window 30d');
    expect(document.paths['/api/v1/folders']?.get).not.toHaveProperty('x-bursar-command');
  });

  it('keeps what refers to itself in one piece', () => {
    const refers = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(
      ([, place = '']) => place,
    );
    const [kept, answers] = [document.components.schemas, document.components.responses];
    const missing = refers.filter((place) => {
      const [kind, name = ''] = place.split('/');
      return !(name in (kind === 'schemas' ? kept : answers));
    });
    expect(missing).toEqual([]);
    expect(refers.filter((place) => place.startsWith('schemas/ListFoldersReply.')).length).toBeGreaterThan(1);
  });

  it('leaves objects open, so that a field more is no break', () => {
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
  });

  it('says of a reply that it can be a table, and of a path that names a thing that it may not be there', () => {
    const responses = document.paths['/api/v1/jobs/{job}']?.get?.responses ?? {};
    expect(statusesOf('/api/v1/jobs/{job}')).toBe('200 304 400 401 403 404 421 422 429 500 503');
    expect(responses['200']).toHaveProperty(['content', 'text/csv']);
    expect(document.paths['/healthz']?.get?.responses).not.toHaveProperty('401');
  });

  it.each([
    ['a list in pages', '/api/v1/folders', 'get', '200 304 400 401 403 410 421 429 500 503'],
    [
      'what is sent and names a thing',
      '/api/v1/findings/{finding}/accept',
      'post',
      '200 400 401 403 404 409 413 415 421 422 429 500 503',
    ],
    ['signing in', '/api/v1/session', 'post', '200 400 401 403 413 415 421 422 429 500 503'],
    ['signing out', '/api/v1/session', 'delete', '204 400 403 421 429 500 503'],
    ['health, which is asked under any name', '/healthz', 'get', '200 400 429 500 503'],
  ] as const)('says how it may refuse %s', (_, path, method, want) => {
    expect(statusesOf(path, method)).toBe(want);
  });

  it('says what a sign-in takes and gives', () => {
    const signIn = document.paths['/api/v1/session']?.post;
    expect(signIn?.requestBody?.content['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/SignInBody',
    });
    expect(document.components.schemas['SignInBody']).toMatchObject({ required: ['token'] });
    expect(document.components.schemas['SignInReply']?.properties).toHaveProperty('signedIn');
  });

  it('says which headers an answer has', () => {
    const headersOf = (path: string, status: string): string[] => {
      const response = document.paths[path]?.get?.responses[status];
      return response === undefined || '$ref' in response ? [] : Object.keys(response.headers ?? {});
    };
    expect(headersOf('/api/v1/jobs/{job}', '200')).toEqual(['ETag', 'X-Bursar-Generation', 'X-Bursar-Command']);
    expect(headersOf('/api/v1/jobs/{job}', '304')).toEqual(['ETag', 'X-Bursar-Generation', 'X-Bursar-Command']);
    expect(headersOf('/api/v1/folders', '200')).toEqual(['ETag', 'X-Bursar-Generation', 'X-Bursar-Next-Cursor']);
    expect(document.components.responses['Problem503']).toHaveProperty(['headers', 'Retry-After']);
    expect(document.components.responses['Problem401']).toHaveProperty(['headers', 'WWW-Authenticate']);
  });
});

describe('the reference', () => {
  const page = referencePage(document);

  it('tells each operation with its rule, its command and a line for curl', () => {
    expect(page).toContain('<h3 id="getJob"><code>GET /api/v1/jobs/{job}</code></h3>');
    expect(page).toContain('bursar job JOB --window 30d');
    expect(page).toContain('any token; one with a team only asks about that team');
    expect(page).toContain('operator or above, tokens without a team');
    expect(page).toContain('<code>folders[].within[].name</code>');
    expect(page).toContain('The API of Bursar 1.2.3');
  });

  it('writes lines a shell takes as they are', () => {
    const operation = document.paths['/api/v1/jobs/{job}']?.get;
    if (operation === undefined) throw new Error('no such operation');
    expect(curlLine({ path: '/api/v1/jobs/{job}', method: 'get', operation })).toBe(
      "curl 'http://127.0.0.1:4600/api/v1/jobs/JOB?window=30d&order=cost'",
    );
  });

  it('obeys nothing that stands in a text, and needs no script and no style of its own', () => {
    expect(page).not.toMatch(/<(script|img|style|iframe|object)|<[^>]+ (on\w+|style)=|javascript:/i);
    expect(page).toContain('&#60;script&#62;');
  });
});
