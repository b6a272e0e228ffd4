import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { staticPages } from './static-pages.ts';

describe('the built pages', () => {
  let webDir: string;
  const app = new Hono();
  beforeAll(async () => {
    webDir = await mkdtemp(join(tmpdir(), 'bursar-static-'));
    await mkdir(join(webDir, 'assets'));
    await writeFile(join(webDir, 'index.html'), 'the page');
    await writeFile(join(webDir, 'assets', 'app-1.js'), 'the script');
    const pages = staticPages(webDir);
    app.get('*', (context) => pages.reply(context));
    app.onError((failure, context) => context.text(failure.message, 404));
  });
  afterAll(() => rm(webDir, { recursive: true, force: true }));

  it.each([
    ['/', 'the page'],
    ['/teams/nlp', 'the page'],
    ['/teams/ml.research', 'the page'],
    ['/jobs/slurm%2Ftrain-v1.5', 'the page'],
    ['/assets/app-1.js', 'the script'],
  ])('%s is %s', async (path, body) => expect(await (await app.request(path)).text()).toBe(body));

  it.each(['/assets/app-2.js', '/favicon.png', '/robots.txt'])('%s is no page, and is not there', async (path) =>
    expect((await app.request(path)).status).toBe(404),
  );
});
