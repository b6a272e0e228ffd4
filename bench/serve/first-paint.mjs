/** How long a person waits for the overview in a real browser that has never seen it. */
import { withBrowser } from './browser.mjs';

/** @typedef {{ paintMs: number, figuresMs: number }} Opening from the click to the first thing painted, and to the figures of the page */

/**
 * @param {string} url @param {number} times each in a browser profile of its own, so that nothing is kept
 * @returns {Promise<Opening[]>}
 */
export function openings(url, times) {
  return withBrowser(async (browser) => {
    /** @type {Opening[]} */
    const found = [];
    for (let time = 0; time < times; time++) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } });
      const page = await context.newPage();
      await page.goto(`${url}/overview`);
      await page.locator('.verdict').waitFor({ timeout: 120_000 });
      // As text: it runs in the page, and knows what only a page has.
      const figuresMs = Number(await page.evaluate('performance.now()'));
      const paintMs = Number(
        await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`),
      );
      found.push({ paintMs, figuresMs });
      await context.close();
    }
    return found;
  });
}
