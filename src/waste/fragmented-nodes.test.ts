import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import type { Row } from '../../test/stage-on.ts';
import type { ToldNode } from '../../test/told-nodes.ts';
import { begun, BUSY, DAYS, job, rowsOf, together, WINDOW } from '../../test/told-nodes.ts';
import { fragmentedNodes } from './fragmented-nodes.ts';

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

  it.each([
    { name: 'a job for a whole node that waited and began', job: begun(4, { asked: '02 06', got: '03 06' }), want: 1 },
    { name: 'one that would have fitted beside others', job: begun(2, { asked: '02 06', got: '03 06' }), want: 0 },
    { name: 'one that began at once', job: begun(4, { asked: '02 06', got: '02 06:20' }), want: 0 },
  ])('of owned nodes speaks for $name: $want', async ({ job: waited, want }) => {
    const claims = await claimsOn(fragmentedNodes, together(rowsOf(owned), waited), WINDOW);
    expect(claims.map(({ because }) => because[0]?.endsWith(', from 2026-03-02 to 2026-03-03.'))).toEqual(
      Array.from({ length: want }, () => true),
    );
    expect(claims.map(({ because }) => because[1])).toEqual(
      Array.from(
        { length: want },
        () => '1 job for 4 GPUs and more waited on 2 days on which as many were free in parts; 0 of them now.',
      ),
    );
  });

  /** A rented node of four, of which a job holds one all the time, and what stands beside it. */
  const LONE: ToldNode = { id: 'r1', held: [['01 00', '04 00', 1]] };
  const FREE: ToldNode = { id: 'o1', held: [], purchase: 'committed' };
  const rented: Record<
    string,
    { nodes: readonly ToldNode[]; tables?: Record<string, Row[]>; want: readonly string[] }
  > = {
    'a rented node whose job fits on an empty node that is committed': {
      nodes: [LONE, FREE],
      want: ['216 GPU-hours free on 1 H100 node of a (on-demand), and room for its jobs on own ones'],
    },
    'a rented node alone: nothing else is there': { nodes: [LONE], want: [] },
    'own nodes that are busy': { nodes: [LONE, { ...FREE, ...BUSY }], want: [] },
    'own nodes that are spare': { nodes: [LONE, { ...FREE, reason: 'spare' }], want: [] },
    'own nodes that are free on two days of three, as beside a burst': {
      nodes: [LONE, { ...FREE, held: [['02 00', '03 00', 4]] }],
      want: [],
    },
    'a rented machine that lived for two days': {
      nodes: [{ ...LONE, held: [['01 00', '03 00', 1]], there: [['01 00', '03 00']] }, FREE],
      want: [],
    },
    'a rented machine that is used': {
      nodes: [
        { ...LONE, held: [['01 00', '04 00', 13]], gpus: 16 },
        { ...FREE, gpus: 16 },
      ],
      want: [],
    },
    'a machine nobody says is rented': { nodes: [{ ...LONE, purchase: null, provider: null }, FREE], want: [] },
    'what serves from there': {
      nodes: [LONE, FREE],
      tables: {
        stint_day: DAYS.map((day) => ({ day, subject: 'job', manner: 'serving', node_id: 'x', device_id: 'x' })),
      },
      want: [],
    },
    'a second one for which the room would have to be given twice': {
      nodes: [
        { ...LONE, held: [['01 00', '04 00', 2]] },
        { id: 'r2', held: [['01 00', '04 00', 3]], gpus: 8, purchase: 'spot' },
        FREE,
      ],
      want: ['144 GPU-hours free on 1 H100 node of a (on-demand), and room for its jobs on own ones'],
    },
  };
  it.each(Object.entries(rented))('%s', async (_, { nodes, tables = {}, want }) => {
    const claims = await claimsOn(fragmentedNodes, together(rowsOf(nodes), tables), WINDOW);
    expect(claims.map(({ what }) => what)).toEqual(want);
  });

  it('of a rented node that could have gone says where its jobs fit, and takes what was free', async () => {
    const [claim] = await claimsOn(fragmentedNodes, rowsOf([LONE, FREE]), WINDOW);
    expect(claim).toMatchObject({
      because: [
        'Part of a node each, beside GPUs that were held: r1, from 2026-03-01 to 2026-03-03.',
        'Its jobs held at most 1 GPU of a node on a day; on 3 days at least as many H100 that are owned or committed stood empty in a, never fewer than 4 (daily means).',
      ],
      fix: [
        "bursar spend --by team,user --filter 'node=r1'   # whose jobs",
        '# send them to a first (partition, queue, node selector); then give back r1',
      ],
      takes: [
        { subject: 'node r1', firstDay: '2026-03-01', lastDay: '2026-03-03', category: 'unallocated', permille: 1000 },
      ],
      reachable: { lowPermille: 1000, highPermille: 1000 },
    });
  });

  it('of room in another cluster nothing is certain', async () => {
    const rows = rowsOf([LONE, FREE]);
    const elsewhere = (table: string): Row[] =>
      (rows[table] ?? []).map((row) => (row['node_id'] === 'o1' ? { ...row, cluster: 'b' } : row));
    const [claim] = await claimsOn(
      fragmentedNodes,
      { ...rows, subject_day: elsewhere('subject_day'), presence: elsewhere('presence') },
      WINDOW,
    );
    expect(claim?.because.at(-1)).toBe('That is another cluster: data, accounts and quotas have to be there.');
    expect(claim?.reachable).toEqual({ lowPermille: 0, highPermille: 1000 });
  });

  describe('a GPU that computes for somebody nobody knows', () => {
    const atWork = (node: string): Row[] =>
      Array.from({ length: 72 }, (_, hour) => ({
        day: DAYS[Math.floor(hour / 24)] ?? '',
        hour_start: `${DAYS[Math.floor(hour / 24)]} ${String(hour % 24).padStart(2, '0')}:00:00`,
        node_id: node,
        device_id: `${node}/g3`,
        root_device_id: `${node}/g3`,
        computing_s: 3600,
      }));

    it('is not free', async () => {
      const rows = { ...rowsOf(owned, [job(4)]), unheld_hour: atWork('n1') };
      const [claim] = await claimsOn(fragmentedNodes, rows, WINDOW);
      expect(claim?.what).toMatch(/^240 GPU-hours free/);
      expect(claim?.takes).toMatchObject([{ permille: 666 }, { permille: 1000 }]);
    });

    it('cannot be sent elsewhere', async () => {
      const rows = { ...rowsOf([LONE, FREE]), unheld_hour: atWork('r1') };
      expect(await claimsOn(fragmentedNodes, rows, WINDOW)).toEqual([]);
    });
  });

  it.each([
    { name: 'nobody waits for', waiting: [] },
    { name: 'somebody waits for', waiting: [job(4)] },
  ])('of rented nodes $name no more can be given back than packing makes whole', async ({ waiting }) => {
    const [claim] = await claimsOn(fragmentedNodes, rowsOf(PARTS, waiting), WINDOW);
    // Six GPUs free on each of three days: one whole node of four.
    expect(claim?.reachable).toEqual({ lowPermille: 666, highPermille: 666 });
    expect(claim?.fix.join()).toContain('SchedulerParameters=');
    expect(claim?.fix.join(), 'its cluster is of Slurm').not.toContain('NodeResourcesFit');
  });

  it('names free GPUs that make a whole node nobody gets, and what packing gains at least', async () => {
    const claims = await claimsOn(fragmentedNodes, rowsOf(owned, [job(4)]), WINDOW);
    // Six GPUs free on each of the two days since it waits: one whole node of four, so 192 of 288 GPU-hours.
    expect(
      claims.map(({ what, reachable, takes }) => ({ what, low: reachable?.lowPermille, takes: takes.length })),
    ).toEqual([{ what: '288 GPU-hours free beside other jobs on 2 H100 nodes of a (owned)', low: 666, takes: 2 }]);
  });
});
