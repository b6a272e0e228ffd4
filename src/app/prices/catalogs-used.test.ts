import { afterAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder, type FleetFolder } from '../../../test/fleet-folder.ts';
import { firstLookLines } from '../../report/first-look-lines.ts';
import { lookScreen } from '../../report/look-screen.ts';
import { priceAssumptions } from '../first-look/price-assumptions.ts';
import { look } from '../look.ts';
import { withReader } from '../workspace.ts';

const NODES = csv(`
  node_id | gpu_count | model                 | provider | region    | instance_type | present_from         | present_until
  a1      | 8         | NVIDIA H100 80GB HBM3 | aws      | us-east-1 | p5.48xlarge   | 2026-03-02T00:00:00Z | 2026-03-03T00:00:00Z
  b1      | 8         | NVIDIA L4             | gcp      | us-east1  | g2-standard-96| 2026-03-02T00:00:00Z | 2026-03-03T00:00:00Z`);
const ROW = 'provider | region | instance_type | accelerator | accelerator_count | as_of | usd_per_hour | price_source';
const LIST = 'list prices of 2026-08-22';
const prices = (...rows: readonly string[]) => csv([ROW, ...rows].join('\n'));
const H100_MARCH = 'aws | us-east-1 | p5.48xlarge | H100 | 8 | 2026-03-01T00:00:00Z | 40 | catalog of March';

interface Case {
  readonly prices?: string;
  /** The end of the screen's first line. */
  readonly want: string;
  readonly assumed: readonly string[];
}

const cases: Record<string, Case> = {
  'none was imported': {
    want: `estimate: ${LIST}, no bill connected`,
    assumed: ['H100 $6.88/h (list price, AWS p5.48xlarge ÷ 8, 2026-08-22)'],
  },
  'one has some of the machines': {
    prices: prices(H100_MARCH),
    want: `estimate: prices of 2026-03-01 (catalog of March), ${LIST}, no bill connected`,
    assumed: ['H100 $5.00/h (price list, catalog of March, 2026-03-01)'],
  },
  'two have them all, and an older price of theirs was not in force': {
    prices: prices(
      H100_MARCH,
      'aws | us-east-1 | p5.48xlarge | H100 | 8 | 2026-01-01T00:00:00Z | 48 | catalog of January',
      'Google Cloud | us-east1 | g2-standard-96 | L4 | 8 | 2026-02-01T00:00:00Z | 8 |',
    ),
    want: 'estimate: prices of 2026-03-01 (catalog of March), prices of 2026-02-01, no bill connected',
    assumed: ['H100 $5.00/h (price list, catalog of March, 2026-03-01)', 'L4 $1.00/h (price list, 2026-02-01)'],
  },
  'it is of other machines': {
    prices: prices('aws | us-east-1 | p4d.24xlarge | A100 | 8 | 2026-03-01T00:00:00Z | 30 | catalog of March'),
    want: `estimate: ${LIST}, no bill connected`,
    assumed: ['H100 $6.88/h (list price, AWS p5.48xlarge ÷ 8, 2026-08-22)'],
  },
};

describe.each(Object.entries(cases))('the price lists an estimate rests on, where %s', (_, given) => {
  let fleet: FleetFolder | undefined;
  afterAll(() => fleet?.remove());

  it('are named with their day and source', async () => {
    fleet = await fleetFolder({ nodes: NODES, ...(given.prices !== undefined && { prices: given.prices }) });
    const lines = await withReader(fleet.dataDir, async (space) => {
      const answer = await look(space, { window: 'all', clock: new Date('2026-03-03T00:00:00Z') });
      const assumptions = await priceAssumptions(space, answer.window);
      const read = { since: answer.window.from, sources: [] };
      const words = { read, prices: assumptions, notRead: [], dataDir: 'd' };
      return [...lookScreen(answer), ...firstLookLines(words)];
    });
    expect(lines[0]).toContain(given.want);
    const assumed = lines.find((line) => line.startsWith('Prices assumed')) ?? '';
    for (const words of given.assumed) expect(assumed).toContain(words);
  });
});
