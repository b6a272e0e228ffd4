// Pictures of the pages, from a demo: npm run pictures -- [DATA]
// Needs chromium (lab/chromium install) and a data folder of `bursar demo`; makes one where none is named, in the folder for
// temporary files: the page of sources says where it is.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const BURSAR = fileURLToPath(new URL('../../bin/bursar.js', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const [data = join(tmpdir(), 'bursar-demo')] = process.argv.slice(2);
const QUIET_MS = 400;
const SETTLE_TRIES = 300;

if (!existsSync(join(data, 'state.sqlite')))
  spawnSync(process.execPath, [BURSAR, 'demo', '--out', data], { stdio: ['ignore', 'ignore', 'inherit'] });
const server = spawn(process.execPath, [BURSAR, 'serve', '--listen', '127.0.0.1:0', '--data', data], {
  stdio: ['ignore', 'pipe', 'pipe'],
});
const origin = await addressOf(server);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

const [job, finding] = [await dearestJob(), await dearestFinding()];
const shots = [
  ['overview', '/overview'],
  ['overview-dark', '/overview', 'dark'],
  ['spend', `/spend?why=${encodeURIComponent('team=nlp,category=idle')}`],
  ['fleet', '/fleet'],
  ['fleet-dark', '/fleet', 'dark'],
  ['jobs', '/jobs'],
  ['job', `/jobs/${encodeURIComponent(job)}`],
  ['findings', '/findings'],
  ['finding', `/findings/${finding}`],
  ['team', '/teams/nlp?month=2026-10'],
  ['sources', '/sources'],
];
for (const [name, path, theme = 'light'] of shots) await picture(name, path, theme);
await browser.close();
server.kill('SIGTERM');
await once(server, 'exit');

async function picture(name, path, colorScheme) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme });
  await page.goto(`${origin}${path}`);
  await page.locator('h1').first().waitFor();
  for (let tries = 0; tries < SETTLE_TRIES; tries += 1) {
    await page.waitForTimeout(QUIET_MS);
    if ((await page.locator('[aria-busy="true"], .loading').count()) === 0) break;
  }
  await page.screenshot({ path: `${HERE}${name}.png` });
  await page.close();
  process.stdout.write(`${name}.png\n`);
}

async function answerOf(path) {
  return (await fetch(`${origin}/api/v1${path}`)).json();
}

async function dearestJob() {
  const { rows } = await answerOf('/jobs');
  return rows[0].allocationId;
}

/** Of idle sessions: they have the most to show. */
async function dearestFinding() {
  const { findings } = await answerOf('/findings');
  return findings.find(({ detector }) => detector === 'idle-sessions').id;
}

/** The address stands on the first line that has one. */
async function addressOf({ stdout, stderr }) {
  for (const stream of [stdout, stderr]) stream.setEncoding('utf8');
  return new Promise((found) => {
    for (const stream of [stdout, stderr])
      createInterface({ input: stream }).on('line', (line) => {
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (address !== undefined) found(address);
      });
  });
}
