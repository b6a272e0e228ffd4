import { randomBytes } from 'node:crypto';
import { OperationError } from '../../facts/operation-error.ts';
import type { RunCommand } from '../../facts/source.ts';
import { jsonList, queuedJob } from './parse/job-json.ts';
import { ownLayout, rowAssembler } from './parse/sacct-layout.ts';
import { sacctReader, WANTED_COLUMNS } from './parse/sacct-text.ts';
import { scontrolBlocks, scontrolJob } from './parse/scontrol-text.ts';
import type { NodeEvent } from './parse/slurm-node.ts';
import { eventOf, nodeFromScontrol } from './parse/slurm-node.ts';
import type { LeftOut, SlurmJob } from './parse/slurm-job.ts';
import { slurmClock } from './parse/slurm-time.ts';
import { wallText } from './parse/wall-text.ts';
import { slurmFailure } from './slurm-failure.ts';
import type { Read, SlurmReader } from './slurm-reader.ts';
import { skipCounter, sorted } from './slurm-reader.ts';

export interface CommandOptions {
  readonly run: RunCommand;
  readonly prefix?: readonly string[];
  /** Where the clocks of Slurm's clients stand, if they cannot be told to speak UTC. */
  readonly zone?: string;
}

/** Asks Slurm's own commands, and nothing but questions. */
export interface SlurmCommands extends SlurmReader {
  /** Runs one command; throws what its failure means. */
  ask(argv: readonly string[], signal: AbortSignal, timeoutMs?: number): Promise<string>;
}

const QUICK_MS = 30_000;
const SLOW_MS = 180_000;
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const EVENT_COLUMNS = ['Cluster', 'NodeName', 'TimeStart', 'TimeEnd', 'State', 'Reason'];

/**
 * A reader over Slurm's commands, here or behind a prefix such as `ssh login1`.
 *
 * Clients print times in their own zone, so they are asked in UTC. Tables are asked for with a separator nobody can know in
 * advance: job names may hold bars and line breaks, and must not become rows.
 */
export function commandReader(options: CommandOptions): SlurmCommands {
  const zone = options.zone ?? 'UTC';
  const clock = slurmClock(zone);
  const separator = `~${randomBytes(4).toString('hex')}~`;
  const ask = asker(options);
  const window = (from: number, until: number) => ['-S', wallText(from, zone), '-E', wallText(until, zone)];
  let columns: readonly string[] | undefined;
  let hasJson = true;

  const queueFromJson = async (signal: AbortSignal): Promise<Read<SlurmJob> | undefined> => {
    try {
      const jobs = jsonList(await ask(['squeue', '-a', '--json'], signal, SLOW_MS), 'jobs', 'squeue --json');
      return sorted(jobs.map((job) => ({ item: queuedJob(job), example: exampleOf(job) })));
    } catch (failure) {
      if (!isAboutJson(failure)) throw failure;
      hasJson = false;
      return undefined;
    }
  };

  return {
    ask,
    async cluster(signal) {
      const config = await ask(['scontrol', 'show', 'config'], signal);
      return /^ClusterName\s*=\s*(\S+)/m.exec(config)?.[1];
    },
    async queue(signal) {
      const read = hasJson ? await queueFromJson(signal) : undefined;
      return read ?? queueFromText(await ask(['scontrol', 'show', 'job', '-d'], signal, SLOW_MS), clock);
    },
    async nodes(signal) {
      const blocks = scontrolBlocks(await ask(['scontrol', 'show', 'nodes'], signal, SLOW_MS), 'NodeName');
      return sorted(
        blocks.map((block) => ({ item: nodeFromScontrol(block, clock), example: block.values.get('NodeName') ?? '' })),
      );
    },
    async events(since, signal) {
      const asked = [`start=${wallText(since, zone)}`, `format=${EVENT_COLUMNS.join(',')}`];
      return eventsFromText(await ask(['sacctmgr', '-n', '-P', 'show', 'event', ...asked], signal, SLOW_MS), clock);
    },
    async accounted(from, until, signal) {
      columns ??= await knownColumns(ask, signal);
      const shape = ['-n', '-P', `--delimiter=${separator}`, `--format=${columns.join(',')}`];
      const text = await ask(['sacct', '-a', '-D', '-X', ...shape, ...window(from, until)], signal, SLOW_MS);
      return accountedFromText(text, columns, separator, clock);
    },
    async hasJobs(from, until, signal) {
      const argv = ['sacct', '-a', '-X', '-n', '-P', '--format=JobIDRaw', ...window(from, until)];
      return (await ask(argv, signal, SLOW_MS)).trim() !== '';
    },
  };
}

/**
 * Runs one command with the clock set to UTC. Over a prefix our own environment does not arrive, so `env` sets it there; where the
 * person gave a zone, nothing is set: the machine may allow no other command.
 */
function asker({ run, prefix = [], zone }: CommandOptions): SlurmCommands['ask'] {
  const setting = { SLURM_TIME_FORMAT: 'standard', LC_ALL: 'C', ...(zone === undefined && { TZ: 'UTC' }) };
  const words = Object.entries(setting).map(([name, value]) => `${name}=${value}`);
  const before = prefix.length === 0 || zone !== undefined ? prefix : [...prefix, 'env', ...words];
  return async (argv, signal, timeoutMs = QUICK_MS) => {
    const { exitCode, stdout, stderr } = await run([...before, ...argv], {
      signal,
      timeoutMs,
      outputBytesMax: OUTPUT_BYTES_MAX,
      ...(prefix.length === 0 && { env: setting }),
    }).catch((failure: unknown) => {
      throw inSlurmsWords(failure, prefix);
    });
    const command = argv.slice(0, 3).join(' ');
    // sacct says that there are no accounts, and ends well.
    const isOff = /accounting storage is disabled/i.test(stderr);
    if (exitCode !== 0 || isOff) throw slurmFailure(command, exitCode, stderr === '' ? stdout : stderr);
    return stdout;
  };
}

/** Clients try for a minute to find slurm.conf or a daemon before they say a word: that is what a silence usually means. */
function inSlurmsWords(failure: unknown, prefix: readonly string[]): unknown {
  if (!(failure instanceof OperationError) || failure.code !== 'timeout') return failure;
  return new OperationError('timeout', failure.message, {
    hint: `Are slurmctld and slurmdbd up, and is there a slurm.conf? Try by hand: ${[...prefix, 'scontrol', 'ping'].join(' ')}`,
    cause: failure,
  });
}

/** The columns this version of sacct has, of those we want. */
async function knownColumns(ask: SlurmCommands['ask'], signal: AbortSignal): Promise<readonly string[]> {
  const known = new Set((await ask(['sacct', '--helpformat'], signal)).toLowerCase().split(/\s+/));
  const columns = WANTED_COLUMNS.filter((column) => known.has(column.toLowerCase()));
  if (columns.includes('JobID') && columns.includes('AllocTRES')) return columns;
  throw new OperationError('old-slurm', 'this sacct has no column AllocTRES', {
    hint: 'Bursar reads Slurm 17.11 and later; export older logs and use bursar import sacct FILE.',
  });
}

/** Old versions know no --json, others were built without it; a reply too large for it is read as text. */
function isAboutJson(failure: unknown): boolean {
  if (!(failure instanceof OperationError)) return false;
  return ['slurm-failed', 'wrong-json', 'too-large', 'timeout'].includes(failure.code);
}

function exampleOf(job: unknown): string {
  return JSON.stringify(job)?.slice(0, 100) ?? '';
}

/**
 * Jobs of `scontrol show job`. A name with line breaks can look like another job, so an id that comes twice is believed neither
 * time.
 */
export function queueFromText(text: string, clock: ReturnType<typeof slurmClock>): Read<SlurmJob> {
  const read = scontrolBlocks(text, 'JobId').map((block) => ({
    item: scontrolJob(block, clock),
    id: block.values.get('JobId') ?? '',
  }));
  const counts = new Map<string, number>();
  for (const { id } of read) counts.set(id, (counts.get(id) ?? 0) + 1);
  const twice: LeftOut = { leftOut: 'jobs whose id stands there twice: a name may have been made to look like a job' };
  return sorted(
    read.map(({ item, id }) => ({ item: (counts.get(id) ?? 0) > 1 ? twice : item, example: `JobId=${id}` })),
  );
}

/** sacctmgr cannot be told a separator; only the reason, which stands last, may hold one. */
function eventsFromText(text: string, clock: ReturnType<typeof slurmClock>): Read<NodeEvent> {
  const layout = { ...ownLayout(EVENT_COLUMNS, '|'), hasHeader: false };
  const assembler = rowAssembler(layout, new Set(['reason']));
  const items: NodeEvent[] = [];
  const skipped = skipCounter();
  for (const row of [...text.split('\n').flatMap((line) => assembler.push(line)), ...assembler.end()]) {
    if ('broken' in row) {
      skipped.add(row.broken, row.text);
      continue;
    }
    const event = eventOf(new Map(layout.columns.map((column, index) => [column, row.fields[index] ?? ''])), clock);
    if ('leftOut' in event) skipped.add(event.leftOut, row.fields.join('|'));
    else items.push(...event);
  }
  return { items, skipped: skipped.list() };
}

function accountedFromText(
  text: string,
  columns: readonly string[],
  separator: string,
  clock: ReturnType<typeof slurmClock>,
): Read<SlurmJob> {
  const layout = { ...ownLayout(columns, separator), hasHeader: false };
  const read = sacctReader(layout, clock);
  const assembler = rowAssembler(layout);
  const items: SlurmJob[] = [];
  const skipped = skipCounter();
  const take = (rows: ReturnType<typeof assembler.end>): void => {
    for (const row of rows) {
      if ('broken' in row) {
        skipped.add(row.broken, row.text);
        continue;
      }
      const job = read(row);
      if ('leftOut' in job) skipped.add(job.leftOut, row.fields.slice(0, 12).join('|'));
      else items.push(job);
    }
  };
  let begin = 0;
  while (begin < text.length) {
    const end = text.indexOf('\n', begin);
    take(assembler.push(text.slice(begin, end < 0 ? text.length : end)));
    if (end < 0) break;
    begin = end + 1;
  }
  take(assembler.end());
  return { items, skipped: skipped.list() };
}
