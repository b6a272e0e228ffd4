import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EndTurn } from './turns.ts';
import { turnsOf } from './turns.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What has begun, in order; a name stands for its kind, `long 2` is the second of the long ones. */
async function letIn(turns: ReturnType<typeof turnsOf>, names: readonly string[], begun: string[]) {
  const ends = new Map<string, EndTurn>();
  for (const name of names) {
    void turns.take(name.split(' ')[0] ?? '').then((end) => {
      begun.push(name);
      ends.set(name, end);
    });
  }
  await settled();
  return ends;
}

const settled = async (): Promise<void> => {
  for (let round = 0; round < 5; round += 1) await Promise.resolve();
};

/** Teaches it that questions called `long` take a second. */
async function learn(turns: ReturnType<typeof turnsOf>): Promise<void> {
  const end = await turns.take('long');
  end(1000);
}

describe('turns', () => {
  it('a short question does not wait behind ten long ones', async () => {
    const turns = turnsOf({ size: 3, waitMsMax: 10_000 });
    await learn(turns);
    const begun: string[] = [];
    const long = Array.from({ length: 10 }, (_, place) => `long ${place}`);
    await letIn(turns, [...long, 'short'], begun);
    expect(begun).toEqual(['long 0', 'long 1', 'short']);
    expect({ running: turns.running(), waiting: turns.waiting() }).toEqual({ running: 3, waiting: 8 });
  });

  it('what nobody knows yet counts as short, and is learnt', async () => {
    const turns = turnsOf({ size: 2, waitMsMax: 10_000 });
    const begun: string[] = [];
    const ends = await letIn(turns, ['new 1', 'new 2', 'new 3'], begun);
    expect(begun).toEqual(['new 1', 'new 2']);
    ends.get('new 1')?.(5000);
    await settled();
    expect(begun).toEqual(['new 1', 'new 2']); // The second still runs, and one of two may be long.
    ends.get('new 2')?.(5000);
    await settled();
    expect(begun).toEqual(['new 1', 'new 2', 'new 3']);
  });

  it('a long one that has waited goes before short ones that keep coming', async () => {
    const turns = turnsOf({ size: 2, waitMsMax: 60_000 });
    await learn(turns);
    const begun: string[] = [];
    const ends = await letIn(turns, ['short 1', 'short 2', 'long', 'short 3'], begun);
    ends.get('short 1')?.(1);
    await settled();
    expect(begun).toEqual(['short 1', 'short 2', 'short 3']);
    await letIn(turns, ['short 4'], begun);
    vi.advanceTimersByTime(2500);
    ends.get('short 2')?.(1);
    await settled();
    expect(begun.at(-1)).toBe('long');
  });

  it('who waits too long is told to come back, and leaves the line', async () => {
    const turns = turnsOf({ size: 1, waitMsMax: 10_000 });
    const end = await turns.take('a');
    const second = turns.take('b');
    second.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(10_001);
    await expect(second).rejects.toMatchObject({ code: 'busy' });
    expect(turns.waiting()).toBe(0);
    end(1);
    await expect(turns.take('c')).resolves.toBeTypeOf('function');
  });

  it('one who asks a hundred questions keeps nobody else waiting', async () => {
    const turns = turnsOf({ size: 2, waitMsMax: 10_000 });
    const begun: string[] = [];
    const ends = new Map<string, EndTurn>();
    const take = (who: string, label: string): void =>
      void turns.take('kind', { who }).then((end) => {
        begun.push(label);
        ends.set(label, end);
      });
    for (let n = 0; n < 50; n += 1) take('script', `script ${n}`);
    take('page', 'page 1');
    take('page', 'page 2');
    await settled();
    ends.get('script 0')?.(1);
    await settled();
    ends.get('script 1')?.(1);
    await settled();
    ends.get('page 1')?.(1);
    await settled();
    expect(begun).toEqual(['script 0', 'script 1', 'page 1', 'script 2', 'page 2']);
  });

  it('the line has room for others, whatever one asks', async () => {
    const turns = turnsOf({ size: 1, waitMsMax: 10_000 });
    const asked = Array.from({ length: 150 }, () => turns.take('kind', { who: 'script' }).catch(() => 'refused'));
    expect(turns.waiting()).toBe(100);
    void turns.take('kind', { who: 'page' });
    expect(turns.waiting()).toBe(101);
    expect(await Promise.all(asked.slice(101))).toEqual(Array.from({ length: 49 }, () => 'refused'));
  });

  it('who goes leaves the line', async () => {
    const turns = turnsOf({ size: 1, waitMsMax: 10_000 });
    await turns.take('a');
    const stop = new AbortController();
    const second = turns.take('b', { signal: stop.signal });
    stop.abort();
    await expect(second).rejects.toMatchObject({ code: 'withdrawn' });
    expect(turns.waiting()).toBe(0);
    await expect(turns.take('c', { signal: stop.signal })).rejects.toMatchObject({ code: 'withdrawn' });
  });

  it('at the end who waits and who comes is refused', async () => {
    const turns = turnsOf({ size: 1, waitMsMax: 10_000 });
    await turns.take('a');
    const second = turns.take('b');
    turns.close();
    await expect(second).rejects.toMatchObject({ code: 'stopping' });
    await expect(turns.take('c')).rejects.toMatchObject({ code: 'stopping' });
  });
});
