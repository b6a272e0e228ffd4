import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { at, collect, DAY, hauls, holding, rowsOf, sourceOf } from '../../../test/made-source.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { NO_SAMPLE } from '../../facts/source.ts';
import type { FactRow, Haul } from '../../facts/source.ts';
import { ledgerHash } from '../ledger-hash.ts';
import { withReader } from '../workspace.ts';
import { collectAndDerive } from './follow.ts';

const seconds = (time: string): number => at(time).getTime() / 1000;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bursar-collect-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe('collecting', () => {
  it('writes rows and samples, remembers where it is, and goes on from there', async () => {
    const source = sourceOf({
      pull: hauls([
        { facts: [{ table: 'allocation', batch: 'a', mode: 'replace', rows: [holding({})] }] },
        {
          facts: [],
          samples: [
            {
              batch: 'samples/08',
              mode: 'replace',
              devices: ['GPU-b', 'GPU-a'],
              rows: 2,
              deviceIndex: Uint32Array.of(0, 1),
              tsSeconds: Uint32Array.of(seconds('08:00:00'), seconds('08:00:30')),
              stepS: 30,
              metrics: new Map([
                ['engine_permille', Int32Array.of(500, NO_SAMPLE)],
                ['power_w', Int32Array.of(300, 70)],
              ]),
            },
          ],
        },
      ]),
    });
    const report = await collect(dataDir, [source]);
    expect(report.sources.map(({ state, hauls: n }) => [state, n])).toEqual([['ok', 2]]);
    expect(report.sources[0]?.record.rows).toEqual({ allocation: 1, gpu_sample: 2 });
    expect(
      await rowsOf(dataDir, 'gpu_sample', 'device_id, ts, step_s, engine_permille, power_w, util_permille'),
    ).toEqual([
      {
        device_id: 'GPU-a',
        ts: `${DAY} 08:00:30`,
        step_s: 30,
        engine_permille: null,
        power_w: 70,
        util_permille: null,
      },
      {
        device_id: 'GPU-b',
        ts: `${DAY} 08:00:00`,
        step_s: 30,
        engine_permille: 500,
        power_w: 300,
        util_permille: null,
      },
    ]);
    const again = await collect(dataDir, [source]);
    expect(again.sources.map(({ hauls: n }) => n)).toEqual([0]);
  });

  it('extends a batch: rows of the same key are replaced, the others stay', async () => {
    const ended = (rows: FactRow[]): Partial<Haul> => ({
      facts: [{ table: 'allocation', batch: 'ended/1', mode: 'extend', rows }],
    });
    await collect(dataDir, [
      sourceOf({
        pull: hauls([
          ended([holding({ allocation_id: '1' }), holding({ allocation_id: '2' })]),
          ended([holding({ allocation_id: '2', user_name: 'ana', observed_at: at('11:30:00') })]),
        ]),
      }),
    ]);
    expect(await rowsOf(dataDir, 'allocation', 'allocation_id, user_name')).toEqual([
      { allocation_id: '1', user_name: null },
      { allocation_id: '2', user_name: 'ana' },
    ]);
  });

  it('replaces a batch by nothing when nothing is left', async () => {
    const open = (rows: FactRow[]): Partial<Haul> => ({
      facts: [{ table: 'allocation', batch: 'open', mode: 'replace', rows }],
    });
    await collect(dataDir, [sourceOf({ pull: hauls([open([holding({})]), open([])]) })]);
    expect(await rowsOf(dataDir, 'allocation', 'allocation_id')).toEqual([]);
  });

  it('leaves out a row that cannot be, says so, and takes the others', async () => {
    const report = await collect(dataDir, [
      sourceOf({
        pull: hauls([
          {
            facts: [
              {
                table: 'allocation',
                batch: 'a',
                mode: 'replace',
                rows: [holding({ held_until: at('07:00:00') }), holding({ allocation_id: '2' })],
              },
            ],
          },
        ]),
      }),
    ]);
    expect(await rowsOf(dataDir, 'allocation', 'allocation_id')).toEqual([{ allocation_id: '2' }]);
    expect(report.sources[0]?.record.skipped.map(({ reason, count }) => [reason, count])).toEqual([
      ['allocation: held_until lies before held_from', 1],
    ]);
  });

  it('goes on with the others when one fails, and keeps what the failing one gave before', async () => {
    const failing = sourceOf({
      name: 'broken',
      async *pull() {
        yield {
          facts: [{ table: 'allocation', batch: 'a', mode: 'replace', rows: [holding({ allocation_id: '7' })] }],
          cursor: 1,
          coveredUntil: at('09:00:00'),
        };
        throw new OperationError('refused', 'nobody answers', { hint: 'start it' });
      },
    });
    const fine = sourceOf({
      pull: hauls([{ facts: [{ table: 'allocation', batch: 'a', mode: 'replace', rows: [holding({})] }] }]),
    });
    const report = await collect(dataDir, [failing, fine]);
    expect(report.sources.map(({ name, state }) => [name, state])).toEqual([
      ['broken', 'failed'],
      ['tele', 'ok'],
    ]);
    expect(report.sources[0]?.record.error).toMatchObject({ message: 'nobody answers', hint: 'start it' });
    expect(report.sources[0]?.record.coveredUntil).toEqual(at('09:00:00'));
    expect(await rowsOf(dataDir, 'allocation', 'allocation_id')).toEqual([
      { allocation_id: '1' },
      { allocation_id: '7' },
    ]);
  });

  it('stops at the deadline with what it has', async () => {
    const report = await collect(
      dataDir,
      [
        sourceOf({
          async *pull(_, { signal }) {
            yield { facts: [], cursor: 1, coveredUntil: at('09:00:00') };
            // On a slow machine the deadline may have come before.
            signal.throwIfAborted();
            await new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason as Error));
            });
          },
        }),
      ],
      { deadlineMs: 300 },
    );
    expect(report.sources.map(({ state, hauls: n }) => [state, n])).toEqual([['cut', 1]]);
  });

  it('what was read by a clock that had jumped ahead is read anew', async () => {
    const cursors: unknown[] = [];
    const ahead = sourceOf({
      async *pull(cursor, { now }) {
        cursors.push(cursor);
        yield { facts: [], cursor: 'there', coveredUntil: now };
      },
    });
    const jumped = await collect(dataDir, [ahead], { now: () => new Date('2026-11-05T12:00:00Z') });
    expect(jumped.sources[0]?.record.coveredUntil).toEqual(new Date('2026-11-05T12:00:00Z'));
    const back = await collect(dataDir, [ahead]);
    await collect(dataDir, [ahead]);
    expect(cursors).toEqual([undefined, undefined, 'there']);
    expect(back.sources[0]?.record.coveredUntil).toEqual(at('12:00:00'));
  });

  it('a mistake of ours is no trouble of the source and ends the run', async () => {
    const rows = [{ ...holding({}), no_such_column: 1 }];
    const source = sourceOf({ pull: hauls([{ facts: [{ table: 'allocation', batch: 'a', mode: 'replace', rows }] }]) });
    await expect(collect(dataDir, [source])).rejects.toThrow('no_such_column');
  });
});

describe('a haul that is repeated', () => {
  it('changes nothing in the ledger', async () => {
    const facts = [
      { table: 'allocation', batch: 'a', mode: 'extend', rows: [holding({})] },
      { table: 'node', batch: 'n', mode: 'replace', rows: [{ node_id: 'n1', gpu_count: 2, model: 'H100' }] },
    ] as const;
    // A source that forgets its cursor gives everything again.
    const forgetful = sourceOf({
      async *pull() {
        yield { facts, cursor: undefined, coveredUntil: at('12:00:00') };
      },
    });
    const request = { dataDir, sources: [forgetful], now: () => at('12:00:00'), progress: () => undefined };
    const signal = new AbortController().signal;
    await collectAndDerive({ ...request, signal });
    const before = await withReader(dataDir, (space) => ledgerHash(space));
    await collectAndDerive({ ...request, signal });
    expect(await withReader(dataDir, (space) => ledgerHash(space))).toEqual(before);
  });
});
