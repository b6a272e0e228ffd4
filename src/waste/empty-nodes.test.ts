import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import type { ToldNode } from '../../test/told-nodes.ts';
import { begun, BUSY, job, rowsOf, together, WINDOW } from '../../test/told-nodes.ts';
import { emptyNodes } from './empty-nodes.ts';

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
        takes: ['node n1 02-03 1000'],
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
      // Three GPUs × 36 h beside a job, four × 12 h alone: the empty time of the third day, and of no other.
      want: {
        what: "1 H100 node of a (on-demand) empty for 48 GPU-hours, 16 % of the pool's hours",
        takes: ['node n1 03-03 1000'],
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
        takes: ['node n1 01-03 1000', 'node n2 01-03 1000'],
        low: 1000,
      },
    },
    'of a machine that lived ten hours, ten hours': {
      nodes: [{ held: [], there: [['02 08', '02 18']], purchase: 'spot' }] as readonly ToldNode[],
      waiting: [],
      want: {
        what: "1 H100 node of a (spot) empty for 40 GPU-hours, 100 % of the pool's hours",
        takes: ['node n1 02-02 1000'],
        low: 0,
      },
    },
  };
  it.each(Object.entries(spoken))('names %s', async (_, { nodes, want }) => {
    const claims = await claimsOn(emptyNodes, rowsOf(nodes), WINDOW);
    expect(
      claims.map(({ what, takes, reachable }) => ({
        what,
        takes: takes.map(
          ({ subject, firstDay, lastDay, permille }) =>
            `${subject} ${firstDay.slice(8)}-${lastDay.slice(8)} ${permille}`,
        ),
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
    expect(claim?.because[1]).toBe(
      '4 jobs for 30 GPUs wait for this pool now, held back by Resources; 2 of them would fit together on the 8 GPUs of nodes that are empty now.',
    );
    expect(claim?.fix).toEqual([
      "scontrol update nodename='n1,n2' state=drain reason=empty",
      "# then see that still nothing runs there: squeue --nodelist='n1,n2'",
      'aws ec2 stop-instances --instance-ids i-n1 i-n2 --region us-east-1',
      '# what a group of an autoscaler started comes again when it stops: lower the size of the group instead',
      '# for next time: SuspendTime=600 in slurm.conf, with a SuspendProgram and a ResumeProgram',
    ]);
  });

  it.each([
    {
      name: 'Kubernetes, at Google',
      source: 'kubernetes',
      provider: 'Google Cloud',
      want: ['kubectl cordon n1', 'gcloud compute instances stop i-n1 --zone us-central1-a'],
    },
    {
      name: 'a scheduler without a command, at a cloud without one',
      source: 'ray',
      provider: 'Polar Compute',
      want: [],
    },
  ])('of $name gives the commands there are', async ({ source, provider, want }) => {
    const rows = rowsOf([{ held: [], provider }]);
    const subject = (rows['subject'] ?? []).map((row) => (row['what'] === 'job' ? { ...row, source } : row));
    const node = [{ node_id: 'n1', zone: 'us-central1-a' }];
    const [claim] = await claimsOn(emptyNodes, { ...rows, subject, node }, WINDOW);
    expect(claim?.fix.filter((line) => !line.startsWith('#'))).toEqual(want);
  });

  it('looks at all nodes it stops, and speaks of the autoscalers of Kubernetes', async () => {
    const rows = rowsOf(NODES);
    const subject = (rows['subject'] ?? []).map((row) =>
      row['what'] === 'job' ? { ...row, source: 'kubernetes' } : row,
    );
    const [claim] = await claimsOn(emptyNodes, { ...rows, subject }, WINDOW);
    expect(claim?.fix).toEqual([
      'kubectl cordon n1 n2',
      '# then see that still nothing runs there: kubectl describe nodes n1 n2   (nvidia.com/gpu under Allocated resources)',
      'aws ec2 stop-instances --instance-ids i-n1 i-n2 --region us-east-1',
      '# what a group of an autoscaler started comes again when it stops: lower the size of the group instead',
      '# for next time: Karpenter consolidationPolicy: WhenEmpty, consolidateAfter: 10m;',
      '# or cluster-autoscaler --scale-down-unneeded-time=10m',
    ]);
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
    expect(claim?.because[1]).toContain(told);
  });

  it.each([
    {
      name: 'a job that began and had waited is told, though no scheduler lists it any more',
      job: begun(4, { asked: '02 06', got: '03 06' }),
      told: '1 job of the window waited for this model while a whole node stood empty, 1 of them for no more than a node has.',
    },
    {
      name: 'one that asked for more than a node has would not have fitted',
      job: begun(6, { asked: '02 06', got: '03 06' }),
      told: '1 job of the window waited for this model while a whole node stood empty, 0 of them for no more than a node has.',
    },
    {
      name: 'one that had asked before the window',
      job: begun(4, { asked: '01 00', got: '02 06' }, { submitted_at: '2026-02-20 00:00:00' }),
      told: '1 job of the window waited',
    },
    { name: 'half an hour is no wait', job: begun(4, { asked: '02 06', got: '02 06:30' }), told: 'Nobody is known' },
    {
      name: 'what begins again after a failure has not waited since it was asked for',
      job: begun(4, { asked: '02 06', got: '02 06:10', again: '03 06' }),
      told: 'Nobody is known',
    },
    {
      name: 'who waited for another cluster',
      job: begun(4, { asked: '02 06', got: '03 06' }, { cluster: 'b' }),
      told: 'Nobody is known',
    },
    {
      name: 'who waited for another model',
      job: begun(4, { asked: '02 06', got: '03 06' }, { model: 'L4' }),
      told: 'Nobody is known',
    },
  ])('$name', async ({ job: waited, told }) => {
    const [claim] = await claimsOn(emptyNodes, together(rowsOf(NODES), waited), WINDOW);
    expect(claim?.because[1]).toContain(told);
  });

  it('who waited while all were held did not wait beside an empty node', async () => {
    const nodes = [{ held: [['01 00', '02 12', 4]] }] as const;
    const waited = begun(4, { asked: '01 06', got: '02 12:30' });
    const [claim] = await claimsOn(emptyNodes, together(rowsOf(nodes), waited), WINDOW);
    expect(claim?.because[1]).toBe('Nobody is known to have waited for it.');
  });

  it('of machines nobody knows how they were bought, says what to do in both cases and stops none', async () => {
    const [claim] = await claimsOn(emptyNodes, rowsOf([{ held: [], purchase: null, provider: null }]), WINDOW);
    expect(claim?.fix.join(' ')).toContain('if they are rented');
    expect(claim?.fix.join(' ')).toContain('if they are yours');
    expect(claim?.fix.every((line) => line.startsWith('#'))).toBe(true);
  });

  describe('of machines that are owned no bill falls, and others can have their hours', () => {
    const OWNED = [{ held: [], purchase: 'owned' }] as const;
    const RENTERS = "bursar spend --by purchase,team --filter 'model=H100'   # who rents the same: they can move in";

    it.each([
      {
        source: 'slurm',
        lent: [
          '# for work that gives way to others, with PreemptType=preempt/partition_prio in slurm.conf:',
          '# scontrol create partitionname=lent nodes=n1 prioritytier=0 preemptmode=requeue',
        ],
      },
      {
        source: 'kubernetes',
        lent: [
          '# for work that gives way to others, by priorityClassName: lent in its pods:',
          '# kubectl create priorityclass lent --value=-1000',
        ],
      },
      { source: 'ray', lent: [] },
    ])('says who rents the same and how $source lends them, and stops nothing', async ({ source, lent }) => {
      const rows = rowsOf(OWNED);
      const subject = (rows['subject'] ?? []).map((row) => (row['what'] === 'job' ? { ...row, source } : row));
      const [claim] = await claimsOn(emptyNodes, { ...rows, subject }, WINDOW);
      expect(claim?.fix).toEqual([RENTERS, ...lent]);
    });

    it('and who waits, where somebody does', async () => {
      const [claim] = await claimsOn(emptyNodes, rowsOf(OWNED, [job(4)]), WINDOW);
      expect(claim?.fix.slice(0, 2)).toEqual(['bursar queue   # who waits, and held back by what', RENTERS]);
    });
  });
});
