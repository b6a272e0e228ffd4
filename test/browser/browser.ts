import axe from 'axe-core';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { labPart } from '../lab.ts';

/** Tests say `describe.skipIf(!hasBrowser)`; what is missing is said once, with the command that installs it. */
export const hasBrowser = labPart('chromium').installed;

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A page of which every error counts: what the console complains of fails the test that asks `complaints`. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: readonly string[];
  readonly close: () => Promise<void>;
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  watchQuestions(page);
  return { page, complaints, close: () => context.close() };
}

/** Questions of each page that have no answer yet. The stream of events, which never ends, is none. */
const unanswered = new WeakMap<Page, Set<Request>>();

function watchQuestions(page: Page): void {
  const asked = new Set<Request>();
  unanswered.set(page, asked);
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/v1/') && pathname !== '/api/v1/events') asked.add(request);
  });
  page.on('requestfinished', (request) => asked.delete(request));
  page.on('requestfailed', (request) => asked.delete(request));
}

/** Everything is read and drawn: no question is under way, and no part of the page says that it is busy. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await expect.poll(() => isQuiet(page), { timeout: 30_000, interval: 50 }).toBe(true);
}

/** Looked at twice, two frames apart: what an answer brings to the page may ask again. */
async function isQuiet(page: Page): Promise<boolean> {
  const isBusy = async () =>
    (unanswered.get(page)?.size ?? 0) > 0 || (await page.locator('[aria-busy="true"], .loading').count()) > 0;
  if (await isBusy()) return false;
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return !(await isBusy());
}

/** What axe finds wrong, one line each. Evaluated by the debugger, which no content security policy stops. */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async (only) => {
    const { axe: here } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await here.run(only === undefined ? {} : { runOnly: { type: 'rule', values: only } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200) ?? ''}`);
  }, rules);
}

/** Texts that cover each other, in charts and on the page, and cells wider than their column. */
export async function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    interface Text {
      readonly words: string;
      readonly box: DOMRect;
    }
    const found: string[] = [];
    const compare = (texts: readonly Text[]): void => {
      // From top to bottom: a text is compared with those that begin before it ends.
      const sorted = texts.toSorted((a, b) => a.box.top - b.box.top);
      for (const [place, { words, box }] of sorted.entries()) {
        for (const other of sorted.slice(place + 1)) {
          if (other.box.top >= box.bottom - 2) break;
          const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
          if (wide > 1) found.push(`"${words.slice(0, 60)}" and "${other.words.slice(0, 60)}"`);
        }
      }
    };
    for (const chart of document.querySelectorAll('svg')) {
      const texts = [...chart.querySelectorAll('text')].map((text) => ({
        words: text.textContent ?? '',
        box: text.getBoundingClientRect(),
      }));
      compare(texts.filter(({ words, box }) => words.trim() !== '' && box.width > 0));
    }
    // Each line of each text of the page; what is read only, cut off by its own box or behind a dialog is not seen.
    const isSeen = (element: Element): boolean =>
      element.closest(
        'svg, .unseen, dialog:not([open]), select, option, [aria-hidden="true"], .scroll, .heat-region',
      ) === null;
    const hasDialog = document.querySelector('dialog[open]') !== null;
    const walker = document.createTreeWalker(document.querySelector('.frame') ?? document.body, NodeFilter.SHOW_TEXT);
    const lines: Text[] = [];
    for (let node = hasDialog ? null : walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      const words = node.textContent?.trim() ?? '';
      if (element === null || words === '' || !isSeen(element) || !element.checkVisibility()) continue;
      if (getComputedStyle(element).overflow === 'hidden') continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) if (box.width > 1 && box.height > 1) lines.push({ words, box });
    }
    // Line boxes are taller than their letters: two lines of one paragraph touch.
    compare(lines.map(({ words, box }) => ({ words, box: new DOMRect(box.x, box.y + 3, box.width, box.height - 6) })));
    for (const cell of document.querySelectorAll('td, th')) {
      if (cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).overflow === 'visible')
        found.push(`"${cell.textContent ?? ''}" is wider than its column`);
    }
    return found;
  });
}
