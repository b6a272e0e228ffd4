import { setTimeout as delay } from 'node:timers/promises';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import type { Standing } from '../../app/serve/standing.ts';
import { eventHub } from './events.ts';

const standing = {
  current: async () =>
    ({
      snapshot: { generation: 7, committedAt: '2026-03-02T08:00:00Z' },
      stamp: { findings: '', statements: '' },
    }) as unknown as Standing,
  configTrouble: () => undefined,
  behindSince: () => undefined,
  close: () => undefined,
};

it('a page that takes nothing in is let go, and one that does is not', async () => {
  const hub = eventHub({ standing, isAllowed: async () => true, pollMs: 0, heartbeatMs: 0 });
  const app = new Hono().get('/', async (context) => hub.listen(context, 'ann', undefined));
  try {
    // Nobody reads it.
    await app.request('/');
    const reader = (await app.request('/')).body?.getReader();
    expect(hub.listeners()).toBe(2);
    let news = 0;
    const endsMs = performance.now() + 3000;
    while (hub.listeners() === 2 && performance.now() < endsMs) {
      await reader?.read();
      news += 1;
    }
    await delay(10);
    expect(hub.listeners()).toBe(1);
    // What it has not taken in by then it will not miss; before that it is not given up.
    expect(news).toBeGreaterThan(60);
    await reader?.cancel();
    expect(hub.listeners()).toBe(0);
  } finally {
    hub.close();
  }
});
