import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { MADE_DEEDS as deeds, MADE_ROUTES as routes } from '../../test/made-routes.ts';
import { served } from '../../test/served.ts';
import type { Served } from '../../test/served.ts';

let fleet: FleetFolder;
let webDir: string;
let server: Served;
beforeAll(async () => {
  fleet = await fleetFolder({});
  webDir = await mkdtemp(join(tmpdir(), 'bursar-web-'));
  await writeFile(join(webDir, 'index.html'), '<!doctype html>');
  server = await served(fleet.dataDir, { routes, deeds, webDir });
});
afterAll(async () => {
  await server.close();
  await rm(webDir, { recursive: true });
  await fleet.remove();
});

// RFC 9110 wants Allow with every 405.
it.each([
  ['POST', '/api/v1/money', 'GET, HEAD'],
  ['GET', '/api/v1/findings/F-1/accept', 'POST'],
  ['PUT', '/api/v1/session', 'DELETE, GET, HEAD, POST'],
  ['POST', '/healthz', 'GET, HEAD'],
  ['PUT', '/teams/nlp', 'GET, HEAD'],
])('%s %s is told what it takes', async (method, path, allow) => {
  const reply = await server.request(path, { method });
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow]);
  expect(await reply.json()).toMatchObject({ hint: expect.stringContaining(`takes ${allow};`) as unknown });
});

it.each(['/assets/nothing.js', '/api/v1/nothing'])('PUT %s is of nothing that is there', async (path) => {
  const reply = await server.request(path, { method: 'PUT' });
  expect([reply.status, reply.headers.get('allow')]).toEqual([404, null]);
});
