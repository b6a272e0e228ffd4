import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withReader } from '../workspace.ts';
import { knownWork } from './known-work.ts';
import { recordWork } from './record-work.ts';
import type { RecordWorkRequest } from './record-work.ts';

const CLOCK = new Date('2026-11-16T09:30:15.750Z');
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-record-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

const record = (more: Partial<RecordWorkRequest> = {}) =>
  recordWork({ dataDir: join(folder, 'data'), run: 'sft', unit: 'step', quantity: '1200', clock: CLOCK, ...more });

const known = () =>
  withReader(join(folder, 'data'), async (space) =>
    (await knownWork(space)).map(({ name, unit, quantityMillionths }) => [name, unit, quantityMillionths]),
  );

describe('work recorded by hand', () => {
  it('stands at the second of the clock where no time is given', async () => {
    expect(await record()).toMatchObject({ workId: 'sft', from: new Date('2026-11-16T09:30:15Z'), until: null });
    expect(await known()).toEqual([['sft', 'step', 1_200_000_000n]]);
  });

  it('adds up, whichever days it is of', async () => {
    await record({ at: new Date('2026-11-14T09:00:00Z') });
    await record({ at: new Date('2026-11-14T10:00:00Z'), quantity: '0.5' });
    await record({ at: new Date('2026-11-16T09:00:00Z'), id: 'second half' });
    expect(await known()).toEqual([['sft', 'step', 2_400_500_000n]]);
  });

  const again: Record<string, { first: Partial<RecordWorkRequest>; second: Partial<RecordWorkRequest> }> = {
    'the same once more': { first: { at: CLOCK }, second: { at: CLOCK } },
    'the same time with another quantity': { first: { at: CLOCK }, second: { at: CLOCK, quantity: '7' } },
    'a window that overlaps': {
      first: { from: new Date('2026-11-16T08:00:00Z'), until: new Date('2026-11-16T10:00:00Z') },
      second: { from: new Date('2026-11-16T09:00:00Z'), until: new Date('2026-11-16T11:00:00Z') },
    },
  };
  it.each(Object.entries(again))(
    '%s is refused with what is there, and nothing is added',
    async (_, { first, second }) => {
      await record(first);
      const before = await known();
      await expect(record(second)).rejects.toMatchObject({
        code: 'already-recorded',
        message: expect.stringContaining('1200 step of sft'),
        hint: expect.stringContaining('--id'),
      });
      expect(await known()).toEqual(before);
    },
  );

  it.each([
    ['another unit', { unit: 'epoch' }],
    ['another id', { id: 'rank-1' }],
    ['another second', { at: new Date('2026-11-16T09:30:16Z') }],
    ['a window that touches', { from: new Date('2026-11-16T09:30:16Z'), until: new Date('2026-11-16T10:00:00Z') }],
  ])('%s is other work', async (_, second) => {
    await record();
    await record(second);
    const rows = await known();
    expect(rows.reduce((sum, [, , quantity]) => sum + (quantity as bigint), 0n)).toBe(2_400_000_000n);
  });

  it.each([
    ['a quantity below 0', { quantity: '-1' }, 'bad-quantity'],
    ['a quantity with seven decimals', { quantity: '1.0000001' }, 'bad-quantity'],
    ['a word', { quantity: 'many' }, 'bad-quantity'],
    ['a moment and a window', { at: CLOCK, from: CLOCK, until: new Date('2026-11-17T00:00:00Z') }, 'bad-option'],
    ['a window without an end', { from: CLOCK }, 'bad-option'],
    ['a window that ends as it begins', { from: CLOCK, until: CLOCK }, 'bad-option'],
    ['a run without a name', { run: ' ' }, 'bad-option'],
  ])('%s is refused', async (_, more, code) => {
    await expect(record(more)).rejects.toMatchObject({ code });
  });

  it('names are data, whatever is in them', async () => {
    const run = `'); DROP TABLE work; -- "x",\u001b[31m`;
    await record({ run, unit: `it's`, job: `a'b` });
    expect(await known()).toEqual([[run, `it's`, 1_200_000_000n]]);
  });
});
