/**
 * What a person clicks through, page by page. What a page asks is not written down here: it is opened in a browser once, in each window, and
 * its questions are listened to, so that the walk asks what people's browsers ask.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { withBrowser } from './browser.mjs';

/**
 * @typedef {{ job: string, device: string, team: string, finding: string }} Names what is in the ledger
 * @typedef {{ page: string, window: string, asks: readonly string[] }} Step the questions a page asks when it is opened
 */

/** @param {string} text */
const word = (text) => encodeURIComponent(text);

/** @type {readonly { page: string, address: (names: Names) => string }[]} */
const PAGES = [
  { page: 'overview', address: () => '/overview' },
  { page: 'spend', address: () => '/spend' },
  { page: 'spend, one team', address: ({ team }) => `/spend?by=project&team=${word(team)}` },
  { page: 'why', address: ({ team }) => `/spend?why=${word(`team=${team}`)}` },
  { page: 'fleet', address: () => '/fleet' },
  { page: 'a GPU', address: ({ device }) => `/fleet?gpu=${word(device)}` },
  { page: 'jobs', address: () => '/jobs' },
  { page: 'a job', address: ({ job }) => `/jobs/${word(job)}` },
  { page: 'findings', address: () => '/findings' },
  { page: 'a finding', address: ({ finding }) => `/findings/${word(finding)}` },
  { page: 'teams', address: () => '/teams' },
  { page: 'a team', address: ({ team }) => `/teams/${word(team)}` },
  { page: 'sources', address: () => '/sources' },
];
/** What is asked by programs: walls and panels. */
const PROGRAMS = [
  { page: 'OpenCost panel', asks: ['/allocation?window=7d&aggregate=namespace'] },
  { page: 'wall', asks: ['/api/v1/gauges'] },
];

/** Windows people choose: most stay with the one that is there. */
export const WINDOWS = ['30d', '30d', '30d', '7d', '90d'];

/** A page is there when nothing has been asked for so long and everything is answered. */
const QUIET_MS = 300;
const PAGE_MS_MAX = 180_000;

/**
 * Opens every page in every window, one after the other: the first person of the day.
 * @param {string} url @param {Names} names
 * @returns {Promise<{ steps: Step[], first: Map<string, number> }>} and how long the slowest answer of each page took then
 */
export async function openedOnce(url, names) {
  return withBrowser(async (browser) => {
    /** @type {Step[]} */
    const steps = [];
    /** @type {Map<string, number>} */
    const first = new Map();
    for (const window of new Set(WINDOWS)) {
      for (const { page, address } of PAGES) {
        const tab = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
        const heard = await questionsOf(tab, `${url}${withWindow(address(names), window)}`);
        await tab.close();
        steps.push({ page, window, asks: heard.map(({ path }) => path) });
        const slowest = heard.reduce((a, b) => (b.ms > a.ms ? b : a));
        console.error(
          `${window} ${page}: ${heard.length} questions, the slowest ${Math.round(slowest.ms)} ms: ${slowest.path}`,
        );
        if (!first.has(page)) first.set(page, slowest.ms);
      }
      for (const { page, asks } of PROGRAMS) steps.push({ page, window, asks });
    }
    return { steps, first };
  });
}

const CHECK_MS_MAX = 600_000;
const ASK_AGAIN_MS = 1000;

/**
 * A long ledger is added up step by step, and its page asks until all of it is: so does this.
 * @param {string} url @returns {Promise<number>} seconds until the ledger was checked
 */
export async function checkedWhole(url) {
  const begun = performance.now();
  while (performance.now() - begun < CHECK_MS_MAX) {
    const reply = await fetch(`${url}/api/v1/ledger/check`);
    await reply.arrayBuffer();
    if (reply.status !== 503) return (performance.now() - begun) / 1000;
    await delay(ASK_AGAIN_MS);
  }
  throw new Error(`the ledger was not checked after ${CHECK_MS_MAX} ms`);
}

/** @param {string} address @param {string} window */
const withWindow = (address, window) => `${address}${address.includes('?') ? '&' : '?'}window=${window}`;

/**
 * @param {import('playwright-core').Page} tab @param {string} address
 * @returns {Promise<{ path: string, ms: number }[]>} every question the page asks, and how long it waited for it
 */
async function questionsOf(tab, address) {
  /** @type {Map<import('playwright-core').Request, number>} */
  const open = new Map();
  /** @type {{ path: string, ms: number }[]} */
  const heard = [];
  let lastAt = performance.now();
  tab.on('request', (asked) => {
    const { pathname } = new URL(asked.url());
    if (!pathname.startsWith('/api/v1/') || pathname.endsWith('/events')) return;
    open.set(asked, performance.now());
    lastAt = performance.now();
  });
  const ended = (/** @type {import('playwright-core').Request} */ asked) => {
    const began = open.get(asked);
    if (began === undefined) return;
    open.delete(asked);
    lastAt = performance.now();
    const { pathname, search } = new URL(asked.url());
    heard.push({ path: `${pathname}${search}`, ms: lastAt - began });
  };
  tab.on('requestfinished', ended);
  tab.on('requestfailed', ended);
  await tab.goto(address);
  const begun = performance.now();
  while (open.size > 0 || heard.length === 0 || performance.now() - lastAt < QUIET_MS) {
    if (performance.now() - begun > PAGE_MS_MAX) throw new Error(`${address} was not there after ${PAGE_MS_MAX} ms`);
    await delay(20);
  }
  return heard;
}

/** @param {string} url @returns {Promise<Names>} things the walk can open, the dearest of each */
export async function namesIn(url) {
  const dearest = async (/** @type {string} */ dimension) => {
    const reply = await fetch(`${url}/api/v1/spend?window=1d&by=${dimension}`);
    const { rows } = /** @type {{ rows: Record<string, string | null>[] }} */ (await reply.json());
    return rows.map((row) => row[dimension]).find((name) => typeof name === 'string') ?? '';
  };
  const [job, device, team] = await Promise.all(['job', 'device', 'team'].map(dearest));
  return { job: job ?? '', device: device ?? '', team: team ?? '', finding: 'F-1' };
}
