import type { z } from 'zod';
import type {
  ApiDocument,
  ApiHeader,
  ApiMedia,
  ApiMethod,
  ApiOperation,
  ApiParameter,
  ApiResponse,
} from './openapi-document.ts';
import { problemResponses } from './openapi-problems.ts';
import { hoistedSchema } from './openapi-schema.ts';
import type { JsonSchema } from './openapi-schema.ts';
import type { Access, Deed, Route } from '../route.ts';
import { SERVICE_PATHS } from '../service.ts';
import type { ServicePath } from '../service.ts';

/** What the document is made of; the paths of the server itself are always in it. */
export interface Described {
  readonly routes: readonly Route[];
  readonly deeds: readonly Deed[];
  readonly service?: readonly ServicePath[];
  readonly version: string;
}

const TAGS: readonly (readonly [name: Route['page'], description: string])[] = [
  ['overview', 'Are we fine?'],
  ['spend', 'What was paid, by whom and for what'],
  ['fleet', 'Every GPU over time'],
  ['jobs', 'One job and what it cost'],
  ['findings', 'What to do first'],
  ['teams', 'Statements, outcomes and waiting by team'],
  ['sources', 'What the figures rest on'],
  ['service', 'The server itself, and what other tools read'],
];

const DESCRIPTION = [
  'Every figure of the dashboard. Money is a text of whole micro-dollars ("1625000" is $1.625), because JSON has no exact numbers that large; what nobody can say is null, never 0.',
  'Windows, filters and groups are written as on the command line, and the header X-Bursar-Command says which command gives the same figures.',
  'Answers carry the ledger generation they are of (X-Bursar-Generation) and an ETag. Errors are application/problem+json with a hint that says what to do.',
  'On loopback no token is needed; elsewhere every path but the open ones wants one: bursar token create.',
].join('\n\n');

/** What the server can be asked, as an OpenAPI 3.1 document; made of the same values the router is. */
export function openApiDocument({ routes, deeds, service = SERVICE_PATHS, version }: Described): ApiDocument {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Record<string, Partial<Record<ApiMethod, ApiOperation>>> = {};
  const add = (path: string, method: ApiMethod, operation: ApiOperation): void => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  for (const each of routes) add(each.path, 'get', questionOperation(each, schemas));
  for (const each of deeds) add(each.path, 'post', deedOperation(each, schemas));
  for (const each of service) add(each.path, each.method, serviceOperation(each, schemas));
  const used = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => [...tags])),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bursar',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: TAGS.filter(([name]) => used.has(name)).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      responses: problemResponses(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'bursar token create --name NAME --role viewer' },
        session: { type: 'apiKey', in: 'cookie', name: 'bursar_session', description: 'Set by the sign-in page' },
      },
    },
  };
}

function questionOperation(each: Route, schemas: Record<string, JsonSchema>): ApiOperation {
  const content =
    each.bytes === undefined
      ? { 'application/json': { schema: hoistedSchema(each.reply, `${capital(each.name)}Reply`, schemas) } }
      : { 'application/octet-stream': { schema: hoistedSchema(each.reply, `${capital(each.name)}Reply`, schemas) } };
  const csv = each.csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' } } };
  const command = exampleCommand(each);
  const headers = headersOf(each);
  return {
    operationId: each.name,
    summary: each.summary,
    tags: [each.page],
    parameters: [
      ...parametersOf(each.params, 'path'),
      ...parametersOf(each.query, 'query'),
      ...(each.csv === undefined ? [] : [CSV_PARAMETER]),
    ],
    responses: {
      200: { description: each.summary, headers, content: { ...content, ...csv } },
      304: { description: 'What the ETag in If-None-Match stands for is still so', headers },
      ...problemsOf(each.access, refusalsOf(each)),
    },
    security: securityOf(each.access),
    'x-bursar-access': each.access,
    ...(command !== undefined && { 'x-bursar-command': command }),
  };
}

function deedOperation(each: Deed, schemas: Record<string, JsonSchema>): ApiOperation {
  const reply = hoistedSchema(each.reply, `${capital(each.name)}Reply`, schemas);
  return {
    operationId: each.name,
    summary: each.summary,
    tags: [each.page],
    parameters: parametersOf(each.params, 'path'),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: hoistedSchema(each.body, `${capital(each.name)}Body`, schemas, 'input') },
      },
    },
    responses: {
      200: { description: each.summary, content: { 'application/json': { schema: reply } } },
      ...problemsOf(each.access, [...(namesThing(each) ? ['404'] : []), '409', ...OF_BODIES]),
    },
    security: securityOf(each.access),
    'x-bursar-access': each.access,
  };
}

function serviceOperation(each: ServicePath, schemas: Record<string, JsonSchema>): ApiOperation {
  const { name, summary, access, answers, body, refusals = [], isUnderAnyName = false } = each;
  const media = (reply: z.ZodType | undefined): ApiMedia =>
    reply === undefined ? {} : { schema: hoistedSchema(reply, `${capital(name)}Reply`, schemas) };
  const good = Object.entries(answers).map(([status, { what, contentType, reply }]): [string, ApiResponse] => [
    status,
    { description: what, ...(contentType !== undefined && { content: { [contentType]: media(reply) } }) },
  ]);
  const sent = body === undefined ? undefined : hoistedSchema(body, `${capital(name)}Body`, schemas, 'input');
  return {
    operationId: name,
    summary,
    tags: ['service'],
    parameters: [],
    ...(sent !== undefined && { requestBody: { required: true, content: { 'application/json': { schema: sent } } } }),
    responses: {
      ...Object.fromEntries(good),
      ...problemsOf(access, [...refusals, ...(sent === undefined ? [] : OF_BODIES)], isUnderAnyName),
    },
    security: securityOf(access),
    'x-bursar-access': access,
  };
}

function headersOf({ command, csv, query }: Route): Record<string, ApiHeader> {
  const text = { type: 'string' };
  return {
    ETag: { description: 'Of this answer: If-None-Match with it is answered 304 while it is so', schema: text },
    'X-Bursar-Generation': { description: 'Of which state of the ledger it is', schema: { type: 'integer' } },
    ...(command !== undefined && {
      'X-Bursar-Command': { description: 'The words to type for the same figures; % as in an address', schema: text },
    }),
    ...(csv !== undefined &&
      'cursor' in query.shape && {
        'X-Bursar-Next-Cursor': {
          description: 'Of a table: cursor of the next page, where there is one',
          schema: text,
        },
      }),
  };
}

const CSV_PARAMETER: ApiParameter = {
  name: 'format',
  in: 'query',
  required: false,
  description: 'csv: the same rows as a table',
  schema: { type: 'string', enum: ['json', 'csv'], default: 'json' },
};

function parametersOf(shape: z.ZodObject, place: 'query' | 'path'): ApiParameter[] {
  const { properties = {}, required = [] } = hoistedSchema(shape, '', {}, 'input');
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

/** What is sent may be too large, no JSON, or not as described. */
const OF_BODIES = ['413', '415', '422'];

const namesThing = ({ params }: Pick<Route, 'params'>): boolean => Object.keys(params.shape).length > 0;

/** A thing or a team that is named may not be there, a page may begin after a row that is gone, and one number may be several jobs'. */
function refusalsOf(each: Route): string[] {
  const { query, params } = each;
  return [
    ...(namesThing(each) || 'team' in query.shape ? ['404'] : []),
    ...('cursor' in query.shape ? ['410'] : []),
    ...('job' in params.shape || 'month' in query.shape ? ['422'] : []),
  ];
}

/** An open path wants no token. All but what is asked under any name look at who asks for it, and under which name. */
function problemsOf(
  { sees }: Access,
  refusals: readonly string[],
  isUnderAnyName = false,
): Record<string, ApiResponse> {
  const refused = [...(sees === 'open' ? [] : ['401']), ...(isUnderAnyName ? [] : ['403', '421'])];
  const statuses = ['400', ...refused, ...refusals, '429', '500', '503'];
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]));
}

function securityOf({ sees }: Access): ApiOperation['security'] {
  return sees === 'open' ? [] : [{ token: [] }, { session: [] }, {}];
}

/** The command for the question as it is asked without a query; what must be named stands in capitals. */
function exampleCommand({ query, params, command }: Route): string | undefined {
  if (command === undefined) return undefined;
  const asked = query.safeParse(Object.fromEntries(requiredNames(query)));
  const named = params.safeParse(Object.fromEntries(requiredNames(params)));
  return asked.success && named.success ? command(asked.data, named.data) : undefined;
}

function requiredNames(shape: z.ZodObject): [string, string][] {
  const { required = [] } = hoistedSchema(shape, '', {}, 'input');
  return required.map((name) => [name, name.toUpperCase()]);
}

function capital(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}
