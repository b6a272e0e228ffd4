import { OperationError } from '../../facts/operation-error.ts';
import type { FactRows, Skipped } from '../../facts/source.ts';
import { queueFromText } from './command-reader.ts';
import { parseJson } from './parse/job-json.ts';
import { at, listOf } from './parse/json-value.ts';
import { readState } from './parse/job-state.ts';
import { rowAssembler, sacctLayout } from './parse/sacct-layout.ts';
import { sacctReader } from './parse/sacct-text.ts';
import { scontrolBlocks } from './parse/scontrol-text.ts';
import type { SlurmJob } from './parse/slurm-job.ts';
import { isLeftOut } from './parse/slurm-job.ts';
import type { SlurmNode } from './parse/slurm-node.ts';
import { nodeFromJson, nodeFromScontrol } from './parse/slurm-node.ts';
import { slurmClock } from './parse/slurm-time.ts';
import { nodeFromSinfo } from './parse/sinfo-text.ts';
import { jobFromJson } from './sacct-file.ts';
import type { SkipCounter } from './slurm-reader.ts';
import { skipCounter } from './slurm-reader.ts';
import type { TextOptions } from './text-facts.ts';
import { jobTextFacts, machineFacts } from './text-facts.ts';

/** What a text of Slurm's turned out to be. `taken` and `skipped` together are every entry of it. */
export interface SlurmText {
  /** `sacct`, `sacct --json`, `squeue --json`, `scontrol show job`, `scontrol show node`, `sinfo`, `sdiag`, … */
  readonly kind: string;
  readonly entriesRead: number;
  readonly taken: readonly FactRows[];
  readonly skipped: readonly Skipped[];
}

/**
 * Question: what did one of Slurm's commands, or slurmrestd, print here, and which facts are in it?
 *
 * Undefined where it is nothing of Slurm's. Output that says nothing about machines or holdings (sdiag, seff, sshare) is recognised
 * and counted as skipped, so that nobody has to wonder.
 */
export function readSlurmText(text: string, options: TextOptions = {}): SlurmText | undefined {
  const start = text.replace(/^\uFEFF/, '').trimStart();
  if (start.startsWith('{')) return readReply(text, options);
  if (start.startsWith('JobId=')) {
    const { items, skipped } = queueFromText(start, slurmClock(options.zone));
    return { kind: 'scontrol show job', ...ofJobs(items, counterOf(skipped), options) };
  }
  if (start.startsWith('NodeName=')) return readNodeBlocks(start, options);
  return readKnownWords(start) ?? readTable(start, options);
}

function counterOf(skipped: readonly Skipped[]): SkipCounter {
  const counter = skipCounter();
  for (const { reason, example, count } of skipped) counter.add(reason, example, count);
  return counter;
}

function readReply(text: string, options: TextOptions): SlurmText | undefined {
  const value = parseJson(text, 'the text');
  const counter = skipCounter();
  const jobs = at(value, 'jobs');
  if (Array.isArray(jobs)) {
    const isQueue = jobs.some((job) => at(job, 'job_state') !== undefined);
    const read: SlurmJob[] = [];
    for (const entry of listOf(jobs)) {
      const job = jobFromJson(entry);
      if (isLeftOut(job)) counter.add(job.leftOut, JSON.stringify(entry).slice(0, 80));
      else read.push(job);
    }
    return { kind: isQueue ? 'squeue --json' : 'sacct --json', ...ofJobs(read, counter, options) };
  }
  const nodes = at(value, 'nodes');
  if (Array.isArray(nodes)) {
    const read: SlurmNode[] = [];
    for (const entry of listOf(nodes)) {
      const node = nodeFromJson(entry);
      if ('leftOut' in node) counter.add(node.leftOut, JSON.stringify(entry).slice(0, 80));
      else read.push(node);
    }
    return { kind: 'nodes of slurmrestd', ...ofNodes(read, counter, options) };
  }
  const rest = ['partitions', 'reservations', 'statistics'].find((name) => at(value, name) !== undefined);
  if (rest === undefined) return undefined;
  const entries = listOf(at(value, rest)).length;
  return nothingIn(`${rest} of slurmrestd`, Math.max(1, entries), `"${rest}"`);
}

/** Output that is known and has no facts in it. */
function nothingIn(kind: string, entries: number, example: string): SlurmText {
  const reason = `entries of ${kind}: they say nothing about machines or holdings`;
  return {
    kind,
    entriesRead: entries,
    taken: [],
    skipped: [{ reason, count: entries, example: example.slice(0, 80) }],
  };
}

function readNodeBlocks(text: string, options: TextOptions): SlurmText {
  const counter = skipCounter();
  const read: SlurmNode[] = [];
  for (const block of scontrolBlocks(text, 'NodeName')) {
    // The zone matters only for the moment a machine was started.
    const node = nodeFromScontrol(block, slurmClock(options.zone ?? 'UTC'));
    if ('leftOut' in node) counter.add(node.leftOut, block.values.get('NodeName') ?? '');
    else read.push(node);
  }
  return { kind: 'scontrol show node', ...ofNodes(read, counter, options) };
}

const KNOWN_WORDS: readonly (readonly [string, RegExp])[] = [
  ['sdiag', /^\*+\s*\nsdiag output at/],
  ['seff', /^Job ID: \d+\s*\n(?:Array Job ID: .*\n)?Cluster: /],
  ['sshare', /^[\w.-]*\|[\w.-]*\|[\w.]*\|[\d.]*\|\d+\|[\d.]+\|[\d.]+\|/],
  ['scontrol listpids', /^PID\s+JOBID\s+STEPID/],
  ['the version', /^slurm(?:-wlm)? \d+\.\d+/],
];

function readKnownWords(text: string): SlurmText | undefined {
  const kind = KNOWN_WORDS.find(([, pattern]) => pattern.test(text))?.[0];
  if (kind === undefined) return undefined;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isOne = kind === 'seff' || kind === 'sdiag';
  return nothingIn(kind, isOne ? 1 : lines.length, lines[0] ?? '');
}

/** Tables: `sacct -P` with its header, `sinfo` and `squeue` in whatever format somebody chose. */
function readTable(text: string, options: TextOptions): SlurmText | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const [first = '', second] = lines;
  const layout = layoutOf(first, second);
  if (layout !== undefined) {
    const counter = skipCounter();
    const assembler = rowAssembler(layout);
    const read = sacctReader(layout, slurmClock(options.zone));
    const jobs: SlurmJob[] = [];
    for (const row of [...lines.flatMap((line) => assembler.push(line)), ...assembler.end()]) {
      const job = 'broken' in row ? { leftOut: row.broken } : read(row);
      if (isLeftOut(job)) counter.add(job.leftOut, 'broken' in row ? row.text : row.fields.slice(0, 4).join('|'));
      else jobs.push(job);
    }
    return { kind: 'sacct', ...ofJobs(jobs, counter, options) };
  }
  return readSinfo(lines, options) ?? readBareJobs(lines);
}

function layoutOf(first: string, second: string | undefined): ReturnType<typeof sacctLayout> | undefined {
  try {
    return sacctLayout(first, second);
  } catch (failure) {
    if (failure instanceof OperationError && failure.code === 'no-header') return undefined;
    throw failure;
  }
}

function readSinfo(lines: readonly string[], options: TextOptions): SlurmText | undefined {
  const counter = skipCounter();
  const byName = new Map<string, SlurmNode>();
  let understood = 0;
  let repeated = 0;
  for (const line of lines) {
    const nodes = nodeFromSinfo(line);
    if (nodes === undefined) {
      counter.add('lines of sinfo that name no node with a state', line);
      continue;
    }
    understood += 1;
    for (const node of nodes) {
      const before = byName.get(node.name);
      // A machine stands there once for each of its partitions.
      if (before !== undefined) repeated += 1;
      byName.set(node.name, {
        ...node,
        ...before,
        partitions: [...new Set([...(before?.partitions ?? []), ...node.partitions])],
      });
    }
  }
  if (understood === 0) return undefined;
  if (repeated > 0) counter.add('further lines of a node that is known', lines[0] ?? '', repeated);
  return { kind: 'sinfo', ...ofNodes([...byName.values()], counter, options), entriesRead: lines.length };
}

const COUNTS = /(?:^|[|\s])\d+\/\d+\/\d+\/\d+(?:[|\s]|$)/;
const TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const NO_TIMES = 'jobs without a start: when they held what is not said';
const NO_NAMES = 'rows whose columns have no names: bursar import sacct FILE --format JobID,… reads them';

/** Lists of jobs without their times, or without the names of their columns: who held what, and how long, is not in them. */
function readBareJobs(lines: readonly string[]): SlurmText | undefined {
  const counter = skipCounter();
  let jobs = 0;
  for (const line of lines) {
    const isJob = line.split(/[|,\s]/).some((word) => word.length > 3 && readState(word) !== undefined);
    if (isJob) counter.add(TIME.test(line) ? NO_NAMES : NO_TIMES, line);
    else counter.add('lines that are no jobs', line);
    jobs += isJob ? 1 : 0;
  }
  if (jobs > 0) return { kind: 'a list of jobs', entriesRead: lines.length, taken: [], skipped: counter.list() };
  const isCounts = lines.length > 0 && lines.every((line) => COUNTS.test(line));
  return isCounts ? nothingIn('sinfo', lines.length, lines[0] ?? '') : undefined;
}

type Told = Omit<SlurmText, 'kind'>;

/** An entry is taken, or it stands among the skipped. */
function told(taken: readonly FactRows[], entries: number, counter: SkipCounter): Told {
  return { entriesRead: entries, taken, skipped: counter.list() };
}

function skippedSoFar(counter: SkipCounter): number {
  return counter.list().reduce((sum, { count }) => sum + count, 0);
}

function ofNodes(nodes: readonly SlurmNode[], counter: SkipCounter, options: TextOptions): Told {
  const entries = nodes.length + skippedSoFar(counter);
  return told(machineFacts(nodes, counter, options), entries, counter);
}

function ofJobs(jobs: readonly SlurmJob[], counter: SkipCounter, options: TextOptions): Told {
  const entries = jobs.length + skippedSoFar(counter);
  return told(jobTextFacts(jobs, counter, options), entries, counter);
}
