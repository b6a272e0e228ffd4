import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FirstLookWords } from '../src/report/first-look-lines.ts';
import { lookPage } from '../src/report/look-page.ts';
import type { LookPage } from '../src/report/look-page.ts';
import type { CategorySum, LookAnswer } from '../src/report/look-screen.ts';

const HOUR = 63_000n * 3600n;
const sum = (usd: bigint, hours: bigint, unpriced = 0n): CategorySum => ({
  usdMicros: usd * 1_000_000n,
  gpuUnits: hours * HOUR,
  unpricedUnits: unpriced * HOUR,
});

/** What somebody may have called a node, a model or a folder. */
const EVIL = `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'">\u001b[31m\u202e`;

const answer: LookAnswer = {
  asOf: new Date('2026-11-16T12:00:00Z'),
  asOfBy: 'clock',
  window: {
    asked: '7d',
    from: new Date('2026-11-10T00:00:00Z'),
    until: new Date('2026-11-17T00:00:00Z'),
    ledgerDays: 7,
  },
  ledger: { first: '2026-11-10', last: '2026-11-16' },
  paidUsdMicros: 96_800_000_000n,
  categories: {
    computing: sum(41_300n, 12_000n),
    idle: sum(22_900n, 6_600n),
    unallocated: sum(11_200n, 3_300n),
    starved: sum(0n, 0n),
    lost: sum(0n, 0n),
    stranded: sum(5_400n, 1_500n),
    unknown: sum(9_500n, 2_800n, 40n),
    beside: sum(6_500n, 0n),
  },
  computeSharePermille: 511,
  computeShareHoursPermille: 513,
  basisUsdMicros: { billed: 0n, rate: 20_000_000_000n, estimated: 76_800_000_000n },
  starvedBy: [],
  lostAttempts: [],
  bills: 0,
  beside: [{ what: 'storage', usdMicros: 6_500_000_000n }],
  unpriced: [{ model: EVIL, billedBy: null, wantsRateOf: null, gpuUnits: 40n * HOUR }],
  unmatchedUsdMicros: 0n,
  conflictUnits: 0n,
  notPosted: [],
  unlistedNodes: [{ nodeId: EVIL, gpuUnits: 12n * HOUR }],
  staleRows: 0,
  missing: [],
  idleNow: {
    shareUnits: 31n * 63_000n,
    usdMicrosPerHour: 194_000_000n,
    unpricedShareUnits: 0n,
    owners: 9,
    ownerlessShareUnits: 0n,
  },
  silentGpus: 24,
  waiting: [],
  findings: undefined,
};

const firstLook: FirstLookWords = {
  dataDir: './bursar-data',
  read: {
    since: new Date('2026-11-10T00:00:00Z'),
    sources: [
      {
        name: 'prometheus',
        kind: 'prometheus',
        reads: `http://p:9090 ${EVIL}`,
        state: 'cut',
        says: 'fine',
        samplesSince: new Date('2026-11-12T00:00:00Z'),
        rows: {},
      },
      { name: 'slurm', kind: 'slurm', reads: 'sacct', state: 'failed', says: EVIL, todo: 'Mend it.', rows: {} },
    ],
    part: { seen: 12_000, notRead: 10_000 },
  },
  prices: [
    {
      model: 'NVIDIA H100 80GB HBM3',
      by: 'list',
      usdPerGpuHour: '6.88',
      source: 'AWS p5.48xlarge ÷ 8',
      asOf: '2026-08-22',
      gpuHours: 20_000,
    },
  ],
  notRead: [{ kind: 'kubernetes', says: 'no current context', command: 'bursar look --kubeconfig FILE' }],
};

const page: LookPage = {
  answer,
  firstLook,
  notes: [],
  scope: `prometheus: http://p:9090 ${EVIL}`,
  command: 'bursar look --window 7d --prometheus http://p:9090/',
  madeAt: new Date('2026-11-16T12:00:40Z'),
  isDemo: false,
  dataFlag: '',
};

describe('the page of a look', () => {
  const html = lookPage(page);

  it('carries scope, window, basis, share known, date and the command', () => {
    for (const words of [
      '<dt>Scope</dt>',
      '2026-11-10 00:00 to 2026-11-17 00:00 UTC',
      'by stated rates',
      '90 % of the money; what is unknown is never counted as idle',
      '2026-11-16 12:00 UTC',
      'bursar look --window 7d --prometheus http://p:9090/',
      'Read 2,000 of 12,000 GPUs: the others are not read.',
    ]) {
      expect(html).toContain(words);
    }
  });

  it('has no script, no style attribute and nothing from elsewhere', () => {
    const tags = html.match(/<[^>]*>/g)?.join('\n') ?? '';
    expect(tags).not.toMatch(/<script|<img|<link|<iframe|\sstyle=|\son\w+=|\shref=|\ssrc=/i);
    expect(html).not.toMatch(/@import|url\((?!#)/i);
    expect(html).toContain(`default-src 'none'`);
  });

  it('says DEMO on everything that could be cut out of it', () => {
    const demo = lookPage({ ...page, isDemo: true });
    expect(demo).toContain('DEMO: a made-up organisation');
    expect(demo.match(/<th scope="row">DEMO /g)).toHaveLength(7);
  });

  it('shows GPU-hours where nothing has a price, never $0', () => {
    const unpriced = Object.fromEntries(
      Object.entries(answer.categories).map(([name, each]) => [
        name,
        { ...each, usdMicros: null, unpricedUnits: each.gpuUnits },
      ]),
    ) as unknown as LookAnswer['categories'];
    const text = lookPage({
      ...page,
      answer: {
        ...answer,
        paidUsdMicros: null,
        categories: unpriced,
        basisUsdMicros: { billed: 0n, rate: 0n, estimated: 0n },
      },
    });
    expect(text).toContain('26,200 GPU-hours, last 7 days, none of them with a price');
    expect(text).not.toMatch(/\$0\b/);
  });

  it('of a folder with nothing in it says what to do', () => {
    const empty = lookPage({ ...page, answer: { ...answer, ledger: undefined } });
    expect(empty).toContain('Nothing to look at yet');
  });
});

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser) console.warn(`skipped: the page of a look in a browser; no chromium at ${executablePath}`);

describe.skipIf(!hasBrowser)('in a browser', () => {
  let browser: Browser;
  let folder: string;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-look-page-'));
    const file = join(folder, 'look.html');
    await writeFile(file, lookPage(page));
    url = pathToFileURL(file).href;
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(options: Parameters<Browser['newPage']>[0]): Promise<Page> {
    const opened = await browser.newPage(options);
    await opened.goto(url);
    const shots = process.env['LOOK_PAGE_SHOTS'];
    if (shots !== undefined) {
      await opened.screenshot({
        path: join(shots, `look-${options?.viewport?.width}-${options?.colorScheme}.png`),
        fullPage: true,
      });
    }
    return opened;
  }

  it.each([
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
  ] as const)('at %d px, %s: readable, nothing beside the page, no name obeyed', async (width, colorScheme) => {
    const opened = await open({ viewport: { width, height: 800 }, colorScheme });
    expect(await opened.title()).toBe('Bursar: GPU spend, last 7 days');
    expect(await opened.evaluate('document.images.length + document.scripts.length')).toBe(0);
    expect(await opened.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await opened.evaluate(LEAST_CONTRAST)).toBeGreaterThanOrEqual(4.5);
    expect(await opened.locator('h1').innerText()).toBe(
      '$96,800 paid, last 7 days; 51 % of what is known computed; 31 GPUs idle now, $194/h, 9 owners.',
    );
    await opened.close();
  });

  it('prints on A4, light, with its bars', async () => {
    // What an A4 sheet leaves between its margins.
    const opened = await open({ colorScheme: 'dark', viewport: { width: 688, height: 1017 } });
    await opened.emulateMedia({ media: 'print' });
    expect(await opened.locator('td.bar:visible').count()).toBe(7);
    expect(await opened.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(688);
    expect(await opened.evaluate(`getComputedStyle(document.documentElement).backgroundColor`)).toBe(
      'rgb(255, 255, 255)',
    );
    const pdf = await opened.pdf({ preferCSSPageSize: true });
    expect(pdf.toString('latin1')).toMatch(/\/MediaBox ?\[0 0 59[45](\.\d+)? 84[12]/);
    const shots = process.env['LOOK_PAGE_SHOTS'];
    if (shots !== undefined) await writeFile(join(shots, 'look.pdf'), pdf);
    await opened.close();
  });
});

/** The least contrast of any text on the page with what is behind it, by the rule of WCAG 2. */
const LEAST_CONTRAST = `(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const channel = (value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  let least = 21;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (walker.currentNode.textContent.trim() === '') continue;
    const element = walker.currentNode.parentElement;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(groundOf(element))].sort((x, y) => y - x);
    least = Math.min(least, (a + 0.05) / (b + 0.05));
  }
  return least;
})()`;
