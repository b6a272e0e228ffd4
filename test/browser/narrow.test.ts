import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { axeViolations, hasBrowser, overlaps, settled } from './browser.ts';
import { demoFolder, openDashboard } from './dashboard.ts';
import type { Dashboard } from './dashboard.ts';

const TABLET = { width: 1024, height: 768 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(!hasBrowser)('a page with little room', () => {
  let dashboard: Dashboard;
  let removeDemo: () => Promise<void>;
  beforeAll(async () => {
    const demo = await demoFolder();
    removeDemo = demo.remove;
    dashboard = await openDashboard(demo.dataDir);
  }, 300_000);
  afterAll(async () => {
    await dashboard.close();
    await removeDemo();
  });

  it.each([
    ['/findings', TABLET, 'Findings, safest first, then money', 'Saves'],
    ['/jobs', TABLET, 'Jobs that held GPUs', 'Paid'],
    ['/overview', PHONE, 'Where each dollar went', 'can be saved'],
    ['/overview', PHONE, 'Findings to do first', 'Saves'],
    ['/findings', PHONE, 'Findings, safest first, then money', 'Saves'],
    ['/findings/F-1', PHONE, 'Rows that add up to the finding', 'USD'],
    ['/jobs', PHONE, 'Jobs that held GPUs', 'Paid'],
    ['/teams?month=2026-10', PHONE, 'What each team paid in October 2026', 'Paid'],
    ['/teams/nlp?month=2026-10', PHONE, 'What it was spent on', 'USD'],
  ])('%s on %o has all of "%s" in view, with its %s', async (path, viewport, table, money) => {
    const { page, close } = await dashboard.open(path, { viewport });
    await settled(page);
    const room = page.getByRole('group', { name: table });
    expect(await room.locator('thead').innerText()).toContain(money);
    expect(await hidden(page, table)).toBe(0);
    expect(await overlaps(page)).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await close();
  });

  it.each(['/spend', '/teams', '/teams/nlp?month=2026-10', '/jobs', '/fleet', '/findings', '/sources'])(
    '%s on a phone says that it is made up, and so does its sheet of paper',
    async (path) => {
      const { page, close } = await dashboard.open(path, { viewport: PHONE });
      await settled(page);
      const mark = page.getByText('DEMO: a made-up fleet');
      expect(await mark.isVisible()).toBe(true);
      await page.emulateMedia({ media: 'print' });
      expect(await mark.isVisible()).toBe(true);
      await close();
    },
  );

  it('a receipt that leaves the page says on each line that it is made up', async () => {
    const { page, close } = await dashboard.open('/jobs');
    await settled(page);
    await page.locator('tbody a').first().click();
    await settled(page);
    const text = await page.locator('aside pre').innerText();
    expect(text.split('\n').filter((line) => !line.startsWith('DEMO  '))).toEqual([]);
    await close();
  });
});

/** As many pixels of a table as one has to scroll for. */
async function hidden(page: Page, table: string): Promise<number> {
  return page.getByRole('group', { name: table }).evaluate((room) => room.scrollWidth - room.clientWidth);
}
