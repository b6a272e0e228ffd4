import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import type { Row } from '../../test/stage-on.ts';
import { emptyNodes } from './empty-nodes.ts';
import { fragmentedNodes } from './fragmented-nodes.ts';
import { unavailableNodes } from './unavailable-nodes.ts';

const U = 63_000;
const WINDOW = { from: '2026-03-01', until: '2026-03-04' };
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];

/** One node of four GPUs: hours in which jobs hold so many of them, as `DD HH` up to `DD HH`; the rest of the time is unallocated. */
interface ToldNode {
  readonly id?: string;
  readonly held: readonly (readonly [from: string, until: string, gpus: number])[];
  readonly reason?: string;
  readonly purchase?: string | null;
  readonly provider?: string | null;
  readonly gpus?: number;
  /** When it was there, as `DD HH`; all the time where left out. */
  readonly there?: readonly (readonly [from: string, until: string])[];
}

/** `DD HH`, or `DD HH:MM`. */
const at = (text: string): number =>
  Date.parse(`2026-03-${text.replace(' ', 'T')}${text.includes(':') ? '' : ':00'}:00Z`);
const timeOf = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

function rowsOf(nodes: readonly ToldNode[], waiting: readonly Row[] = []): Record<string, Row[]> {
  const tables = {
    stint_day: [] as Row[],
    subject_day: [] as Row[],
    subject: [] as Row[],
    presence: [] as Row[],
    waiting: [...waiting],
  };
  for (const {
    id = 'n1',
    held,
    reason = 'empty',
    purchase = 'on-demand',
    provider = 'AWS',
    gpus = 4,
    there = [['01 00', '04 00']],
  } of nodes) {
    const of = { node_id: id, cluster: 'a', model: 'H100', purchase, provider };
    tables.subject.push({
      day: '2026-03-03',
      subject: `node ${id}`,
      what: 'node',
      resource_id: `i-${id}`,
      node_id: id,
    });
    tables.subject.push({ day: '2026-03-03', subject: `job ${id}`, what: 'job', source: 'slurm', cluster: 'a' });
    for (const day of DAYS) {
      const start = Date.parse(day);
      const pieces = held.map(([from, until, count]) => ({
        from: Math.max(at(from), start),
        until: Math.min(at(until), start + 86_400_000),
        count,
      }));
      const today = pieces.filter(({ from, until }) => from < until);
      const spans = there
        .map(([from, until]) => [Math.max(at(from), start), Math.min(at(until), start + 86_400_000)] as const)
        .filter(([from, until]) => from < until);
      const thereS = spans.reduce((sum, [from, until]) => sum + (until - from) / 1000, 0);
      for (const [place, { from, until, count }] of today.entries())
        for (let gpu = 0; gpu < count; gpu += 1)
          tables.stint_day.push({
            day,
            subject: `job ${place}`,
            node_id: id,
            device_id: `${id}/g${gpu}`,
            held_from: timeOf(from),
            held_until: timeOf(until),
          });
      for (let gpu = 0; gpu < gpus; gpu += 1) {
        for (const [from, until] of spans)
          tables.presence.push({
            ...of,
            day,
            device_id: `${id}/g${gpu}`,
            from_at: timeOf(from),
            until_at: timeOf(until),
            state: reason === 'empty' ? 'up' : reason,
          });
        const heldS = today.reduce((sum, { from, until, count }) => sum + (gpu < count ? (until - from) / 1000 : 0), 0);
        const row = { ...of, day, device_id: `${id}/g${gpu}`, usd_micros: 1, marginal_usd_micros: 1 };
        if (heldS > 0) tables.subject_day.push({ ...row, subject: 'job', category: 'computing', gpu_units: heldS * U });
        if (heldS < thereS)
          tables.subject_day.push({
            ...row,
            subject: `node ${id}`,
            category: 'unallocated',
            reason,
            gpu_units: (thereS - heldS) * U,
          });
      }
    }
  }
  return tables;
}

const job = (gpus: number, more: Row = {}): Row => ({
  source: 'slurm',
  allocation_id: String(gpus),
  submitted_at: '2026-03-02 00:00:00',
  observed_at: '2026-03-03 23:50:00',
  gpu_count: gpus,
  model: 'H100',
  cluster: 'a',
  held_back_by: 'Resources',
  ...more,
});

const BUSY = { held: [['01 00', '04 00', 4]] } as const;

describe('empty-nodes', () => {
  const silent: Record<string, readonly ToldNode[]> = {
    'a node that is held': [BUSY],
    'an hour between two jobs': [
      {
        held: [
          ['01 00', '02 12', 4],
          ['02 13', '04 00', 4],
        ],
      },
    ],
    'free GPUs beside a job: these are fragments': [{ held: [['01 00', '04 00', 1]] }],
    'a spare': [{ held: [], reason: 'spare' }],
    'a node that is down': [{ held: [], reason: 'down' }],
    'a few GPU-hours of a pool': [{ held: [['01 00', '03 20', 4]] }],
    'machines that came for a job and went with it': Array.from({ length: 20 }, (_, no) => ({
      id: `n${no}`,
      held: [['02 08:20', '02 20:00', 4]],
      there: [['02 08', '02 20:20']],
    })) as readonly ToldNode[],
  };
  it.each(Object.entries(silent))('says nothing of %s', async (_, nodes) => {
    expect(await claimsOn(emptyNodes, rowsOf(nodes), WINDOW)).toEqual([]);
  });

  const spoken = {
    'a night and a day without a job, by their seconds': {
      nodes: [{ held: [['01 00', '02 18', 4]] }] as readonly ToldNode[],
      waiting: [],
      // 30 h × 4 GPUs of 30 h × 4 are empty, all in one stretch of more than a day.
      want: {
        what: "1 H100 node of a (on-demand) empty for 120 GPU-hours, 41 % of the pool's hours",
        takes: ['node n1 1000'],
        low: 1000,
      },
    },
    'only the part of it in which the whole node was free': {
      nodes: [
        {
          held: [
            ['01 00', '02 12', 1],
            ['02 12', '03 00', 4],
            ['03 12', '04 00', 4],
          ],
        },
      ] as readonly ToldNode[],
      waiting: [],
      // Three GPUs × 36 h beside a job, four × 12 h alone: 48 of 156 GPU-hours, none of it a whole day.
      want: {
        what: "1 H100 node of a (on-demand) empty for 48 GPU-hours, 16 % of the pool's hours",
        takes: ['node n1 307'],
        low: 0,
      },
    },
    'one finding for a pool': {
      nodes: [
        { id: 'n1', held: [] },
        { id: 'n2', held: [] },
        { id: 'n3', ...BUSY },
      ] as readonly ToldNode[],
      waiting: [],
      want: {
        what: "2 H100 nodes of a (on-demand) empty for 576 GPU-hours, 66 % of the pool's hours",
        takes: ['node n1 1000', 'node n2 1000'],
        low: 1000,
      },
    },
    'of a machine that lived ten hours, ten hours': {
      nodes: [{ held: [], there: [['02 08', '02 18']], purchase: 'spot' }] as readonly ToldNode[],
      waiting: [],
      want: {
        what: "1 H100 node of a (spot) empty for 40 GPU-hours, 100 % of the pool's hours",
        takes: ['node n1 1000'],
        low: 0,
      },
    },
  };
  it.each(Object.entries(spoken))('names %s', async (_, { nodes, want }) => {
    const claims = await claimsOn(emptyNodes, rowsOf(nodes), WINDOW);
    expect(
      claims.map(({ what, takes, reachable }) => ({
        what,
        takes: takes.map(({ subject, permille }) => `${subject} ${permille}`),
        low: reachable?.lowPermille,
      })),
    ).toEqual([want]);
  });

  it('says how long it stood there, not how long it is gone, and stops nothing that has gone', async () => {
    const [claim] = await claimsOn(
      emptyNodes,
      rowsOf([{ held: [], there: [['02 08', '02 18']], purchase: 'spot' }]),
      WINDOW,
    );
    expect(claim?.because[0]).toContain('longest on n1 (10 h)');
    expect(claim?.because.join(' ')).not.toContain('empty now');
    expect(claim?.fix.filter((line) => !line.startsWith('#'))).toEqual([]);
  });

  it('a machine that was away in between stood empty twice', async () => {
    const nodes = [
      {
        held: [],
        there: [
          ['01 00', '02 00'],
          ['03 00', '04 00'],
        ],
      },
    ] as const;
    const [claim] = await claimsOn(emptyNodes, rowsOf(nodes), WINDOW);
    expect(claim?.because.join(' ')).toContain('longest on n1 (24 h)');
    expect(claim?.because.join(' ')).toContain('1 empty now, since Tue 00:00');
  });

  const NODES = [
    { id: 'n1', held: [] },
    { id: 'n2', held: [['01 00', '02 00', 4]] },
  ] as const;

  it('says who waits, whether they would fit together, and stops what is rented and empty now', async () => {
    const waiting = [
      job(6),
      job(16),
      job(6, { allocation_id: '6b', submitted_at: '2026-03-02 01:00:00' }),
      job(2, { submitted_at: '2026-03-02 02:00:00' }),
      job(2, { allocation_id: 'b', cluster: 'b' }),
    ];
    const [claim] = await claimsOn(emptyNodes, rowsOf(NODES, waiting), WINDOW);
    expect(claim?.because.at(-2)).toBe(
      '4 jobs for 30 GPUs wait for this pool now, held back by Resources; 2 of them would fit together on the 8 GPUs of nodes that are empty now.',
    );
    expect(claim?.fix[0]).toBe('aws ec2 stop-instances --instance-ids i-n1 i-n2');
  });

  it.each([
    {
      name: 'a job that got its GPUs',
      more: { waited_until: '2026-03-02 06:00:00' },
      told: '1 job of the window waited',
    },
    {
      name: 'one that started before anything was empty',
      more: { submitted_at: '2026-02-27 00:00:00', waited_until: '2026-02-28 06:00:00' },
      told: 'Nobody is known',
    },
    {
      name: 'one nobody has seen for a day',
      more: { observed_at: '2026-03-02 12:00:00' },
      told: '1 job of the window waited',
    },
  ])('$name does not wait now', async ({ more, told }) => {
    const [claim] = await claimsOn(emptyNodes, rowsOf(NODES, [job(4, more)]), WINDOW);
    expect(claim?.because.join(' ')).not.toContain('now, held back');
    expect(claim?.because.at(-1)).toContain(told);
  });

  it('of machines nobody knows how they were bought, says what to do in both cases and stops none', async () => {
    const [claim] = await claimsOn(emptyNodes, rowsOf([{ held: [], purchase: null, provider: null }]), WINDOW);
    expect(claim?.fix.join(' ')).toContain('if they are rented');
    expect(claim?.fix.join(' ')).toContain('if they are yours');
    expect(claim?.fix.every((line) => line.startsWith('#'))).toBe(true);
  });

  it('gives no command for machines that are owned: no bill falls', async () => {
    const [claim] = await claimsOn(emptyNodes, rowsOf([{ held: [], purchase: 'owned' }]), WINDOW);
    expect(claim?.fix).toEqual([]);
  });
});

describe('fragmented-nodes', () => {
  /** Two nodes of four GPUs on each of which one GPU is held all the time. */
  const PARTS: readonly ToldNode[] = [
    { id: 'n1', held: [['01 00', '04 00', 1]] },
    { id: 'n2', held: [['01 00', '04 00', 1]] },
  ];
  const owned = PARTS.map((node) => ({ ...node, purchase: 'owned' }));
  const silent: Record<string, { nodes: readonly ToldNode[]; waiting: readonly Row[] }> = {
    'owned nodes nobody waits for': { nodes: owned, waiting: [] },
    'jobs that would fit beside the others': { nodes: owned, waiting: [job(2)] },
    'jobs that wait for another cluster': { nodes: owned, waiting: [job(8, { cluster: 'b' })] },
    'whole empty nodes': { nodes: [{ held: [] }], waiting: [job(8)] },
    'nodes of one GPU': { nodes: [{ held: [['01 00', '02 00', 1]], gpus: 1 }], waiting: [job(8)] },
    'jobs for more than the parts make up': { nodes: owned, waiting: [job(8)] },
    'jobs that had their GPUs before': {
      nodes: owned,
      waiting: [job(4, { submitted_at: '2026-02-01 00:00:00', waited_until: '2026-02-28 23:00:00' })],
    },
    'nodes of which nobody says that they are rented': {
      nodes: PARTS.map((node) => ({ ...node, purchase: null, provider: null })),
      waiting: [],
    },
  };
  it.each(Object.entries(silent))('says nothing of %s', async (_, { nodes, waiting }) => {
    expect(await claimsOn(fragmentedNodes, rowsOf(nodes, waiting), WINDOW)).toEqual([]);
  });

  it('names free GPUs that make a whole node nobody gets, and what packing gains at least', async () => {
    const claims = await claimsOn(fragmentedNodes, rowsOf(owned, [job(4)]), WINDOW);
    // Six GPUs free on each of three days: one whole node of four, so 288 of 432 GPU-hours.
    expect(
      claims.map(({ what, reachable, takes }) => ({ what, low: reachable?.lowPermille, takes: takes.length })),
    ).toEqual([{ what: '432 GPU-hours free beside other jobs on 2 H100 nodes of a (owned)', low: 666, takes: 2 }]);
  });
});

describe('unavailable-nodes', () => {
  it('says nothing of a drain of two days, nor of a spare', async () => {
    const drained = [{ held: [['01 00', '02 00', 4]], reason: 'drained' }] as const;
    expect(await claimsOn(unavailableNodes, rowsOf(drained), WINDOW)).toEqual([]);
    expect(await claimsOn(unavailableNodes, rowsOf([{ held: [], reason: 'spare' }]), WINDOW)).toEqual([]);
  });

  it('names what has been down for three days, with how to bring it back', async () => {
    const [claim] = await claimsOn(unavailableNodes, rowsOf([{ held: [], reason: 'down', purchase: 'owned' }]), WINDOW);
    expect(claim?.what).toBe('1 H100 node of a (owned) down for days');
    expect(claim?.fix).toEqual(['scontrol show node n1 | grep -i reason', 'scontrol update nodename=n1 state=resume']);
    expect(claim?.takes).toEqual([
      { subject: 'node n1', firstDay: '2026-03-01', lastDay: '2026-03-03', category: 'unallocated', reason: 'down' },
    ]);
  });
});
