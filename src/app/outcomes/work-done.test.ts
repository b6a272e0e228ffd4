import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOW_UNITS } from '../../facts/work.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { recordWork } from './record-work.ts';
import { findOwnJobs } from './own-jobs.ts';
import { countWork, otherWork } from './work-done.ts';

const at = (time: string): Date => new Date(`2026-11-16T${time}Z`);
const RUN = { run: 'sft', quantity: '10', clock: at('23:00:00') };
let dataDir = '';
beforeAll(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), 'bursar-work-done-')), 'data');
  await recordWork({ ...RUN, dataDir, unit: 'step', from: at('09:30:00'), until: at('10:30:00') });
  await recordWork({ ...RUN, dataDir, unit: 'step', from: at('10:30:00'), until: at('12:00:00') });
  await recordWork({ ...RUN, dataDir, unit: 'epoch', at: at('10:15:00') });
  // What was saved is not what was achieved: it appears in none of the windows.
  await recordWork({ ...RUN, dataDir, unit: 'checkpoint', at: at('10:20:00') });
  await recordWork({ ...RUN, dataDir, unit: 'checkpoint', at: at('12:20:00') });
  // How it was done is no outcome.
  for (const unit of HOW_UNITS) await recordWork({ ...RUN, dataDir, unit, at: at('10:15:00') });
});
afterAll(() => rm(join(dataDir, '..'), { recursive: true, force: true }));

describe('work of a window', () => {
  it.each([
    ['counts where it begins', '10:00:00', '13:00:00', { epoch: [10n, 0n], step: [10n, 5400n] }],
    ['covers nothing past the window’s end', '09:00:00', '11:00:00', { epoch: [10n, 0n], step: [20n, 5400n] }],
    ['is none where none begins', '12:00:00', '13:00:00', {}],
  ])('%s', async (_, from, end, want) => {
    const found = await withReader(dataDir, async (space) => {
      await countWork(space, at(from), at(end));
      await findOwnJobs(space, ledgerWindow('all', at('23:00:00'), undefined), 'run');
      return otherWork(space);
    });
    const told = found.map(({ unit, quantityMillionths, seconds }) => [
      unit,
      [quantityMillionths / 1_000_000n, seconds],
    ]);
    expect(Object.fromEntries(told)).toEqual(want);
  });
});
