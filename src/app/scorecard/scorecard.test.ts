import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { scorecardJson, scorecardMarkdown, scorecardPage } from '../../report/scorecard-page.ts';
import type { ScorecardAnswer, ScoreName } from '../../report/scorecard-page.ts';
import type { Category } from '../../ledger/waterfall.ts';
import { NO_RULES } from '../rules/rule.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { scorecard, shareScores } from './scorecard.ts';

const at = (hour: number): string => new Date(Date.UTC(2026, 2, 2, hour)).toISOString().replace('.000', '');
const hours = (device: string, permilles: readonly number[]): string =>
  permilles.map((permille, hour) => `${device}|${at(hour)}|3600|${permille}`).join('\n');

/** Five GPUs for ten hours at a dollar each: three notebooks, a training job on spot, one GPU that is committed and empty. */
const FLEET = {
  nodes: csv(`
    node_id|present_from|present_until|purchase |cluster|gpu_count|model
    n1     |${at(0)}    |${at(10)}    |on-demand|a      |3        |A100
    n2     |${at(0)}    |${at(10)}    |spot     |a      |1        |A100
    n3     |${at(0)}    |${at(10)}    |committed|a      |1        |A100`),
  devices: csv(`device_id|node_id|model\ng0|n1|A100\ng1|n1|A100\ng2|n1|A100\ng3|n2|A100\ng4|n3|A100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|workload_kind|labels
    slurm|stopped |n1|g0|${at(0)}|${at(4)} |1|a|nlp|Notebook|
    slurm|left    |n1|g1|${at(0)}|${at(9)} |1|a|nlp|Notebook|
    slurm|open    |n1|g2|${at(0)}|         |1|a|   |Notebook|
    slurm|training|n2|g3|${at(0)}|${at(10)}|1|a|nlp|Job     |{"class": "training"}`),
  samples: csv(`
    device_id|ts|step_s|engine_permille
    ${hours('g0', [900, 900, 900, 0])}
    ${hours('g1', [900, 0, 0, 0, 0, 0, 0, 0, 0])}
    ${hours('g2', [900, 0, 0, 0, 0, 0, 0, 0, 0, 0])}
    ${hours('g3', [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000])}`),
  rates: csv('model|usd_per_gpu_hour\nA100|1.00'),
};

let fleet: FleetFolder;
let card: ScorecardAnswer;
beforeAll(async () => {
  fleet = await fleetFolder(FLEET);
  card = await withReader(
    fleet.dataDir,
    (space) => {
      const now = new Date(at(10));
      return scorecard(space, { window: ledgerWindow('all', now, space.scope), now: { at: now, by: 'asked' } });
    },
    { rules: NO_RULES },
  );
});
afterAll(() => fleet.remove());

describe('the scorecard', () => {
  const usd = (amount: number): bigint => BigInt(Math.round(amount * 1e6));
  const want: Record<ScoreName, readonly [part: bigint, whole: bigint]> = {
    'compute-share': [usd(3 + 1 + 1 + 10), usd(50)],
    known: [usd(50), usd(50)],
    tagging: [usd(4 + 9 + 10), usd(50)],
    spot: [usd(10), usd(10)],
    // Three on demand for ten hours, and the one that is committed; spot cannot be covered.
    'commitment-coverage': [usd(10), usd(40)],
    // It stood empty, which is unallocated: nothing of it is stranded.
    'commitment-utilisation': [usd(10), usd(10)],
    // One ended an hour after its last kernel, one eight hours after; one is open and has stood unused for nine.
    'auto-shutdown': [1n, 3n],
  };
  it.each(Object.entries(want))('%s has both its numbers', (name, [part, whole]) => {
    expect(card.now[name as ScoreName]).toEqual({ part, whole, permille: Number((part * 1000n + whole / 2n) / whole) });
  });

  it('says that there is no data before, and where nobody has published a range', () => {
    const page = scorecardPage(card, 120).join('\n');
    expect(page).toMatch(/compute share +30 % +no data +rule of thumb: unmanaged 15–40 %, well run 60–80 %/);
    expect(page).toMatch(/spot of batch +100 % +no data +no published range known/);
    expect(page).toContain('commitment coverage: $10.00 of commitments in use ÷ $40.00 of that and on demand');
    expect(scorecardJson(card)).toMatchObject({
      scores: [{ published: null, ruleOfThumb: 'unmanaged 15–40 %, well run 60–80 %' }, {}, {}, {}, {}, {}, {}],
    });
    expect(page).toContain(
      'auto-shutdown: 1 sessions stopped within 2 h of their last kernel ÷ 3 that ended or stand unused',
    );
  });
});

it('of a fleet that half has no price, says what the shares are in GPU-hours, and how much is in no money', async () => {
  const half = await fleetFolder({
    ...FLEET,
    'nodes 2': csv(`node_id|present_from|present_until|cluster|gpu_count|model\nodd|${at(0)}|${at(10)}|a|5|Zorg`),
    'devices 2': csv(`device_id|node_id|model\nz0|odd|Zorg\nz1|odd|Zorg\nz2|odd|Zorg\nz3|odd|Zorg\nz4|odd|Zorg`),
    'allocations 2': csv(
      `source|allocation_id|node_id|held_from|held_until|gpu_count|cluster\nslurm|dark|odd|${at(0)}|${at(10)}|5|a`,
    ),
  });
  const told = await withReader(
    half.dataDir,
    (space) => {
      const now = new Date(at(10));
      return scorecard(space, { window: ledgerWindow('all', now, space.scope), now: { at: now, by: 'asked' } });
    },
    { rules: NO_RULES },
  );
  await half.remove();
  const page = scorecardPage(told, 120).join('\n');
  expect(page).toMatch(/^Scorecard: compute share 30 % \(30 % of the GPU-hours\), /);
  expect(page).toMatch(/ +now +of GPU-hours +before/);
  // Fifty GPU-hours are known and cost $50; of fifty more nobody knows the price, the holder's team or what they did.
  expect(page).toMatch(/activity known +100 % +50 % +no data/);
  expect(page).toMatch(/tagging +46 % +23 % +no data/);
  expect(page).toMatch(/auto-shutdown +33 % +no data/);
  expect(page).toContain('50.0 GPU-hours of 100 have no price and are in no money here');
  expect(scorecardMarkdown(told, { command: 'c', madeAt: new Date(at(10)), mark: '' }).join('\n')).toContain(
    '| activity known | 100 % | 50 % | no data |',
  );
  const json = scorecardJson(told) as { unpricedSeconds: number; scores: { name: string; hours: object | null }[] };
  expect(json.unpricedSeconds).toBe(180_000);
  expect(json.scores.find(({ name }) => name === 'known')?.hours).toEqual({
    partSeconds: 180_000,
    wholeSeconds: 360_000,
    permille: 500,
  });
  expect(scorecardPage(card, 120).join('\n')).not.toContain('GPU-hours');
});

it('shows the money of categories as `bursar waste` does, where the lines add up', () => {
  const dollars = (amount: number): bigint => BigInt(Math.round(amount * 1e6));
  // Each is rounded down by itself, and two of them up where all add up to $4,002.
  const amounts = new Map<Category, bigint>(
    (['computing', 'idle', 'unknown', 'beside'] as const).map((category) => [category, dollars(1000.4)]),
  );
  const score = (part: number, whole: number) => ({ part: dollars(part), whole: dollars(whole), permille: 500 });
  const now = { ...card.now, 'compute-share': score(1000.4, 2000.8), known: score(2000.8, 3001.2) };
  const page = scorecardPage({ ...card, now, categoryUsdMicros: amounts }, 200).join('\n');
  expect(page).toContain('$1,001 computing ÷ $2,002 of GPU money whose activity is known');
  expect(page).toContain('$2,002 known ÷ $3,002 paid for GPUs');
  expect([...card.categoryUsdMicros.values()].reduce((sum, micros) => sum + micros, 0n)).toBe(dollars(50));
});

describe('commitment coverage', () => {
  const row = (purchase: string | null, category: string, dollars: number) => ({
    values: [null, null, purchase, category],
    step: undefined,
    costUsdMicros: BigInt(dollars) * 1_000_000n,
    heldUnits: 0n,
    unpricedUnits: 0n,
  });
  const FLEET_ROWS = [row('committed', 'computing', 60), row('on-demand', 'idle', 40)];
  const covered = (more: readonly ReturnType<typeof row>[]) =>
    shareScores([...FLEET_ROWS, ...more], ({ costUsdMicros }) => costUsdMicros)['commitment-coverage'].permille;
  it.each([
    ['what is used of it, of what could be', [], 600],
    ['a commitment that strands raises nothing', [row('committed', 'stranded', 500)], 600],
    ['owned machines and spot are nobody’s to cover', [row('owned', 'computing', 90), row('spot', 'idle', 90)], 600],
    ['nor is what nobody says the purchase of', [row(null, 'computing', 90)], 600],
    ['more on demand lowers it', [row('on-demand', 'unallocated', 20)], 500],
  ])('%s', (_, more, want) => expect(covered(more)).toBe(want));
});
