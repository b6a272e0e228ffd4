import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { csv, fleetFolder } from '../fleet-folder.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { SMALL_FLEET } from '../small-fleet.ts';
import { hasBrowser, settled } from './browser.ts';
import { openDashboard } from './dashboard.ts';
import type { Dashboard } from './dashboard.ts';

const JOBS = '/jobs?window=2026-03-02';
const SOON = { timeout: 30_000, interval: 100 };

describe.skipIf(!hasBrowser)('a page that stays open', () => {
  let fleet: FleetFolder;
  let dashboard: Dashboard;
  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
    const configPath = join(fleet.dataDir, '..', 'bursar.yaml');
    await writeFile(configPath, 'rules: []\n');
    dashboard = await openDashboard(fleet.dataDir, { configPath });
  }, 300_000);
  afterAll(async () => {
    await dashboard.close();
    await fleet.remove();
  });

  /** A job that was not there before. */
  const addJob = async (id: string, minute: number): Promise<void> => {
    await fleet.import({
      [`allocations ${id}`]: csv(`
        source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|user_name|workload_kind|workload_name
        slurm |${id}|a2|a2-1|2026-03-02T10:${minute}:00Z|2026-03-02T10:${minute + 5}:00Z|1|a|nlp|mchen|Job|${id}`),
    });
    await fleet.derive();
  };
  const rows = (page: Page, id: string): Promise<number> => page.getByRole('link', { name: id, exact: true }).count();

  it('shows a job that came in meanwhile', async () => {
    const { page, close } = await dashboard.open(JOBS);
    await settled(page);
    expect(await rows(page, 'came-later')).toBe(0);
    await addJob('came-later', 10);
    await expect.poll(() => rows(page, 'came-later'), SOON).toBe(1);
    await close();
  });

  it('shows whose money it is by a rule that was written meanwhile', async () => {
    const { page, close } = await dashboard.open('/spend?window=2026-03-02&by=team');
    await settled(page);
    const rule = 'rules:\n  - when: { account: nlp }\n    set: { team: renamed }\n';
    await writeFile(join(fleet.dataDir, '..', 'bursar.yaml'), rule);
    await expect.poll(() => page.locator('td span[title="renamed"]').count(), SOON).toBe(1);
    await writeFile(join(fleet.dataDir, '..', 'bursar.yaml'), 'rules: []\n');
    await close();
  });

  it('follows the ledger too where the stream of news is refused', async () => {
    const { page, close } = await dashboard.open('/sources');
    await page.route('**/api/v1/events', (route) => route.fulfill({ status: 503 }));
    await page.goto(`${dashboard.url}${JOBS}`);
    await settled(page);
    await addJob('without-news', 20);
    await expect.poll(() => rows(page, 'without-news'), SOON).toBe(1);
    expect(await page.getByText(/does not answer/).count()).toBe(0);
    await close();
  });

  it('says that the server is gone, and asks for what failed when it is back', async () => {
    const { page, close } = await dashboard.open(JOBS);
    await settled(page);
    await page.route('**/api/v1/**', (route) => route.abort());
    await comeBack(page);
    await page.getByText(/Bursar does not answer\. You see what it said up to/).waitFor();
    await page.getByRole('link', { name: /^Teams/ }).click();
    await page.locator('h1', { hasText: 'Teams' }).waitFor();
    // Said once, over the page: its parts wait.
    await page.locator('main .loading').waitFor();
    expect(await page.locator('main .banner.bad').count()).toBe(0);
    await page.unroute('**/api/v1/**');
    await page.getByRole('button', { name: 'try now' }).click();
    await page.getByText(/does not answer/).waitFor({ state: 'detached' });
    // What failed is asked for again: its rows come.
    await page.getByRole('link', { name: 'nlp' }).first().waitFor();
    await close();
  });

  it('keeps its figures while the server is gone, and has the new ones when it is back', async () => {
    const { page, close } = await dashboard.open('/spend?window=2026-03-02&by=team');
    await settled(page);
    const shown = await page.locator('#paid-title').innerText();
    await page.route('**/api/v1/**', (route) => route.abort());
    await page.getByLabel('Window, UTC').selectOption('7d');
    await page.getByText(/Bursar does not answer\. You see what it said up to/).waitFor();
    expect(await page.locator('#paid-title').innerText()).toBe(shown);
    expect(await page.locator('.trouble').count()).toBe(0);
    expect(await page.locator('.before-line').count()).toBe(1);
    await page.unroute('**/api/v1/**');
    await page.getByText(/does not answer/).waitFor({ state: 'detached', timeout: 15_000 });
    await settled(page);
    expect(page.url()).toContain('window=7d');
    expect(await page.locator('.before-line').count()).toBe(0);
    expect(await page.getByLabel('Window, UTC').locator('option:checked').innerText()).toContain('7 days · ');
    await close();
  });

  it('holds no stream while nobody looks, and one again when somebody does', async () => {
    const listeners = (): number => dashboard.server.api.events.listeners();
    // The server may not have heard yet that the pages of earlier tests are closed.
    await expect.poll(listeners, SOON).toBe(0);
    const { page, close } = await dashboard.open(JOBS);
    await settled(page);
    await expect.poll(listeners, SOON).toBe(1);
    await setVisibility(page, 'hidden');
    await expect.poll(listeners, SOON).toBe(0);
    await setVisibility(page, 'visible');
    await expect.poll(listeners, SOON).toBe(1);
    await close();
  });
});

/** As if another tab had been in front: a browser without windows shows every page. */
async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((told) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => told });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

async function comeBack(page: Page): Promise<void> {
  await setVisibility(page, 'hidden');
  await setVisibility(page, 'visible');
}
