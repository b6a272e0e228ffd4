import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { createToken } from '../../src/app/serve/tokens.ts';
import { fleetFolder } from '../fleet-folder.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { IDLE_FLEET } from '../idle-fleet.ts';
import { axeViolations, hasBrowser, overlaps, settled } from './browser.ts';
import { openDashboard } from './dashboard.ts';
import type { Dashboard } from './dashboard.ts';

describe.skipIf(!hasBrowser)('people', () => {
  let fleet: FleetFolder;
  let dashboard: Dashboard;
  /** A server that wants a token of everybody. */
  let guarded: string;
  let teamToken: string;
  let viewerToken: string;
  beforeAll(async () => {
    fleet = await fleetFolder(IDLE_FLEET);
    const now = new Date();
    const token = async (options: { name: string; role: 'viewer' | 'operator'; team?: string }): Promise<string> =>
      (await createToken(fleet.dataDir, options, now)).token;
    teamToken = await token({ name: 'lead', role: 'operator', team: 'nlp' });
    viewerToken = await token({ name: 'guest', role: 'viewer' });
    dashboard = await openDashboard(fleet.dataDir);
    guarded = await dashboard.also(fleet.dataDir, { needsToken: true });
  }, 300_000);
  afterAll(async () => {
    await dashboard.close();
    await fleet.remove();
  });

  const signIn = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it('sign in where the server wants a token, and come to what the address says', async () => {
    const { page, close } = await dashboard.open(`${guarded}/jobs`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await signIn(page, 'bsr_wrong');
    await page.getByRole('alert').waitFor();
    await signIn(page, viewerToken);
    await page.getByRole('navigation').waitFor();
    await settled(page);
    expect(await page.locator('h1').innerText()).toBe('Jobs');
    expect(await page.getByText('guest, viewer').count()).toBe(1);
    await close();
  });

  it('of one team are told what is not theirs, and meet no refusal', async () => {
    const { page, complaints, close } = await dashboard.open(`${guarded}/overview`);
    await signIn(page, teamToken);
    await page.getByRole('navigation').waitFor();
    await settled(page);
    const before = complaints.length;
    const visited: Record<string, string> = {};
    for (const path of ['/overview', '/spend', '/fleet', '/jobs', '/findings', '/teams', '/teams/nlp', '/sources']) {
      await page.goto(`${guarded}${path}`);
      await settled(page);
      expect(await page.locator('.trouble, .banner.bad').count(), path).toBe(0);
      expect(await axeViolations(page), path).toEqual([]);
      visited[path] = await page.locator('main').innerText();
    }
    expect(visited['/fleet']).toMatch(/not yours to see/);
    expect(visited['/sources']).toMatch(/not yours to see/);
    expect(visited['/overview']).not.toMatch(/Cost per outcome/);
    expect(complaints.slice(before)).toEqual([]);
    await close();
  });

  it('who may only look see why they cannot decide', async () => {
    const { page, close } = await dashboard.open(`${guarded}/findings`);
    await signIn(page, viewerToken);
    await page.getByRole('navigation').waitFor();
    await settled(page);
    await page.keyboard.press('j');
    expect(await page.getByRole('button', { name: /^Accept/ }).isDisabled()).toBe(true);
    expect(await page.getByText('guest may look and not decide').count()).toBe(1);
    // Nor by key: nothing is sent.
    await page.keyboard.press('x');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await close();
  });

  it('set a finding aside in a dialog, in the window they look at, and take it back', async () => {
    const { page, complaints, close } = await dashboard.open('/findings?window=7d');
    await settled(page);
    await page.keyboard.press('j');
    const id = await page.locator('tr.chosen td').first().innerText();
    await page.keyboard.press('d');
    await page.locator('dialog[open]').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(await overlaps(page)).toEqual([]);
    await page.getByLabel('Why, for whoever reads this later').fill('warm standby');
    const sent = page.waitForRequest((request) => request.url().endsWith('/dismiss'));
    await page.getByRole('button', { name: 'Dismiss', exact: true }).click();
    expect((await sent).postDataJSON()).toMatchObject({ window: '7d', seen: 'open' });
    await page.getByText(`${id} is dismissed.`).waitFor();
    await page.getByRole('button', { name: 'undo' }).click();
    await page.getByText(`${id} is open.`).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('copy on a page that has no clipboard, and see it where nothing can be copied', async () => {
    const { page, close } = await dashboard.open('/spend');
    await settled(page);
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
      document.execCommand = () => true;
    });
    await page.keyboard.press('.');
    await page.getByText('Copied: bursar spend').waitFor();
    await page.evaluate(() => {
      document.execCommand = () => false;
    });
    await page.keyboard.press('y');
    await page.getByText('The browser does not let this page copy').waitFor();
    expect(await page.locator('.copy-note textarea').inputValue()).toBe(page.url());
    expect(await axeViolations(page)).toEqual([]);
    await close();
  });
});
