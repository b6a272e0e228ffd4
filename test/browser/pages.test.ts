import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { axeViolations, hasBrowser, overlaps, settled } from './browser.ts';
import { demoFolder, openDashboard } from './dashboard.ts';
import type { Dashboard } from './dashboard.ts';

/** A job, a GPU and what the figures of the fleet are of, as the demo has them. */
interface Named {
  readonly job: string;
  readonly gpu: string;
}

const PATHS: readonly ((named: Named) => string)[] = [
  () => '/overview',
  () => '/overview?view=table&window=2d',
  () => '/overview?why=verdict',
  () => '/spend',
  () => '/spend?view=table&why=category%3Didle',
  () => '/fleet',
  ({ gpu }) => `/fleet?view=table&hours=table&gpu=${gpu}`,
  () => '/jobs',
  ({ job }) => `/jobs/${job}`,
  ({ job }) => `/jobs/${job}?view=table`,
  () => '/findings',
  () => '/findings/F-1',
  () => '/findings/F-2?view=table',
  () => '/teams',
  () => '/teams/nlp?month=2026-10',
  () => '/unattributed?month=2026-10',
  () => '/sources',
];

describe.skipIf(!hasBrowser)('the pages on the demo, in a real browser', () => {
  let dashboard: Dashboard;
  let removeDemo: () => Promise<void>;
  let named: Named;
  beforeAll(async () => {
    const demo = await demoFolder();
    removeDemo = demo.remove;
    dashboard = await openDashboard(demo.dataDir);
    const jobs = await asked<{ rows: { source: string; allocationId: string }[] }>('/jobs');
    const fleet = await asked<{ groups: { nodes: { devices: { deviceId: string }[] }[] }[] }>('/fleet');
    const [job] = jobs.rows;
    const gpu = fleet.groups[0]?.nodes[0]?.devices[0]?.deviceId ?? '';
    named = {
      job: encodeURIComponent(`${job?.source ?? ''}/${job?.allocationId ?? ''}`),
      gpu: encodeURIComponent(gpu),
    };
  }, 300_000);
  afterAll(async () => {
    await dashboard.close();
    await removeDemo();
  });

  it('every page has no accessibility violation, no complaint and no text over another, light and dark', async () => {
    const { page, complaints, close } = await dashboard.open('/overview');
    const found: Record<string, string[]> = {};
    for (const path of PATHS.map((of) => of(named))) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`${dashboard.url}${path}`);
      await settled(page);
      expect(await page.locator('h1').count(), path).toBe(1);
      expect(await page.locator('.trouble').count(), path).toBe(0);
      const wrong = [...(await axeViolations(page)), ...(await overlaps(page))];
      // Colours are all that the other theme changes.
      await page.emulateMedia({ colorScheme: 'dark' });
      wrong.push(...(await axeViolations(page, ['color-contrast'])).map((each) => `dark: ${each}`));
      if (wrong.length > 0) found[path] = wrong;
    }
    expect(found).toEqual({});
    expect(complaints).toEqual([]);
    await close();
  }, 180_000);

  it('a text over another is found, so that the check above means something', async () => {
    const { page, close } = await dashboard.open('/teams?month=2026-10');
    await settled(page);
    expect(await overlaps(page)).toEqual([]);
    await page.evaluate(() => {
      const [over, under] = [document.querySelector('.nav-foot p'), document.querySelector('.nav-foot p + p')];
      if (over !== null && under !== null) under.append(over.cloneNode(true));
      document.styleSheets[0]?.insertRule('.nav-foot p p { position: absolute; margin-top: -1.2em; }');
    });
    expect((await overlaps(page)).join()).toContain('and "Made-up data"');
    await close();
  });

  it('leads by keyboard from a figure of the overview to the rows behind it, which add up', async () => {
    const { page, close } = await dashboard.open('/overview');
    await settled(page);
    // Down to the row of what was idle, and why.
    const rows = await page.locator('table.waterfall tbody tr').allInnerTexts();
    const place = rows.findIndex((row) => row.startsWith('Idle'));
    for (let step = 0; step <= place; step += 1) await page.keyboard.press('j');
    const figure = page.locator('tr.chosen .figure');
    const amount = await figure.innerText();
    await page.keyboard.press('w');
    const panel = page.locator('.panel');
    await panel.waitFor();
    await settled(page);
    expect(page.url()).toContain('why=category%3Didle');
    expect(await panel.getByRole('heading', { name: `Why ${amount}?` }).count()).toBe(1);
    expect(await panel.innerText()).toMatch(/difference \$0/i);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    // And on to the page that divides it: Enter is of the row again once one has moved.
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/spend\?.*filter=category%3Didle/);
    await settled(page);
    expect(await page.locator('#paid-title').innerText()).toContain(amount);
    await close();
  });

  it('why on the fleet takes the figure of the page apart, also with a team in the address', async () => {
    const { page, close } = await dashboard.open('/fleet?team=nlp');
    await settled(page);
    const figure = page.locator('.verdict .figure').first();
    const amount = await figure.innerText();
    await figure.click();
    await page.locator('.panel').waitFor();
    await settled(page);
    expect(await page.locator('.panel h2').first().innerText()).toBe(`Why ${amount}?`);
    await close();
  });

  it.each([
    '/spend?window=2026-10-30%2F2026-11-01&by=class&step=1d',
    '/findings?category=idle',
    '/fleet?measure=memory&zoom=4&pan=6',
    '/teams/nlp?month=2026-10&view=table',
  ])('shows the same when the link %s is opened again', async (path) => {
    const first = await dashboard.open(path);
    await settled(first.page);
    const [shown, address] = [await first.page.locator('main').innerText(), first.page.url()];
    await first.page.goto('about:blank');
    await first.page.goto(address);
    await settled(first.page);
    expect(await first.page.locator('main').innerText()).toBe(shown);
    await first.close();
  });

  it('can be used with the keyboard alone', async () => {
    const { page, close } = await dashboard.open('/overview');
    await settled(page);
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.waitForURL(/\/findings/);
    await settled(page);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await page.locator('tr.chosen').count()).toBe(1);
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/findings\/F-\d+/);
    await settled(page);
    await page.keyboard.press('?');
    expect(await page.locator('dialog[open]').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/findings(\?|$)/);
    await settled(page);
    await page.keyboard.press('[');
    await expect.poll(() => page.url(), { timeout: 20_000 }).toContain('window=');
    await close();
  });

  it('accepts a finding by key, and the command sees it', async () => {
    const { page, close } = await dashboard.open('/findings');
    await settled(page);
    await page.keyboard.press('j');
    const id = await page.locator('tr.chosen td').first().innerText();
    await page.keyboard.press('a');
    const stateOf = async (): Promise<string> =>
      (await asked<{ record: { state: string } }>(`/findings/${id}`)).record.state;
    await expect.poll(stateOf, { timeout: 20_000 }).toBe('accepted');
    await close();
  });

  it('a finding without a fix has nothing to copy', async () => {
    const { page, close } = await dashboard.open('/sources');
    await page.route('**/api/v1/findings?*', async (route) => {
      const reply = (await (await route.fetch()).json()) as { findings: object[] };
      const findings = reply.findings.map((finding, place) => ({ ...finding, fix: place === 0 ? [] : ['scancel 1'] }));
      await route.fulfill({ json: { ...reply, findings } });
    });
    await page.goto(`${dashboard.url}/findings`);
    await settled(page);
    const keys = page.locator('footer.keys > span');
    await page.keyboard.press('j');
    expect(await keys.allInnerTexts()).not.toContain('c\ncopy fix');
    await page.keyboard.press('c');
    expect(await page.locator('.copy-note').innerText()).toBe('');
    await page.keyboard.press('j');
    expect(await keys.allInnerTexts()).toContain('c\ncopy fix');
    await close();
  });

  it('a finding that has no number yet is new, cannot be opened, and says why', async () => {
    const { page, close } = await dashboard.open('/sources');
    await page.route('**/api/v1/findings?*', async (route) => {
      const reply = (await (await route.fetch()).json()) as { findings: object[] };
      const findings = reply.findings.map((finding, place) => (place === 0 ? { ...finding, id: null } : finding));
      await route.fulfill({ json: { ...reply, findings } });
    });
    await page.goto(`${dashboard.url}/findings`);
    await settled(page);
    await page.keyboard.press('j');
    expect(await page.locator('tr.chosen td').first().innerText()).toBe('new');
    expect(await page.locator('.triage').innerText()).toContain('a look at the last 30 days gives it one');
    await page.keyboard.press('Enter');
    await page.keyboard.press('a');
    expect(new URL(page.url()).pathname).toBe('/findings');
    expect(await axeViolations(page)).toEqual([]);
    await close();
  });

  it('says in how many days with facts its findings can save', async () => {
    const { page, close } = await dashboard.open('/findings?window=30d');
    await settled(page);
    expect(await page.locator('.verdict').innerText()).toContain(' in 4 days');
    await close();
  });

  it('a finding that was asked for by category has as many rows in its file as on the page', async () => {
    const { page, close } = await dashboard.open('/findings?category=idle&rows=all');
    await settled(page);
    const rows = await page.locator('table.findings tbody tr').count();
    const href = await page.getByRole('link', { name: 'CSV' }).first().getAttribute('href');
    const file = await (await fetch(`${dashboard.url}${href ?? ''}`)).text();
    expect(file.trimEnd().split('\n')).toHaveLength(rows + 1);
    await close();
  });

  it('the sentence over the findings counts as the navigation beside it', async () => {
    const { page, close } = await dashboard.open('/findings');
    await settled(page);
    const count = (await page.locator('nav .count').innerText()).trim();
    expect(await page.locator('.verdict').innerText()).toMatch(
      new RegExp(`^${count} findings( and [0-9]+ small ones?)? can save`),
    );
    await close();
  });

  it('offers no command beside figures that none has, and says where one has more', async () => {
    const { page, close } = await dashboard.open('/teams/nlp?month=2026-10');
    await settled(page);
    const part = (title: string) => page.locator('section').filter({ has: page.getByRole('heading', { name: title }) });
    expect(await part('By month').getByRole('button').allInnerTexts()).toEqual(['CSV']);
    expect(await part('By month').locator('.sub').innerText()).not.toContain('bar');
    expect(await part('Cost per outcome').getByRole('button').allInnerTexts()).toEqual(['command, of all teams']);
    await close();
  });

  it('moves by j from one table of the overview into the next, where enter opens what is to do first', async () => {
    const { page, close } = await dashboard.open('/overview');
    await settled(page);
    const steps = await page.locator('table.waterfall tbody tr').count();
    for (let step = 0; step <= steps; step += 1) await page.keyboard.press('j');
    const chosen = page.locator('tr.chosen');
    expect(await chosen.count()).toBe(1);
    const id = await chosen.locator('td').first().innerText();
    await page.keyboard.press('k');
    expect(await page.locator('table.waterfall tr.chosen').innerText()).toMatch(/^Computed/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/findings/${id}`));
    await close();
  });

  it('every page copies its own command', async () => {
    const { page, close } = await dashboard.open('/overview', { permissions: ['clipboard-read', 'clipboard-write'] });
    const copied: Record<string, string> = {};
    const paths = [
      '/overview',
      '/spend',
      '/fleet',
      '/jobs',
      '/findings',
      '/findings/F-1',
      '/teams',
      '/teams/nlp',
      '/sources',
    ];
    for (const path of paths) {
      await page.goto(`${dashboard.url}${path}`);
      await settled(page);
      await page.keyboard.press('.');
      const note = page.locator('.copy-note', { hasText: 'Copied: ' });
      await note.waitFor();
      copied[path] = /Copied: (.*?)(?: --|$)/m.exec(await note.innerText())?.[1] ?? '';
    }
    expect(copied).toEqual({
      '/overview': 'bursar waste',
      '/spend': 'bursar spend',
      '/fleet': 'bursar spend',
      '/jobs': 'bursar jobs',
      '/findings': 'bursar findings',
      '/findings/F-1': 'bursar finding F-1',
      '/teams': 'bursar statement',
      '/teams/nlp': 'bursar statement',
      '/sources': 'bursar sources',
    });
    await close();
  });

  it('finds a team, a GPU and a machine from the box that promises them', async () => {
    const { page, close } = await dashboard.open('/overview');
    await settled(page);
    const find = async (word: string): Promise<void> => {
      await page.keyboard.press('/');
      await page.getByLabel('Search for a job').fill(word);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname !== '/overview');
      await settled(page);
    };
    await find('nlp');
    expect(await page.locator('h1').innerText()).toBe('nlp');
    await page.goto(`${dashboard.url}/overview`);
    await find(decodeURIComponent(named.gpu));
    expect(await page.locator('.panel h2').first().innerText()).toContain(', GPU ');
    const node = (await page.locator('.panel h2').first().innerText()).replace(/, GPU .*/, '');
    await page.goto(`${dashboard.url}/overview`);
    await find(node);
    expect(new URL(page.url()).searchParams.get('filter')).toBe(`node=${node}`);
    expect(await page.locator('.trouble').count()).toBe(0);
    await close();
  });

  it('moves the window to the newest fact and no further, and out of one without facts towards them', async () => {
    const { page, close } = await dashboard.open('/overview?window=2026-10-28%2F2026-10-30');
    await settled(page);
    await page.keyboard.press(']');
    await page.waitForURL(/window=2026-10-30%2F2026-11-01/);
    await settled(page);
    expect(await page.getByRole('button', { name: 'Window after' }).isDisabled()).toBe(true);
    await page.keyboard.press(']');
    await page.keyboard.press('[');
    await page.waitForURL(/window=2026-10-28%2F2026-10-30/);
    await page.goto(`${dashboard.url}/overview?window=2026-10-20%2F2026-10-22`);
    await settled(page);
    expect(await page.locator('.verdict').innerText()).toContain('press ] for the window after');
    await page.goto(`${dashboard.url}/spend?window=2026-12-20%2F2026-12-22`);
    await settled(page);
    expect(await page.locator('.verdict').innerText()).toContain('press [ for the window before');
    await page.keyboard.press('[');
    await page.waitForURL(/window=2026-10-30%2F2026-11-01/);
    await close();
  });

  it('says of how many days of a window there are facts, and begins every sentence as one', async () => {
    const { page, close } = await dashboard.open('/overview?asOf=2026-10-30T00:00:00Z');
    await settled(page);
    const verdict = await page.locator('.verdict').innerText();
    expect(verdict).toContain('2 of 30 days have facts.');
    expect(verdict).not.toMatch(/\. [a-z]/);
    expect(await page.locator('table.waterfall thead').innerText()).toContain('2 of 30 days');
    await close();
  });

  it('says of how many days of a month there are facts, also on paper', async () => {
    const { page, close } = await dashboard.open('/teams/nlp?month=2026-10');
    await settled(page);
    expect(await page.locator('.verdict').innerText()).toContain('in October 2026 (4 of 31 days with facts)');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.statement-title').innerText()).toContain('(UTC), 4 of 31 days with facts');
    await page.emulateMedia({ media: 'screen' });
    await page.goto(`${dashboard.url}/teams?month=2026-10`);
    await settled(page);
    expect(await page.locator('main').innerText()).toContain('October 2026 (4 of 31 days with facts)');
    await close();
  });

  it('GPU-hours of teams add up to their total as shown', async () => {
    const { page, close } = await dashboard.open('/teams?month=2026-10');
    await settled(page);
    const place = (await page.locator('thead th').allInnerTexts()).indexOf('GPU-hours') + 1;
    const numbers = async (row: string): Promise<number[]> =>
      (await page.locator(`${row} td:nth-child(${place})`).allInnerTexts()).map((text) =>
        Math.round(Number(text.replaceAll(',', '')) * 10),
      );
    const parts = await numbers('tbody tr');
    expect(parts.length).toBeGreaterThan(3);
    expect([parts.reduce((sum, each) => sum + each, 0)]).toEqual(await numbers('tfoot tr'));
    await close();
  });

  it('prints a statement on one sheet of A4, light also where the page is dark', async () => {
    const { page, close } = await dashboard.open('/teams/nlp?month=2026-10', { colorScheme: 'dark' });
    await settled(page);
    await page.emulateMedia({ media: 'print' });
    expect(await inkOf(page)).toBe('rgb(22, 25, 29)');
    const pdf = (await page.pdf({ format: 'A4', preferCSSPageSize: true })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    await close();
  });

  async function asked<Reply>(path: string): Promise<Reply> {
    return (await (await fetch(`${dashboard.url}/api/v1${path}`)).json()) as Reply;
  }
});

/** The colour of what is written. */
async function inkOf(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).color);
}
