import { expect, it } from 'vitest';
import { queueFromText } from '../command-reader.ts';
import { scontrolBlocks, scontrolJob } from './scontrol-text.ts';
import { eventOf, nodeFromScontrol, nodeState, nodeStateWords } from './slurm-node.ts';
import { slurmClock } from './slurm-time.ts';

const clock = slurmClock('UTC');
const job = (lines: string) =>
  scontrolJob(scontrolBlocks(lines, 'JobId')[0] ?? { values: new Map(), details: [] }, clock);

const RUNNING = `JobId=9 JobName=x
   UserId=kim(1001) GroupId=kim(1001) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   StartTime=2026-11-16T04:56:01 EndTime=2026-11-16T05:06:01 Deadline=N/A
   NodeList=gpu-[01-03]
   TRES=cpu=6,mem=6G,node=3,billing=6,gres/gpu=5
     Nodes=gpu-01 CPU_IDs=0-1 Mem=1000 GRES=gpu:h100:1(IDX:7)
     Nodes=gpu-[02-03] CPU_IDs=0-1 Mem=1000 GRES=gpu:h100:2(IDX:0,3)
`;

it('tells which GPUs each machine gave, group by group', () => {
  expect(job(RUNNING)).toMatchObject({
    jobId: '9',
    user: 'kim',
    perNode: [
      { node: 'gpu-01', items: [{ count: 1, indices: [7] }] },
      { node: 'gpu-02', items: [{ count: 2, indices: [0, 3] }] },
      { node: 'gpu-03', items: [{ count: 2, indices: [0, 3] }] },
    ],
  });
});
it('takes nothing out of a name', () => {
  const named = RUNNING.replace('JobName=x', 'JobName=x JobState=COMPLETED NodeList=gpu-99');
  expect(job(named)).toMatchObject({ state: 'RUNNING', name: 'x JobState=COMPLETED NodeList=gpu-99' });
});
it('believes neither of two jobs with one id: a name with line breaks can look like a job', () => {
  const evil = `${RUNNING}\nJobId=10 JobName=a\n\n${RUNNING.replace('kim', 'eve')}`;
  const { items, skipped } = queueFromText(evil, clock);
  expect(items).toEqual([]);
  expect(skipped).toContainEqual(expect.objectContaining({ count: 2, reason: expect.stringContaining('twice') }));
});
it('reads an array that waits', () => {
  const text = `JobId=4 ArrayJobId=4 ArrayTaskId=5-9%2 JobName=sweep\n   JobState=PENDING Reason=JobArrayTaskLimit Dependency=(null)\n   SubmitTime=2026-11-16T04:56:01\n   ReqTRES=cpu=1,gres/gpu=1\n`;
  expect(job(text)).toMatchObject({ jobId: '4', pendingTasks: '5-9%2', state: 'PENDING', requested: { gpus: 1 } });
});

it('reads a node, printed over lines or on one', () => {
  const lines = `NodeName=gpu-01 Arch=x86_64 CoresPerSocket=48
   CPUAlloc=0 CPUEfctv=96 CPUTot=96 CPULoad=2.57
   AvailableFeatures=h100,nvlink
   Gres=gpu:h100:8(S:0-1)
   OS=Linux 6.1 #1 SMP
   RealMemory=1000000 AllocMem=0 State=IDLE+DRAIN ThreadsPerCore=1
   Partitions=h100,debug
   Reason=Xid 79: fell off [root@2026-11-16T04:56:28]
`;
  const want = {
    name: 'gpu-01',
    gpus: 8,
    models: ['h100'],
    cpus: 96,
    memoryMib: 1_000_000,
    partitions: ['h100', 'debug'],
    states: ['IDLE', 'DRAIN'],
    reason: 'Xid 79: fell off',
    reasonSince: Date.parse('2026-11-16T04:56:28Z') / 1000,
  };
  for (const text of [lines, lines.replaceAll(/\n\s+/g, ' ')]) {
    const [block] = scontrolBlocks(text, 'NodeName');
    expect(nodeFromScontrol(block ?? { values: new Map(), details: [] }, clock)).toMatchObject(want);
  }
});

it.each([
  ['IDLE', 'up'],
  ['MIXED+PLANNED', 'up'],
  ['idle*', 'down'],
  ['DOWN*', 'down'],
  ['IDLE+DRAIN', 'drained'],
  ['drng', 'drained'],
  ['maint', 'drained'],
  ['RESERVED', 'spare'],
  ['IDLE+CLOUD+POWERED_DOWN', 'absent'],
  ['idle~', 'absent'],
])('a node in %s is %s', (text, want) => expect(nodeState(nodeStateWords(text))).toBe(want));

it('reads what slurmdbd remembers of outages', () => {
  const values = new Map([
    ['nodename', 'gpu-01'],
    ['timestart', '2026-11-16T04:56:28'],
    ['timeend', 'Unknown'],
    ['state', 'DOWN'],
    ['reason', 'Xid 79'],
  ]);
  expect(eventOf(values, clock)).toEqual([
    { node: 'gpu-01', from: Date.parse('2026-11-16T04:56:28Z') / 1000, states: ['DOWN'], reason: 'Xid 79' },
  ]);
});
