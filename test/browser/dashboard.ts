import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { demoScope, demoWorld } from '../../src/app/demo/demo-request.ts';
import { makeDemo } from '../../src/app/demo/make-demo.ts';
import { served } from '../served.ts';
import type { Served, ServedOptions } from '../served.ts';
import { openBrowser, openPage } from './browser.ts';
import type { WatchedPage } from './browser.ts';

const WEB = fileURLToPath(new URL('../../web/', import.meta.url));

/** A server with its pages, and a browser before it. */
export interface Dashboard {
  readonly dataDir: string;
  readonly url: string;
  readonly server: Served;
  readonly browser: Browser;
  open(path: string, options?: BrowserContextOptions): Promise<WatchedPage>;
  /** Another server with the same pages: one that wants tokens, or over another folder. */
  also(dataDir: string, options?: ServedOptions): Promise<string>;
  close(): Promise<void>;
}

/** The pages as they are in the checkout, not as somebody last built them. */
async function buildPages(): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'bursar-pages-'));
  await build({ configFile: join(WEB, 'vite.config.ts'), logLevel: 'error', build: { outDir, emptyOutDir: true } });
  return outDir;
}

export async function openDashboard(dataDir: string, options: ServedOptions = {}): Promise<Dashboard> {
  const webDir = await buildPages();
  const server = await served(dataDir, { webDir, runMsMax: 120_000, ...options });
  const { url } = await server.listen();
  const browser = await openBrowser();
  const others: Served[] = [];
  return {
    dataDir,
    url,
    server,
    browser,
    open: async (path, context) => {
      const watched = await openPage(browser, context);
      await watched.page.goto(path.startsWith('http') ? path : `${url}${path}`);
      return watched;
    },
    also: async (otherDir, more = {}) => {
      const other = await served(otherDir, { webDir, runMsMax: 120_000, ...more });
      others.push(other);
      return (await other.listen()).url;
    },
    async close() {
      await browser.close();
      for (const each of [server, ...others]) await each.close();
      await rm(webDir, { recursive: true, force: true });
    },
  };
}

/** A made-up organisation, small enough to be made for a test. */
export async function demoFolder(): Promise<{ readonly dataDir: string; readonly remove: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bursar-browser-demo-'));
  const world = await demoWorld('unmanaged');
  const options = { gpus: '60', days: '4', step: '10m', until: '2026-11-01', seed: '1' };
  await makeDemo({
    world,
    scope: demoScope(options, world),
    out: dataDir,
    onlyFiles: false,
    onProgress: () => undefined,
  });
  return { dataDir, remove: () => rm(dataDir, { recursive: true, force: true }) };
}
