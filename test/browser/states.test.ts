import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetFolder } from '../fleet-folder.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { SMALL_FLEET } from '../small-fleet.ts';
import { axeViolations, hasBrowser, settled } from './browser.ts';
import { openDashboard } from './dashboard.ts';
import type { Dashboard } from './dashboard.ts';

describe.skipIf(!hasBrowser)('what a page says when it does not have what was asked', () => {
  let fleet: FleetFolder;
  let dashboard: Dashboard;
  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
    dashboard = await openDashboard(fleet.dataDir);
  }, 300_000);
  afterAll(async () => {
    await dashboard.close();
    await fleet.remove();
  });

  it('an empty folder says the next step on every page, and shows no zeros', async () => {
    const empty = await fleetFolder({});
    const url = await dashboard.also(empty.dataDir);
    const { page, complaints, close } = await dashboard.open(`${url}/overview`);
    const told: Record<string, string> = {};
    for (const path of ['/overview', '/spend', '/fleet', '/jobs', '/findings', '/teams', '/sources']) {
      await page.goto(`${url}${path}`);
      await settled(page);
      expect(await page.locator('.trouble').count(), path).toBe(0);
      expect(await axeViolations(page), path).toEqual([]);
      told[path] = await page.locator('main').innerText();
    }
    expect(told['/overview']).toMatch(/Nothing to judge yet/);
    expect(told['/fleet']).toMatch(/bursar import nodes FILE/);
    expect(told['/jobs']).toMatch(/bursar import allocations FILE/);
    expect(complaints).toEqual([]);
    await close();
    await empty.remove();
  });

  it('a folder nothing was ever brought into says so once, and not that the server is gone', async () => {
    const url = await dashboard.also(join(fleet.dataDir, 'nothing'));
    const { page, close } = await dashboard.open(`${url}/overview`);
    await page.getByText('There is no data in').first().waitFor();
    await settled(page);
    // The stream of news is refused meanwhile; what it means is asked.
    await page.waitForResponse((response) => response.url().endsWith('/api/v1/status'));
    expect(await page.locator('main').innerText()).toContain('bursar import');
    expect(await page.locator('.trouble, .banner').count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    await close();
  });

  it('a moment in the address is said on every page, and can be taken off', async () => {
    const { page, close } = await dashboard.open('/spend?asOf=2026-03-02T10:00:00Z&window=2026-03-02');
    await settled(page);
    const mark = page.getByText('As of 2 Mar 2026, 10:00 UTC: what came later is left out.');
    expect(await mark.count()).toBe(1);
    await page.getByRole('link', { name: /^Jobs/ }).click();
    await settled(page);
    expect(await mark.count()).toBe(1);
    await page.getByRole('link', { name: /^Teams/ }).click();
    await settled(page);
    expect(await page.getByText('This page is as it is now, and not as of 2 Mar 2026, 10:00 UTC.').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'see the newest' }).click();
    await page.waitForURL((address) => !address.searchParams.has('asOf'));
    expect(await page.getByText(/as of 2 Mar/i).count()).toBe(0);
    await close();
  });

  it('a filter that matches nothing keeps the filter in view', async () => {
    const { page, close } = await dashboard.open('/spend?window=2026-03-02&filter=cluster%3Da%2Cteam%3Dnobody');
    await settled(page);
    expect(await page.locator('main').innerText()).toMatch(/take a filter off/);
    expect(await page.getByText('team: nobody').count()).toBe(1);
    await close();
  });

  it('a window that is none is said once, and not by every part of the page', async () => {
    const { page, close } = await dashboard.open('/overview?window=abc');
    await page.locator('.trouble').first().waitFor();
    await settled(page);
    expect(await page.locator('.trouble').count()).toBe(1);
    expect(await page.locator('main').innerText()).toContain('"abc" is not a window');
    expect(await axeViolations(page)).toEqual([]);
    await close();
  });

  it('a part that fails says what and offers another try; the rest stays', async () => {
    const { page, close } = await dashboard.open('/sources');
    const failed = { title: 'cannot answer', detail: 'the rows could not be read', hint: 'bursar doctor says more' };
    let isMended = false;
    await page.route('**/api/v1/waste*', (route) =>
      isMended
        ? route.continue()
        : route.fulfill({ status: 500, json: failed, contentType: 'application/problem+json' }),
    );
    await page.goto(`${dashboard.url}/overview?window=2026-03-02`);
    await page.getByText('the rows could not be read').waitFor();
    await settled(page);
    expect(await page.getByText('bursar doctor says more').count()).toBe(1);
    expect(await page.locator('.verdict').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    // News of the ledger ask again by themselves, and the button goes while they do: what was wrong is mended by the press, not before it.
    await page.exposeFunction('mend', () => {
      isMended = true;
    });
    await page.evaluate("document.addEventListener('click', () => mend())");
    await page.getByRole('button', { name: 'try again' }).click();
    await page.locator('table.waterfall').waitFor();
    await close();
  });

  it('a silent source stands over every page and beside its name', async () => {
    const { page, close } = await dashboard.open('/sources');
    await page.route('**/api/v1/status', async (route) => {
      const status = (await (await route.fetch()).json()) as object;
      const sources = { total: 3, wrong: 1, attention: 0, silentSince: '2026-03-02T04:10:00Z' };
      await route.fulfill({ json: { ...status, sources } });
    });
    await page.goto(`${dashboard.url}/jobs?window=2026-03-02`);
    await settled(page);
    expect(await page.getByText('1 of 3 sources is silent since 2 Mar, 04:10 UTC').count()).toBe(1);
    expect((await page.locator('nav .count.alert').innerText()).trim()).toBe('1');
    expect(await axeViolations(page)).toEqual([]);
    await close();
  });

  it('a month without facts has no sums and no shares', async () => {
    const { page, close } = await dashboard.open('/teams?month=2027-01');
    await settled(page);
    expect(await page.locator('.verdict').innerText()).toBe(
      'Nothing is known of January 2027: the ledger has no day of it.',
    );
    await page.goto(`${dashboard.url}/findings?window=2027-01`);
    await settled(page);
    expect(await page.locator('.checks').innerText()).not.toMatch(/\$0|no GPU was held/);
    await close();
  });

  it('what has no price is told so, and sums are at least', async () => {
    const { page, close } = await dashboard.open('/spend?window=2026-03-02&by=cluster');
    await settled(page);
    expect(await page.locator('#paid-title').innerText()).toMatch(/≥ \$/);
    await page.goto(`${dashboard.url}/fleet?window=2026-03-02&view=table`);
    await settled(page);
    const odd = page.locator('tbody tr', { hasText: 'Zorg' });
    expect(await odd.innerText()).toMatch(/no price/);
    await close();
  });

  it('days before the first fact have no money, and are not told as $0', async () => {
    const { page, close } = await dashboard.open('/spend?window=2026-02-27%2F2026-03-03&view=table');
    await settled(page);
    const rows = await page.getByRole('group', { name: 'Paid by step and team' }).locator('tbody tr').allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, ' ').trim()).slice(0, 2)).toEqual([
      '27 Feb – – – – – –',
      '28 Feb – – – – – –',
    ]);
    expect(rows.at(-1)).toMatch(/^2 Mar \(estimated\)\s+\$/);
    await close();
  });

  it('figures of the question before are marked as such until the new ones are there', async () => {
    const { page, close } = await dashboard.open('/spend?window=2026-03-02');
    await settled(page);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/v1/spend/breakdown?*7d*', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Window, UTC').selectOption('7d');
    await page.locator('main[data-before]').waitFor();
    expect(await page.locator('.before-line').innerText()).toMatch(/question before/);
    // The control names the new window, and no days of the old one.
    expect(await page.getByLabel('Window, UTC').locator('option:checked').innerText()).toBe('7 days');
    release();
    await settled(page);
    expect(await page.locator('[data-before]').count()).toBe(0);
    await close();
  });
});
