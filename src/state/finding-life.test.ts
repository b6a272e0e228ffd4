import { describe, expect, it } from 'vitest';
import type { FindingRecord } from '../facts/finding-record.ts';
import type { FindingState } from '../facts/finding.ts';
import { afterLook, afterWish } from './finding-life.ts';

const record = (state: FindingState, over: Partial<FindingRecord> = {}): FindingRecord => ({
  number: 1,
  key: 'k',
  what: 'notebook idle',
  state,
  until: null,
  reason: null,
  by: null,
  assignedTo: null,
  firstSeenAt: '2026-03-01T00:00:00Z',
  lastSeenAt: '2026-03-02T00:00:00Z',
  subjects: ['job s/1/0'],
  ...over,
});
const claimed = { key: 'k', what: 'notebook idle', subjects: ['job s/1/0'], isTold: true };
const later = '2026-03-03T00:00:00Z';

describe('what the data say', () => {
  const silent = new Set(['k']);
  const none = new Set<string>();
  const exempt = (until: string): FindingRecord => record('exempt', { until, reason: 'r', by: 'me' });
  const cases: {
    name: string;
    was: FindingRecord;
    seen: boolean;
    at?: string;
    silentKeys?: Set<string>;
    want: FindingState;
    change?: string;
  }[] = [
    { name: 'an open one that is still there stays open', was: record('open'), seen: true, want: 'open' },
    { name: 'gone while the data went on: fixed', was: record('open'), seen: false, want: 'fixed', change: 'fixed' },
    {
      name: 'one that somebody accepted is fixed too',
      was: record('accepted'),
      seen: false,
      want: 'fixed',
      change: 'fixed',
    },
    { name: 'one that is back can be fixed again', was: record('back'), seen: false, want: 'fixed', change: 'fixed' },
    {
      name: 'the data have not gone on: nothing is fixed',
      was: record('open'),
      seen: false,
      at: '2026-03-02T00:00:00Z',
      want: 'open',
    },
    {
      name: 'its sensors fell silent: nobody can say that it is fixed',
      was: record('open'),
      seen: false,
      silentKeys: silent,
      want: 'open',
    },
    { name: 'fixed and claimed again: back', was: record('fixed'), seen: true, want: 'back', change: 'back' },
    { name: 'fixed stays fixed', was: record('fixed'), seen: false, want: 'fixed' },
    { name: 'dismissed stays so, there or not', was: record('dismissed'), seen: true, want: 'dismissed' },
    { name: 'exempt on its last day is exempt', was: exempt('2026-03-03'), seen: true, want: 'exempt' },
    { name: 'exempt and gone stays exempt to its day', was: exempt('2026-03-09'), seen: false, want: 'exempt' },
    {
      name: 'the exemption is over: open',
      was: exempt('2026-03-02'),
      seen: true,
      want: 'open',
      change: 'exemption over',
    },
  ];
  it.each(cases)('$name', ({ was, seen, at = later, silentKeys = none, want, change }) => {
    const step = afterLook(was, seen ? claimed : undefined, { at, silentKeys });
    expect([step.record.state, step.change?.change]).toEqual([want, change]);
    expect(step.change?.by ?? null).toBeNull();
  });

  it.each([
    ['fixed', 'accepted', undefined],
    ['back', 'fixed', claimed],
  ] as const)('that it is %s takes back nothing of what people said', (want, was, seen) => {
    const said = { reason: 'after the demo', by: 'mchen', assignedTo: 'kim' };
    const { record: after } = afterLook(record(was, said), seen, { at: later, silentKeys: none });
    expect(after).toMatchObject({ state: want, ...said });
  });

  it('who looks for one team alone cannot say that anything is fixed', () => {
    const was = record('accepted');
    expect(afterLook(was, undefined, { at: later, silentKeys: none, isForOneTeam: true }).record).toBe(was);
  });

  it('an exemption that is over leaves no word of it on the finding', () => {
    const { record: after } = afterLook(exempt('2026-03-02'), claimed, { at: later, silentKeys: none });
    expect([after.until, after.reason, after.by]).toEqual([null, null, null]);
  });

  it('a second look at the same facts writes nothing', () => {
    const was = record('open', { lastSeenAt: later });
    expect(afterLook(was, claimed, { at: later, silentKeys: none }).record).toBe(was);
  });
});

describe('what people say', () => {
  const wish = { at: later, by: 'mchen', detail: 'why', until: null };
  it.each([
    ['accept', 'accepted'],
    ['dismiss', 'dismissed'],
    ['reopen', 'open'],
    ['exempt', 'exempt'],
  ] as const)('%s: %s, with who and why', (change, want) => {
    const { record: after, change: told } = afterWish(record('back'), { ...wish, change, until: '2026-04-01' });
    expect([after.state, after.by, after.reason]).toEqual([want, 'mchen', 'why']);
    expect(after.until).toBe(change === 'exempt' ? '2026-04-01' : null);
    expect(told).toMatchObject({ at: later, by: 'mchen', change });
  });

  it('to reopen what is open already writes nothing', () => {
    const was = record('open', { reason: 'not ours', by: 'kim' });
    expect(afterWish(was, { ...wish, change: 'reopen' })).toEqual({ record: was, change: undefined });
  });

  it('who it is assigned to does not change its state', () => {
    const { record: after } = afterWish(record('accepted'), { ...wish, change: 'assign', detail: 'kim' });
    expect([after.state, after.assignedTo]).toEqual(['accepted', 'kim']);
  });
});
