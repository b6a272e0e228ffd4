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

it.each([
  ['nothing beside it', {}, []],
  ['a finding that was accepted', { findings: '1' }, ['state']],
  ['a statement that was issued', { statements: '1' }, ['state']],
  ['a bursar.yaml that was edited', { configStamp: '1' }, ['state']],
])('with a new generation a page is told of %s', async (_, change, want) => {
  let now = { generation: 7, findings: '', statements: '', configStamp: '' };
  const changing = {
    ...standing,
    current: async () =>
      ({
        snapshot: { generation: now.generation, committedAt: '2026-03-02T08:00:00Z' },
        stamp: { findings: now.findings, statements: now.statements },
        configStamp: now.configStamp,
      }) as unknown as Standing,
  };
  const hub = eventHub({ standing: changing, isAllowed: async () => true, pollMs: 0, heartbeatMs: 0 });
  const app = new Hono().get('/', async (context) => hub.listen(context, 'ann', undefined));
  try {
    const reader = (await app.request('/')).body?.pipeThrough(new TextDecoderStream()).getReader();
    now = { ...now, ...change, generation: 8 };
    let text = '';
    // The look that sees the generation sees the rest, and its heartbeat comes last.
    while (!/id: 8[^]*still here/.test(text)) text += (await reader?.read())?.value ?? '';
    expect([...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)).toEqual([
      'generation',
      'generation',
      ...want,
    ]);
    await reader?.cancel();
  } finally {
    hub.close();
  }
});

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
