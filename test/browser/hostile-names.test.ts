import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { csv, fleetFolder } from '../fleet-folder.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { SMALL_FLEET } from '../small-fleet.ts';
import { axeViolations, hasBrowser, settled } from './browser.ts';
import { openDashboard } from './dashboard.ts';
import type { Dashboard } from './dashboard.ts';

/** What somebody may call a job, a team or themselves: markup, a percent sign alone, what looks encoded already. */
const EVIL = `"><script>document.title="owned"</script><img src=x onerror=document.title="owned">`;
const NAMES = [EVIL, '50%', '%41/..?&#=é.v1'];
const at = (minute: number): string => `2026-03-02T10:${String(minute).padStart(2, '0')}:00Z`;
const rowOf = (name: string, place: number): string =>
  `slurm |${name}|a2|a2-1|${at(place * 15)}|${at(place * 15 + 15)}|1|a|${name}|${name}|Job|${name}`;

describe.skipIf(!hasBrowser)('names that are markup or look encoded', () => {
  let fleet: FleetFolder;
  let dashboard: Dashboard;
  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
    const evil = csv(`
      source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|user_name|workload_kind|workload_name
      ${NAMES.map(rowOf).join('\n      ')}`);
    await fleet.import({ 'allocations 2': evil });
    await fleet.derive();
    dashboard = await openDashboard(fleet.dataDir);
  }, 300_000);
  afterAll(async () => {
    await dashboard.close();
    await fleet.remove();
  });

  it('stay text on every page that lists them', async () => {
    const { page, complaints, close } = await dashboard.open('/sources');
    for (const path of [
      '/overview?',
      '/spend?by=user&',
      '/spend?by=job&',
      '/fleet?',
      '/jobs?',
      '/findings?',
      '/teams?',
    ]) {
      await page.goto(`${dashboard.url}${path}window=2026-03-02`);
      await settled(page);
      await expectText(page, path);
      expect(await axeViolations(page), path).toEqual([]);
    }
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(NAMES)('%s has its pages, and its address survives a key that changes it', async (name) => {
    const { page, complaints, close } = await dashboard.open('/sources');
    for (const path of [
      `/teams/${encodeURIComponent(name)}?month=2026-03`,
      `/jobs/${encodeURIComponent(`slurm/${name}`)}`,
    ]) {
      await page.goto(`${dashboard.url}${path}`);
      await settled(page);
      await expectText(page, path);
      expect(await page.locator('h1').innerText(), path).toBe(cutAsShown(name));
      expect(await page.locator('.banner.bad').count(), path).toBe(0);
      await page.keyboard.press('t');
      await page.waitForURL(/view=table/);
      await settled(page);
      expect(await page.locator('h1').innerText(), path).toBe(cutAsShown(name));
    }
    // As a filter it finds what is of that name.
    const filter = encodeURIComponent(`team=${name.replaceAll(/[\\,|]/g, '\\$&')}`);
    await page.goto(`${dashboard.url}/spend?window=2026-03-02&by=team&filter=${filter}`);
    await settled(page);
    expect(await page.locator('tbody tr').count()).toBe(1);
    expect(await page.locator('tbody tr td span[title]').first().getAttribute('title')).toBe(name);
    expect(complaints).toEqual([]);
    // A finding of that name is not there: that is said, and the navigation stays.
    await page.goto(`${dashboard.url}/findings/${encodeURIComponent(name)}`);
    await settled(page);
    await expectText(page, 'finding');
    expect(await page.locator('main .banner').count()).toBe(1);
    expect(await page.getByRole('navigation').count()).toBe(1);
    await close();
  });

  it('what cannot be drawn says so in its place, and the rest of the page works', async () => {
    const { page, close } = await dashboard.open('/sources');
    await settled(page);
    // An answer of another shape, as from another version of the server.
    await page.route('**/api/v1/spend/breakdown*', (route) => route.fulfill({ json: { rows: 7 } }));
    await page.goto(`${dashboard.url}/overview?window=2026-03-02`);
    await settled(page);
    expect(await page.getByText(/By class of work cannot be drawn/).count()).toBe(1);
    expect(await page.getByRole('heading', { name: 'Where each dollar went' }).count()).toBe(1);
    await page.goto(`${dashboard.url}/spend?window=2026-03-02`);
    await page.getByText(/Spend cannot be drawn/).waitFor();
    await page.getByRole('link', { name: /^Teams/ }).click();
    await settled(page);
    expect(await page.locator('h1').innerText()).toBe('Teams');
    await close();
  });
});

/** Nothing of the name was run or became markup. */
async function expectText(page: Page, path: string): Promise<void> {
  expect(await page.title(), path).not.toBe('owned');
  expect(await page.locator('img, main script').count(), path).toBe(0);
}

function cutAsShown(name: string): string {
  return name.length <= 40 ? name : `${name.slice(0, 20)}…${name.slice(-19)}`;
}
