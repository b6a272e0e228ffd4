import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { MADE_DEEDS as deeds, MADE_ROUTES as routes } from '../../../test/made-routes.ts';
import { served } from '../../../test/served.ts';
import type { Served } from '../../../test/served.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { keepStanding } from '../../app/serve/standing.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { readiness } from './health.ts';

let fleet: FleetFolder;
let webDir = '';
let open: Served;
let closed: Served;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
  webDir = await mkdtemp(join(tmpdir(), 'bursar-web-'));
  await mkdir(join(webDir, 'assets'));
  await writeFile(join(webDir, 'index.html'), '<!doctype html><title>Bursar</title>');
  await writeFile(join(webDir, 'assets', 'main-abc123.js'), `console.log(${'1+'.repeat(2000)}1)`);
  open = await served(fleet.dataDir, { routes, deeds, webDir });
  closed = await served(fleet.dataDir, { routes, deeds, webDir, needsToken: true, isLoopback: false });
});
afterAll(async () => {
  await open.close();
  await closed.close();
  await fleet.remove();
  await rm(webDir, { recursive: true });
});

describe('a browser', () => {
  it('is told what it may load, with every reply', async () => {
    for (const path of ['/', '/api/v1/totals', '/api/v1/nothing', '/healthz']) {
      const { headers } = await open.request(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });

  const requests: Record<string, { headers: Record<string, string>; method?: string; status: number }> = {
    'under a name that is not ours': { headers: { host: 'evil.example' }, status: 421 },
    'under a name that begins like ours': { headers: { host: 'localhost.evil.example' }, status: 421 },
    'under a name that looks like an address': { headers: { host: '127.0.0.1.evil.example' }, status: 421 },
    'under an address beyond this machine': { headers: { host: '192.0.2.1:4600' }, status: 421 },
    'under none': { headers: { host: '' }, status: 421 },
    'by localhost': { headers: { host: 'LOCALHOST:4600' }, status: 200 },
    'by IPv6': { headers: { host: '[::1]:4600' }, status: 200 },
    'from a script of another site': {
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      status: 403,
    },
    'by a link on another site': {
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      status: 200,
    },
    'to change something, from another origin': {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
      status: 403,
    },
    'to change something, from a sandbox': { method: 'POST', headers: { origin: 'null' }, status: 403 },
    'to change something, from another port': {
      method: 'POST',
      headers: { origin: 'http://127.0.0.1:9999' },
      status: 403,
    },
    'to change something, without saying from where': {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site' },
      status: 403,
    },
    'to change something, with a cookie and no origin': {
      method: 'POST',
      headers: { cookie: 'bursar_session=x' },
      status: 403,
    },
    'to change something, from our own page': {
      method: 'POST',
      headers: { origin: 'http://127.0.0.1:4600' },
      status: 200,
    },
    'no browser at all': { method: 'POST', headers: {}, status: 200 },
  };
  it.each(Object.entries(requests))('asks %s', async (_, { headers, method = 'GET', status }) => {
    const reply =
      method === 'GET'
        ? await open.request('/api/v1/totals', { headers })
        : await open.request('/api/v1/findings/F-1/accept', {
            method,
            headers: { 'content-type': 'application/json', ...headers },
            body: '{"reason":"a"}',
          });
    expect(reply.status).toBe(status);
  });

  it('of another site is refused what is not below /api too', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await open.request('/metrics', { headers })).status).toBe(403);
  });

  it('gets the page under every address, its parts for ever, and nothing beside them', async () => {
    const page = await open.request('/findings/F-12?window=7d');
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(await page.text()).toContain('<title>Bursar');
    const script = await open.request('/assets/main-abc123.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(script.headers.get('content-encoding')).toBe('gzip');
    for (const path of ['/../package.json', '/assets/..%5c..%5cx.js', '/%00.js', '/assets/none.js']) {
      expect((await open.request(path)).status).toBe(404);
    }
    // Further down a dot is of a name: what is no file is the page, never a path.
    expect(await (await open.request('/..%2f..%2fetc/passwd.txt')).text()).toContain('<title>Bursar');
    expect((await closed.request('/', {})).status).toBe(200);
  });
});

describe('health', () => {
  it('is alive for anybody, and ready where the ledger can be read', async () => {
    expect(await (await closed.request('/healthz', { headers: { host: 'pod.internal' } })).json()).toEqual({
      status: 'alive',
    });
    expect(await (await closed.request('/readyz')).json()).toMatchObject({ status: 'ready', staleRows: 0 });
  });

  it('is not ready where there is nothing, or nothing can be written', async () => {
    const empty = await served(join(webDir, 'no-data'));
    expect((await empty.request('/healthz')).status).toBe(200);
    expect(await (await empty.request('/readyz')).json()).toMatchObject({ status: 503, code: 'no-data' });
    await empty.close();
    const trouble = new OperationError('disk-full', 'the disk of /secret is full', { hint: 'rm /secret/old' });
    const writer = { does: 'collects' as const, trouble, lastDerivedAt: undefined, lastDeriveSeconds: undefined };
    const stuck = await served(fleet.dataDir, { writer: () => writer });
    const told = await (await stuck.request('/readyz')).json();
    expect(told).toMatchObject({ status: 503, code: 'writer-trouble', detail: 'facts are not written' });
    expect(JSON.stringify(told)).not.toContain('/secret');
    await stuck.close();
  });

  it('is not ready while bursar.yaml is broken, and no less so once it is gone', async () => {
    const configPath = join(webDir, 'bursar.yaml');
    await writeFile(configPath, 'sources: []\n');
    const standing = keepStanding({ dataDir: fleet.dataDir, configPath, now: () => new Date() });
    const ready = () => readiness({ standing, writer: () => undefined, now: () => new Date() });
    expect(await ready()).toMatchObject({ status: 'ready' });
    await writeFile(configPath, 'sources: [oops\n');
    await expect(ready()).rejects.toMatchObject({ code: 'bad-config' });
    await rm(configPath);
    await expect(ready()).rejects.toMatchObject({ code: 'bad-config', message: expect.stringContaining('not there') });
    standing.close();
  });
});
