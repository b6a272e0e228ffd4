import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import { playedFleet } from '../../../test/played-fleet.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { PullRequest, Source } from '../../facts/source.ts';
import { firstLookLines, partLines } from '../../report/first-look-lines.ts';
import { lookScreen } from '../../report/look-screen.ts';
import type { LookAnswer } from '../../report/look-screen.ts';
import { look } from '../look.ts';
import { withReader } from '../workspace.ts';
import { firstLook, restateRates } from './first-look.ts';
import type { FirstLookRequest, FirstLookResult } from './first-look.ts';
import { priceAssumptions } from './price-assumptions.ts';

const NOW = new Date('2026-11-16T12:00:00Z');
let folder: string;
let dataDir: string;
let thrownAway: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-first-look-'));
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  for (const each of [folder, ...thrownAway]) await rm(each, { recursive: true, force: true });
  thrownAway = [];
});

async function read(sources: readonly Source[], more: Partial<FirstLookRequest> = {}): Promise<FirstLookResult> {
  const result = await firstLook({
    dataDir,
    sources,
    rates: [],
    now: () => NOW,
    signal: new AbortController().signal,
    elapsedMs: () => 0,
    progress: () => undefined,
    ...more,
  });
  if (result.dataDir !== dataDir) thrownAway.push(result.dataDir);
  return result;
}

async function seen({
  dataDir: where,
  read: summary,
  window,
}: FirstLookResult): Promise<{ answer: LookAnswer; lines: string[] }> {
  return withReader(where, async (space) => {
    const answer = await look(space, { window, clock: NOW });
    const prices = await priceAssumptions(space, answer.window);
    const words = { read: summary, prices, notRead: [], dataDir: where };
    return { answer, lines: [...partLines(words), ...lookScreen(answer), ...firstLookLines(words)] };
  });
}

describe('a first look', () => {
  it('reads seven days, and says who computes, who idles and what is assumed', async () => {
    const source = playedFleet({ gpus: 4 });
    const { answer, lines } = await seen(await read([source]));
    expect(source.asked[0]).toMatchObject({ since: new Date('2026-11-10T00:00:00Z'), lookStepS: 300 });
    expect(source.asked[0]?.gpusMax).toBeUndefined();
    // 4 GPUs from 10 November to noon of the 16th, half of them computing, with an engine that is a fifth below a full one.
    expect(answer.ledger).toEqual({ first: '2026-11-10', last: '2026-11-16' });
    expect(lines.slice(0, 3)).toEqual([
      'Paid, last 7 days  $4,293        estimate: list prices of 2026-08-22, no bill connected',
      expect.stringMatching(/^ {2}computing +\$1,71\d +40 % {2}40 % of what is known/),
      expect.stringMatching(/^ {2}idle, held +\$2,14\d +50 % {2}2 GPUs now, \$13\.76\/h, 1 owner/),
    ]);
    expect(lines).toContain(
      'Prices assumed: H100 $6.88/h (list price, AWS p5.48xlarge ÷ 8, 2026-08-22).' +
        ' If yours differ: bursar look --rate H100=1.95',
    );
  });

  it('takes the price the user says, in the look and afterwards', async () => {
    const first = await seen(
      await read([playedFleet({ gpus: 2 })], { rates: [{ model: 'H100', usdPerGpuHour: '2' }] }),
    );
    expect(first.lines[0]).toMatch(/\$624 .*stated rates/);
    await restateRates(dataDir, [{ model: 'H100', usdPerGpuHour: '1' }]);
    const again = await withReader(dataDir, (space) => look(space, { window: '7d', clock: NOW }));
    expect(again.paidUsdMicros).toBe(312_000_000n);
  });

  it('shows GPU-hours, never $0, where no price is known', async () => {
    const { lines } = await seen(await read([playedFleet({ gpus: 2, model: 'Zorg 9' })]));
    expect(lines[0]).toMatch(/^GPU-hours, last 7 days +312 .*no price known for any of it/);
    expect(lines.join('\n')).toContain('Prices assumed: Zorg 9 no price.');
    expect(lines.join('\n')).not.toMatch(/\$0\b/);
  });

  it('of a large fleet reads a part, into a throw-away folder, and scales nothing up', async () => {
    const source = playedFleet({ gpus: 120 });
    const result = await read([source], { gpusMax: 20 });
    expect(result.dataDir).not.toBe(dataDir);
    expect(existsSync(dataDir)).toBe(false);
    expect(source.asked[0]?.gpusMax).toBe(20);
    const { answer, lines } = await seen(result);
    expect(lines[0]).toBe(
      'Read 20 of 120 GPUs: the others are not read. Every figure is of the 20 alone, none is scaled up.',
    );
    const units = Object.values(answer.categories).reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n);
    expect(units / (63_000n * 3600n)).toBe(20n * 156n);
  });

  it('ends when the time is over, keeps what it has and says what is cut', async () => {
    const over = new AbortController();
    const source = playedFleet({ gpus: 2, beforeDay: async (day) => (day === 2 ? over.abort() : undefined) });
    const result = await read([source], { signal: over.signal });
    const { answer, lines } = await seen(result);
    expect(result.window).toBe('2026-11-15T00:00:00.000Z/2026-11-17T00:00:00.000Z');
    // Two GPUs for a day and a half; of the days before nothing is said, least of all that nobody held anything.
    expect(answer.paidUsdMicros).toBe(2n * 36n * 6_880_000n);
    const all = await withReader(dataDir, (space) => look(space, { window: 'all', clock: NOW }));
    expect(all.ledger).toEqual({ first: '2026-11-15', last: '2026-11-16' });
    expect(all.paidUsdMicros).toBe(answer.paidUsdMicros);
    expect(lines).toContain(
      'Cut short: played: samples from 2026-11-15 00:00 UTC on, older ones are not read; a look takes at most a minute.' +
        '  → bursar collect',
    );
  });

  it('ends by itself before the minute is over', async () => {
    const waits = (_: number, { signal }: PullRequest): Promise<void> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    const source = playedFleet({
      gpus: 2,
      beforeDay: async (day, request) => (day === 1 ? waits(day, request) : undefined),
    });
    const begun = performance.now();
    const { read: summary } = await read([source], { elapsedMs: () => 50_000 });
    expect(summary.sources[0]?.state).toBe('cut');
    expect(performance.now() - begun).toBeLessThan(40_000);
  });

  it('goes on where one source is down, and says so', async () => {
    const down = playedFleet({
      name: 'slurm',
      gpus: 0,
      health: { state: 'down', says: 'munge is not running', todo: 'systemctl start munge', advice: [] },
    });
    const { lines } = await seen(await read([playedFleet({ gpus: 2 }), down]));
    expect(down.asked).toEqual([]);
    expect(lines).toContain('Not read: slurm: munge is not running. systemctl start munge');
  });

  it('goes on where one fails on the way', async () => {
    const failing = playedFleet({
      name: 'broken',
      gpus: 1,
      beforeDay: () => Promise.reject(new OperationError('http', 'answers 503', { hint: 'Wait.' })),
    });
    const { lines } = await seen(await read([playedFleet({ gpus: 2 }), failing]));
    expect(lines).toContain('Not read: broken: answers 503. Wait.');
  });

  it('where none answers is an error that says all of it', async () => {
    const down = (name: string): Source =>
      playedFleet({ name, gpus: 0, health: { state: 'down', says: 'refused', todo: 'Start it.', advice: [] } });
    await expect(read([down('a'), down('b')])).rejects.toMatchObject({
      code: 'nothing-answers',
      message: 'a: refused\nb: refused',
      hint: expect.stringContaining('Start it.'),
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  it('again into the same folder replaces what it read', async () => {
    const before = await seen(await read([playedFleet({ gpus: 2 })]));
    const after = await seen(await read([playedFleet({ gpus: 2 })]));
    expect(after.answer.paidUsdMicros).toBe(before.answer.paidUsdMicros);
  });

  it('never mixes with data that came otherwise', async () => {
    const fleet = await fleetFolder(SMALL_FLEET);
    try {
      await expect(read([playedFleet({ gpus: 2 })], { dataDir: fleet.dataDir })).rejects.toMatchObject({
        code: 'other-data',
        hint: expect.stringContaining('--data'),
      });
    } finally {
      await fleet.remove();
    }
  });
});
