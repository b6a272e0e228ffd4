/** A real browser for the benchmarks of the server. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/**
 * @template Result @param {(browser: import('playwright-core').Browser) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function withBrowser(work) {
  if (!existsSync(CHROMIUM)) throw new Error(`no browser at ${CHROMIUM}: lab/install chromium, or say CHROMIUM=PATH`);
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}
