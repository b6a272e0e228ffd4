import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFindings } from '../src/app/findings/find-findings.ts';
import { ledgerWindow } from '../src/app/window.ts';
import { withReader } from '../src/app/workspace.ts';
import type { Finding } from '../src/facts/finding.ts';
import { fleetFolder, type FleetFolder } from './fleet-folder.ts';

/**
 * Examples that jobstats and Job Defense Shield publish, as facts: GPUs, utilisation, memory, cores and hours as their
 * documents have them. Both read utilisation and memory from an exporter every 30 seconds, so that is all the samples carry.
 */
interface Example {
  /** Where it stands, and what they say of it. */
  readonly theirs: string;
  /** Utilisation of each GPU in permille. */
  readonly gpus: readonly number[];
  readonly hours: number;
  readonly memoryMib?: number;
  /** Over so many machines; one where left out. */
  readonly machines?: number;
  readonly cores?: number;
  readonly kind?: string;
  readonly model?: string;
  /** How often such a job ran in the week. */
  readonly runs?: number;
  /** It still runs. */
  readonly isLive?: boolean;
  /** Detectors that name it, and of what part of its GPU-hours, in permille; a question names no part. */
  readonly want: Readonly<Record<string, number | 'question'>>;
  /** Where ours differs from theirs, why. */
  readonly because?: string;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  'eight GPUs, none used': {
    theirs: 'Job Defense Shield, GPU-hours at 0 %: three jobs of 8 GPUs, 36 GPU-hours each, all at 0 %',
    gpus: [0, 0, 0, 0, 0, 0, 0, 0],
    hours: 4.5,
    runs: 3,
    want: { 'untouched-gpus': 1000 },
  },
  'six GPUs, three used': {
    theirs: 'Job Defense Shield, GPU-hours at 0 %: of 6 GPUs 3 unused, and only those are counted: 12 GPU-hours',
    gpus: [900, 900, 900, 0, 0, 0],
    hours: 4,
    want: { 'untouched-gpus': 500 },
  },
  'four GPUs, none used, for two hours, and it still runs': {
    theirs: 'Job Defense Shield, cancel 0 % jobs: warned after one hour, cancelled after two',
    gpus: [0, 0, 0, 0],
    hours: 2,
    isLive: true,
    want: { 'untouched-gpus': 1000 },
  },
  'one GPU that was not used, for ten minutes': {
    theirs: 'jobstats, notes: this job did not use the GPU (from five minutes on)',
    gpus: [0],
    hours: 1 / 6,
    want: {},
    because: 'its ten minutes are idle money in the waterfall; a finding has to be worth the minutes it takes to read',
  },
  'a user at 19 % for a week': {
    theirs: 'Job Defense Shield, low GPU efficiency: 19 % in 58 jobs, below 25 %',
    gpus: [190],
    hours: 40,
    runs: 3,
    cores: 1,
    want: { 'starved-runs': 810 },
  },
  'two machines at 65 to 73 %': {
    theirs: 'jobstats, its first example: 4 GPUs at 65.7, 64.5, 72.9 and 67.5 %, and no note about them',
    gpus: [657, 645, 729, 675],
    machines: 2,
    hours: 18.7,
    memoryMib: 27_136,
    cores: 12,
    want: { 'starved-runs': 320 },
    because: 'jobstats speaks below 25 %; a third of 75 GPU-hours in which no kernel ran is worth a look at the loader',
  },
  'a notebook of ten hours at 12 %': {
    theirs: 'jobstats, notes: interactive, more than eight hours, at most 15 %: do not open sessions for so long',
    gpus: [120],
    hours: 10,
    kind: 'Notebook',
    want: {},
    because:
      'its GPU computed in every sample, and people try things in bursts; hours without a kernel are what counts',
  },
  'an A100 at 9 % that fills 2 GB': {
    theirs: 'Job Defense Shield, GPU model too powerful: three jobs at 8 to 9 %, 2 GB of 80: could have run on a slice',
    gpus: [90],
    hours: 3.4,
    memoryMib: 2048,
    model: 'NVIDIA A100-SXM4-80GB',
    cores: 1,
    runs: 10,
    want: { 'starved-runs': 890 },
    because:
      'no kernel ran in nine tenths of its time: one core feeds it, and a slice would wait as long; memory used is not memory needed',
  },
  'eight GPUs on two machines at 98 %': {
    theirs: 'Job Defense Shield, fragmentation: 4 + 4 GPUs on machines of 8, 98 % used: use fewer machines',
    gpus: [980, 980, 980, 980, 980, 980, 980, 980],
    machines: 2,
    hours: 7,
    want: {},
    because: 'its GPUs computed; what stands empty beside them is unallocated money, and a finding of the platform',
  },
  'one GPU and 48 cores': {
    theirs: 'Job Defense Shield, too many cores per GPU: 48 cores for one GPU where 12 are its share',
    gpus: [950],
    hours: 1.8,
    cores: 48,
    want: {},
    because: 'no GPU-second is lost by it; GPUs that nobody can use for want of cores are unallocated money',
  },
};

const START = Date.parse('2026-03-02T00:00:00Z');
const NOW_HOURS = 6 * 24;
const STEP_S = 300;
const GPUS_PER_MACHINE = 8;
const at = (hours: number): string =>
  new Date(START + Math.round(hours * 3600) * 1000).toISOString().replace('.000', '');

/** A run of an example: its name, its machines' names, and when it ran. */
interface Run {
  readonly example: Example;
  readonly jobId: string;
  readonly stem: string;
  readonly number: number;
  readonly from: number;
  readonly until: number;
}

/** Jobs of one kind have one name but for its number, which is how kinds are told apart. */
function runsOf([title, example]: readonly [string, Example], place: number): readonly Run[] {
  const { runs = 1, hours, isLive = false } = example;
  return Array.from({ length: runs }, (_, number) => {
    const from = isLive ? NOW_HOURS - hours : 1 + number * (hours + 1);
    return {
      example,
      jobId: `${60_000 + place * 100 + number}`,
      stem: title.replaceAll(/[^a-z]+/gi, '-').toLowerCase(),
      number,
      from,
      until: from + hours,
    };
  });
}

const machineOf = ({ jobId }: Run, machine: number): string => `della-${jobId}-${machine}`;
const deviceOf = (run: Run, gpu: number): string => {
  const perMachine = run.example.gpus.length / (run.example.machines ?? 1);
  return `GPU-${machineOf(run, Math.floor(gpu / perMachine))}-${gpu % perMachine}`;
};

const RUNS = Object.entries(EXAMPLES).flatMap(runsOf);

/** Machines of eight GPUs that are there while their job is: what stands beside a job is another question. */
function factsOf(runs: readonly Run[]): Readonly<Record<string, string>> {
  const lines = (header: string, rows: readonly string[]): string => `${header}\n${rows.join('\n')}\n`;
  const perRun = (row: (run: Run, machine: number) => readonly string[]): readonly string[] =>
    runs.flatMap((run) => Array.from({ length: run.example.machines ?? 1 }, (_, machine) => row(run, machine)).flat());
  const perGpu = (row: (run: Run, gpu: number) => readonly string[]): readonly string[] =>
    runs.flatMap((run) => run.example.gpus.flatMap((_, gpu) => row(run, gpu)));
  const until = ({ example, until: end }: Run): string => (example.isLive ? '' : at(end));
  const model = ({ example }: Run): string => example.model ?? 'NVIDIA A100-SXM4-40GB';
  return {
    nodes: lines(
      'node_id,present_from,present_until,purchase,cluster,gpu_count,vcpu,model',
      perRun((run, machine) => [
        `${machineOf(run, machine)},${at(run.from)},${until(run)},owned,della,${GPUS_PER_MACHINE},96,${model(run)}`,
      ]),
    ),
    devices: lines(
      'device_id,node_id,model',
      perGpu((run, gpu) => [
        `${deviceOf(run, gpu)},${deviceOf(run, gpu).replace(/^GPU-(.*)-\d+$/, '$1')},${model(run)}`,
      ]),
    ),
    allocations: lines(
      'source,allocation_id,attempt,node_id,slot,held_from,held_until,device_id,gpu_count,cpu_millis,cluster,account,user_name,workload_kind,workload_name,outcome',
      perGpu((run, gpu) => [
        [
          'slurm',
          run.jobId,
          0,
          deviceOf(run, gpu).replace(/^GPU-(.*)-\d+$/, '$1'),
          gpu,
          at(run.from),
          until(run),
          deviceOf(run, gpu),
          1,
          (run.example.cores ?? 6) * 1000,
          'della',
          'math',
          'aturing',
          run.example.kind ?? 'Job',
          `${run.stem}-${run.number}`,
          run.example.isLive ? '' : 'completed',
        ].join(','),
      ]),
    ),
    samples: lines(
      'device_id,ts,step_s,util_permille,fb_used_mib',
      perGpu((run, gpu) =>
        Array.from(
          { length: Math.max(1, Math.floor((run.example.hours * 3600) / STEP_S)) },
          (_, step) =>
            `${deviceOf(run, gpu)},${at(run.from + (step * STEP_S) / 3600)},${STEP_S},${run.example.gpus[gpu]},${run.example.memoryMib ?? 4096}`,
        ),
      ),
    ),
    rates: 'model,usd_per_gpu_hour\n*,2.00\n',
  };
}

const WHOLE_UNITS = 63_000;

describe('what jobstats and Job Defense Shield say of their own examples', () => {
  let fleet: FleetFolder;
  let findings: readonly Finding[] = [];
  beforeAll(async () => {
    fleet = await fleetFolder(factsOf(RUNS));
    const now = new Date(at(NOW_HOURS));
    ({ findings } = await withReader(fleet.dataDir, (space) =>
      findFindings(space, { window: ledgerWindow('all', now, space.scope), now, keepsNumbers: false }),
    ));
  }, 120_000);
  afterAll(() => fleet.remove());

  it.each(Object.entries(EXAMPLES))('%s', (_, example) => {
    expect(verdictsOn(example, findings)).toEqual(example.want);
  });
});

/** Each detector that names a job of the example, with the part of its GPU-hours in permille, to the nearest ten. */
function verdictsOn(example: Example, findings: readonly Finding[]): Record<string, number | 'question'> {
  const runs = RUNS.filter((run) => run.example === example);
  const subjects = new Set(runs.map(({ jobId }) => `job slurm/${jobId}/0`));
  const units = runs.reduce(
    (sum, { from, until }) => sum + (until - from) * 3600 * WHOLE_UNITS * example.gpus.length,
    0,
  );
  const verdicts: Record<string, number | 'question'> = {};
  for (const { detector, kind, gpuUnits, subjects: named } of findings) {
    if (!named.some((subject) => subjects.has(subject))) continue;
    const part = Math.round((Number(gpuUnits) / units) * 100) * 10;
    const before = verdicts[detector];
    verdicts[detector] = kind === 'question' ? 'question' : (typeof before === 'number' ? before : 0) + part;
  }
  return verdicts;
}
