import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { openCostSets } from '../../report/opencost-allocation.ts';
import type { OpenCostSet } from '../../report/opencost-allocation.ts';
import { parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { allocations } from './allocations.ts';

const DAY = '2026-03-02';
const AFTER = new Date('2026-03-03T00:00:00Z');

interface Asked {
  readonly aggregate?: readonly string[];
  readonly stepSeconds?: number;
  readonly team?: string;
  readonly window?: string;
  readonly includeIdle?: boolean;
}

describe('allocations of the small fleet', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
  });
  afterAll(() => fleet.remove());

  const sets = async (asked: Asked): Promise<OpenCostSet[]> =>
    withReader(fleet.dataDir, async (space) => {
      const answer = await allocations(space, {
        window: ledgerWindow(asked.window ?? DAY, AFTER, space.scope),
        aggregate: asked.aggregate ?? ['namespace'],
        stepSeconds: asked.stepSeconds,
        team: asked.team,
      });
      return openCostSets(answer, { includeIdle: asked.includeIdle ?? true });
    });
  const micros = (set: OpenCostSet): number =>
    Object.values(set).reduce((sum, { totalCost }) => sum + Math.round((totalCost ?? 0) * 1e6), 0);

  it('tells the one pod with a namespace, what has none, and what nobody claimed', async () => {
    const [set = {}] = await sets({});
    expect(Object.keys(set)).toEqual(['__idle__', '__unallocated__', 'asr']);
    // Job 102: one GPU of a1 for four hours at $1.625, and nobody measured it.
    expect(set['asr']).toMatchObject({
      properties: { cluster: 'a', namespace: 'asr' },
      gpuHours: 4,
      totalCost: 6.5,
      gpuEfficiency: null,
      totalEfficiency: null,
    });
    expect(set['__idle__']).toMatchObject({ gpuEfficiency: null, gpuCostIdle: 0 });
  });

  it('tells the hours of a job, and what of them computed', async () => {
    const [set = {}] = await sets({ aggregate: ['pod'] });
    // Job 101: an hour at 900 of 1,000 parts, then an idle one.
    expect(set['101']).toMatchObject({
      start: '2026-03-02T08:00:00Z',
      end: '2026-03-02T10:00:00Z',
      minutes: 120,
      gpuHours: 2,
      gpuCount: 1,
      totalCost: 3.25,
      gpuEfficiency: 0.45,
    });
  });

  it('gives what has no price no cost, and says how much that is', async () => {
    const [set = {}] = await sets({ aggregate: ['node'] });
    expect(set['odd1']).toMatchObject({ gpuHours: 2, gpuCost: null, totalCost: null, bursarUnpricedGpuHours: 2 });
  });

  it.each([
    ['controller', ['__idle__', '__unallocated__', 'deployment:=serve', 'job:eval', 'job:render', 'job:train-7b']],
    ['cluster', ['__idle__', '__unallocated__', 'a', 'b', 'c']],
    ['label:class', ['__idle__', '__unallocated__', 'training']],
    ['team', ['__idle__', '__unallocated__', 'asr', 'nlp', 'vision']],
    [
      'controller,pod',
      ['__idle__', '__unallocated__', 'deployment:=serve/102', 'job:eval/103', 'job:render/201', 'job:train-7b/101'],
    ],
    [
      'cluster,namespace',
      ['__idle__', '__unallocated__', 'a/__unallocated__', 'a/asr', 'b/__unallocated__', 'c/__unallocated__'],
    ],
  ])('by %s', async (aggregate, want) => {
    const [set = {}] = await sets({ aggregate: aggregate.split(',') });
    expect(Object.keys(set)).toEqual(want);
  });

  it('shows a team its own and nothing else', async () => {
    const [set = {}] = await sets({ aggregate: ['controller'], team: 'nlp' });
    expect(Object.keys(set)).toEqual(['job:eval', 'job:train-7b']);
  });

  it('leaves capacity nobody claimed out unless it is asked for', async () => {
    const [set = {}] = await sets({ includeIdle: false });
    expect(Object.keys(set)).not.toContain('__idle__');
  });

  it('has one set for each step, empty ones too', async () => {
    const hours = await sets({ stepSeconds: 3600 });
    expect(hours).toHaveLength(24);
    expect(Object.keys(hours[7] ?? {})).toEqual([]);
    expect(hours[8]?.['asr']).toMatchObject({
      window: { start: '2026-03-02T08:00:00Z', end: '2026-03-02T09:00:00Z' },
      totalCost: 1.625,
    });
  });

  it('refuses what cannot be aggregated by, with what can', async () => {
    await expect(sets({ aggregate: ['colour'] })).rejects.toMatchObject({
      code: 'bad-aggregate',
      hint: expect.stringMatching(/namespace/) as unknown,
    });
    await expect(sets({ stepSeconds: 60 })).rejects.toMatchObject({ code: 'bad-step' });
  });

  it('adds up to the ledger, however it is cut', async () => {
    const paid = await withReader(fleet.dataDir, async (space) =>
      spend(space, { by: parseDimensions(''), filters: [], window: ledgerWindow(DAY, AFTER, space.scope) }),
    );
    const aggregates = ['namespace', 'cluster', 'node', 'controller', 'pod', 'team', 'label:class'];
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(aggregates, { maxLength: 3 }),
        fc.constantFrom(undefined, 3600, 7200, 86_400),
        async (aggregate, stepSeconds) => {
          const found = await sets({ aggregate, ...(stepSeconds !== undefined && { stepSeconds }) });
          // Each figure is rounded once, to five decimals of a dollar.
          const count = found.reduce((sum, set) => sum + Object.keys(set).length, 0);
          const total = found.reduce((sum, set) => sum + micros(set), 0);
          expect(Math.abs(total - Number(paid.totalUsdMicros))).toBeLessThanOrEqual(5 * count);
        },
      ),
      { numRuns: 12 },
    );
  });
});
