/** Script time of a frame while the map of GPUs is panned, in a real browser. Every frame scrolls the map, and every fourth moves the cursor too. */
import { withBrowser } from './browser.mjs';

const FRAMES = 240;
const SCROLL_PX = 120;

/**
 * @param {string} url @param {string} window @param {string} [step]
 * @returns {Promise<{ shown: string, perFrameMs: number }>} what the page says it shows, and the script time of a frame
 */
export function panned(url, window, step) {
  return withBrowser(async (browser) => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
    await page.goto(`${url}/fleet?window=${window}${step === undefined ? '' : `&step=${step}`}`);
    await page.waitForSelector('canvas.heat', { timeout: 120_000 });
    await page.locator('.verdict', { hasText: 'GPU' }).waitFor({ timeout: 120_000 });
    const shown = await page.locator('.verdict').innerText();
    const client = await page.context().newCDPSession(page);
    await client.send('Performance.enable');
    const scriptSeconds = async () => {
      const { metrics } = await client.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0;
    };
    const before = await scriptSeconds();
    // As text: it runs in the page, and knows what only a page has.
    await page.evaluate(`(async () => {
      const region = document.querySelector('.heat-region') ?? document.scrollingElement;
      let direction = 1;
      for (let frame = 0; frame < ${FRAMES}; frame += 1) {
        const next = region.scrollTop + ${SCROLL_PX} * direction;
        if (next < 0 || next > region.scrollHeight - region.clientHeight) direction = -direction;
        region.scrollTop += ${SCROLL_PX} * direction;
        if (frame % 4 === 0) dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
        await new Promise((done) => requestAnimationFrame(done));
      }
    })()`);
    return { shown, perFrameMs: (((await scriptSeconds()) - before) * 1000) / FRAMES };
  });
}
