import { describe, expect, it } from 'vitest';
import { fleetFolder } from '../../test/fleet-folder.ts';
import type { IdleNow } from '../report/idle-list.ts';
import { idleNow } from './idle.ts';
import { decideNow } from './now.ts';
import { withReader } from './workspace.ts';

const START = Date.parse('2026-03-02T00:00:00Z');
const at = (hours: number): string => new Date(START + hours * 3_600_000).toISOString().replace('.000', '');

/** Samples of one device: `[from, until)` in hours, each `stepS` seconds, at an engine and a util permille. */
type Spell = readonly [from: number, until: number, engine: number | '', util?: number | ''];

function samples(device: string, stepS: number, spells: readonly Spell[]): string {
  return spells
    .flatMap(([from, until, engine, util = '']) =>
      Array.from(
        { length: Math.round(((until - from) * 3600) / stepS) },
        (_, index) => `${device},${at(from + (index * stepS) / 3600)},${stepS},${engine},${util}`,
      ),
    )
    .join('\n');
}

async function idleOf(
  devices: Readonly<Record<string, { stepS?: number; spells: readonly Spell[] }>>,
  allocations: readonly string[] = [],
  asOfHours?: number,
): Promise<IdleNow> {
  const rows = Object.entries(devices).map(([id, { stepS = 600, spells }]) => samples(id, stepS, spells));
  const fleet = await fleetFolder({
    samples: `device_id,ts,step_s,engine_permille,util_permille\n${rows.join('\n')}\n`,
    rates: 'model,usd_per_gpu_hour\n*,6.00\n',
    ...(allocations.length > 0 && {
      allocations: `source,allocation_id,node_id,device_id,held_from,held_until\n${allocations.join('\n')}\n`,
    }),
  });
  const asked = asOfHours === undefined ? undefined : new Date(at(asOfHours));
  const clock = new Date('2026-11-01T00:00:00Z');
  const idle = await withReader(fleet.dataDir, (space) =>
    idleNow(space, decideNow(asked, space.scope?.horizon, clock)),
  );
  await fleet.remove();
  return idle;
}

/** `device since so-far` of each row, hours counted from the start. */
const rowsOf = (idle: IdleNow): string[] =>
  idle.holdings.map(
    ({ devices, idleSince, usdMicrosSoFar }) =>
      `${devices.join('+')} ${(idleSince.getTime() - START) / 3_600_000} ${Number(usdMicrosSoFar) / 1e6}`,
  );

interface Case {
  devices: Parameters<typeof idleOf>[0];
  allocations?: readonly string[];
  asOf?: number;
  want: string[];
  silent?: number;
}

const cases: Record<string, Case> = {
  'a stretch is followed over days': {
    devices: {
      g: {
        stepS: 1800,
        spells: [
          [0, 5, 900],
          [5, 175, 0],
        ],
      },
    },
    want: ['g 5 1020'], // 170 hours at $6
  },
  'computing ends it, however short': {
    devices: {
      g: {
        spells: [
          [0, 3, 0],
          [3, 3.5, 900],
          [3.5, 6, 0],
        ],
      },
    },
    want: ['g 3.5 15'],
  },
  'a gap ends it': {
    devices: {
      g: {
        spells: [
          [0, 3, 0],
          [4, 6, 0],
        ],
      },
    },
    want: ['g 4 12'],
  },
  'a lying sensor ends it': {
    devices: {
      g: {
        spells: [
          [0, 3, 0],
          [3, 4, 0, 900],
          [4, 6, 0],
        ],
      },
    },
    want: ['g 4 12'],
  },
  'a change of sensor does not': {
    devices: {
      g: {
        spells: [
          [0, 3, 0],
          [3, 6, '', 0],
        ],
      },
    },
    want: ['g 0 36'],
  },
  'of its first hour it has its seconds’ part': {
    devices: {
      g: {
        spells: [
          [0, 0.5, 0],
          [0.5, 0.75, 900],
          [0.75, 2, 0],
        ].map(([a, b, c]) => [a, b, c] as Spell),
        stepS: 900,
      },
    },
    want: ['g 0.75 7.5'],
  },
  'and of the hour that now cuts': { devices: { g: { spells: [[0, 6, 0]] } }, asOf: 2.5, want: ['g 0 15'] },
  'a device heard of nine minutes ago is current': {
    devices: { g: { stepS: 60, spells: [[0, 5.85, 0]] }, h: { stepS: 60, spells: [[0, 6, 900]] } },
    want: ['g 0 35.1'],
  },
  'one that fell silent earlier is not there any more': {
    devices: { g: { stepS: 60, spells: [[0, 5.5, 0]] }, h: { stepS: 60, spells: [[0, 6, 900]] } },
    want: [],
  },
  'unless it is asked that seldom': {
    devices: { g: { stepS: 3600, spells: [[0, 5, 0]] }, h: { stepS: 60, spells: [[0, 6, 900]] } },
    want: ['g 0 30'],
  },
  'held and silent is unknown': {
    devices: { g: { stepS: 60, spells: [[0, 5.5, 0]] }, h: { stepS: 60, spells: [[0, 6, 900]] } },
    allocations: ['slurm,1,n,g,2026-03-02T00:00:00Z,', 'slurm,2,n,h,2026-03-02T00:00:00Z,'],
    want: [],
    silent: 1,
  },
  'it is not idle before it was held': {
    devices: { g: { spells: [[0, 6, 0]] } },
    allocations: ['slurm,1,n,g,2026-03-02T00:00:00Z,2026-03-02T02:00:00Z', 'slurm,2,n,g,2026-03-02T04:00:00Z,'],
    want: ['g 4 12'],
  },
  'nobody holds it, nobody idles': {
    devices: { g: { spells: [[0, 6, 0]] } },
    allocations: ['slurm,1,n,g,2026-03-02T00:00:00Z,2026-03-02T02:00:00Z'],
    want: [],
  },
  'devices of one holder stand in one row, since the first of them': {
    devices: {
      g: {
        spells: [
          [0, 3, 900],
          [3, 6, 0],
        ],
      },
      h: {
        spells: [
          [0, 5, 900],
          [5, 6, 0],
        ],
      },
    },
    allocations: ['slurm,1,n,g,2026-03-02T00:00:00Z,', 'slurm,1,n,h,2026-03-02T00:00:00Z,'],
    want: ['g+h 3 24'],
  },
};

describe('who holds idle GPUs now', () => {
  for (const [name, { devices, allocations = [], asOf, want, silent = 0 }] of Object.entries(cases)) {
    it(name, async () => {
      const idle = await idleOf(devices, allocations, asOf);
      expect({ rows: rowsOf(idle), silent: idle.silentGpus }).toEqual({ rows: want, silent });
    });
  }

  it('long after the last fact nothing is known', async () => {
    const idle = await idleOf({ g: { spells: [[0, 6, 0]] } }, [], 48);
    expect(idle).toMatchObject({ holdings: [], heldGpus: 0, newestFact: new Date(at(6)) });
  });
});
