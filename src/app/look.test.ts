import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { EURO_BILL, SMALL_FLEET } from '../../test/small-fleet.ts';
import { lookScreen } from '../report/look-screen.ts';
import type { LookAnswer } from '../report/look-screen.ts';
import { look } from './look.ts';
import { withReader } from './workspace.ts';

const HOUR = 63_000n * 3600n;
const clock = new Date('2026-11-01T00:00:00Z');

describe('the first screen, figures worked out by hand', () => {
  let fleet: FleetFolder;
  const ask = (window: string, asOf?: Date): Promise<LookAnswer> =>
    withReader(fleet.dataDir, (space) => look(space, { window, clock, ...(asOf && { asOf }) }));
  beforeAll(async () => {
    fleet = await fleetFolder({ ...SMALL_FLEET, 'charges 2': EURO_BILL });
  });
  afterAll(() => fleet.remove());

  it('each dollar is in one category, and they add up to what was paid', async () => {
    const answer = await ask('all');
    expect(answer.paidUsdMicros).toBe(34_060_000n);
    expect(Object.fromEntries(Object.entries(answer.categories).map(([name, sum]) => [name, sum.usdMicros]))).toEqual({
      stranded: 1_000_000n,
      unallocated: 9_750_000n,
      unknown: 16_985_000n,
      idle: 1_625_000n,
      computing: 3_250_000n,
      beside: 1_450_000n,
    });
    expect(answer.categories.unknown.unpricedUnits).toBe(2n * HOUR);
    expect(answer.basisUsdMicros).toEqual({ billed: 28_450_000n, rate: 4_000_000n, estimated: 1_610_000n });
    expect(answer.beside).toEqual([
      { what: 'tax', usdMicros: 1_200_000n },
      { what: 'storage', usdMicros: 500_000n },
      { what: 'credits', usdMicros: -250_000n },
    ]);
    expect(answer.computeSharePermille).toBe(208); // 3.25 ÷ (34.06 − 1.45 − 16.985)
    expect(answer.computeShareHoursPermille).toBe(222); // 2 of 9 known GPU-hours
    expect(answer.unpriced).toEqual([{ model: 'Zorg', billedBy: null, gpuUnits: 2n * HOUR }]);
    expect(answer.notPosted).toEqual([{ billId: expect.stringContaining('OVH|9|') as string, currency: 'EUR' }]);
  });

  it('counts hours that began before now', async () => {
    const answer = await ask('today', new Date('2026-03-02T09:00:00Z'));
    expect(answer.categories.idle.usdMicros).toBe(0n);
    expect(answer.categories.computing.usdMicros).toBe(3_250_000n);
    expect(answer.categories.unallocated.usdMicros).toBe(1_625_000n);
  });

  it('says what keeps it from being whole, and the command that helps', async () => {
    const screen = lookScreen(await ask('all')).join('\n');
    expect(screen).toContain('as of 2026-03-02 12:00 UTC, the newest fact');
    expect(screen).toContain("printf 'model,usd_per_gpu_hour\\nZorg,USD\\n' | bursar import rates - --batch rates");
    expect(screen).toContain('Not posted: 1 bill in EUR, for want of an exchange rate.');
    expect(screen).not.toMatch(/\$0(?![\d.,])|NaN|undefined|null/);
  });

  it('without anything in the window says where the facts are', async () => {
    const screen = lookScreen(await ask('30d', new Date('2026-02-01T00:00:00Z'))).join('\n');
    expect(screen).toContain('The facts reach from 2026-03-02 to 2026-03-02: bursar look --window all');
  });
});

describe('the first screen without prices', () => {
  it('is in GPU-hours, and says so', async () => {
    const { nodes = '', samples = '' } = SMALL_FLEET;
    const fleet = await fleetFolder({ nodes: nodes.replaceAll(/H100|A100|L4/g, 'Zorg'), samples });
    const answer = await withReader(fleet.dataDir, (space) => look(space, { window: 'all', clock }));
    await fleet.remove();
    expect(answer.paidUsdMicros).toBeNull();
    expect(answer.categories.idle).toEqual({ usdMicros: null, gpuUnits: 2n * HOUR, unpricedUnits: 2n * HOUR });
    const screen = lookScreen(answer).join('\n');
    expect(screen).toContain('no price known for any of it');
    expect(screen).toContain('No allocations yet');
    expect(screen).not.toContain('$');
  });
});
