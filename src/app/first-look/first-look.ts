import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Batch } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { Source } from '../../facts/source.ts';
import type { SourceRecord } from '../../facts/source-record.ts';
import type { LookedSource, ReadSummary } from '../../report/first-look-lines.ts';
import { openManifest } from '../../state/manifest.ts';
import { checkSources } from '../check-sources.ts';
import type { CheckedSource } from '../check-sources.ts';
import { asCollector, collectOnce } from '../collect/collect.ts';
import type { CollectReport } from '../collect/collect.ts';
import { keepRates } from '../collect/config-rates.ts';
import { CONFIG_FILE } from '../config/config-file.ts';
import type { Config, RateConfig } from '../config/source-config.ts';
import { deriveLedger } from '../workspace.ts';
import { lastDaysOf } from './last-days.ts';
import type { LastDays } from './last-days.ts';

/** A first look takes at most a minute, from the key press to the screen. */
const LOOK_MS = 55_000;
/** What of it stays for deriving the ledger and for the answer: 2,000 GPUs took 10 s on two cores. */
const DERIVE_MS = 10_000;
const DERIVE_MS_PER_GPU = 4;
const COLLECT_MS_MIN = 5000;
const DAYS = 7;
const DAY_MS = 86_400_000;
/** Close enough to see an hour's idleness, far enough apart for a minute. */
const LOOK_STEP_S = 300;
const GPUS_MAX = 2000;
/** Rates of `--rate` are kept under this name, and the batches of a look begin with it. */
const LOOK = 'look';
/** The code of the error when every source is down. */
export const NOTHING_ANSWERS = 'nothing-answers';

export interface FirstLookRequest {
  readonly dataDir: string;
  readonly sources: readonly Source[];
  /** What `--rate` says an hour costs, and what bursar.yaml does. */
  readonly rates: readonly RateConfig[];
  readonly config?: Config;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** What of the minute is already over. */
  readonly elapsedMs: () => number;
  readonly progress: (line: string) => void;
  /** Above this a part of the fleet is read. */
  readonly gpusMax?: number;
}

export interface FirstLookResult {
  /** The folder with what was read: the one asked for, or a throw-away one where only a part of the fleet was read. */
  readonly dataDir: string;
  readonly read: ReadSummary;
  /** What to ask for: seven days, or what could be read of them. A day that was not read is in no figure. */
  readonly window: string;
}

/**
 * Reads at most seven days from each source in at most a minute, the newest first, and derives the ledger of it.
 *
 * What is in the folder and came otherwise stays alone: a look beside a demo or beside imports would mix two fleets.
 */
export async function firstLook(request: FirstLookRequest): Promise<FirstLookResult> {
  const { sources, now, signal, progress, gpusMax = GPUS_MAX } = request;
  const before = await ownFolder(request.dataDir);
  progress('asking each source how it is');
  const checked = await checkSources(sources, signal);
  const able = checked.filter(({ health }) => health.state !== 'down').map(({ source }) => source);
  if (able.length === 0) throw nothingAnswers(checked);

  const gpus = Math.max(0, ...checked.map(({ health }) => health.gpus ?? 0));
  const isPart = gpus > gpusMax;
  const dataDir = isPart ? await mkdtemp(join(tmpdir(), 'bursar-look-')) : request.dataDir;
  const at = now();
  const since = new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS);
  // Where every true sample is kept already, thinned ones beside them would only be repetitions.
  const isCollected = !isPart && before.batches.some(isTrueSamples);
  const cut = isCollected ? [] : able.map((source) => lastDaysOf(source, since));
  const deriveMs = DERIVE_MS + DERIVE_MS_PER_GPU * Math.min(gpus, gpusMax);
  const reading = { dataDir, now, signal, progress };
  const report = await collectOnce({
    ...reading,
    sources: isCollected ? able : cut.map(({ source }) => source),
    since,
    ...(isPart && { gpusMax }),
    ...(!isCollected && { lookStepS: LOOK_STEP_S }),
    deadlineMs: Math.max(COLLECT_MS_MIN, Math.round(LOOK_MS - deriveMs - request.elapsedMs())),
  });
  const read = await summary(dataDir, checked, report, since);
  if (read.since > since) await tellAgain(reading, cut, read.since);
  progress('deriving the ledger');
  await asCollector({ dataDir }, async (space) => {
    if (request.rates.length > 0) await keepRates(space, { name: LOOK, reads: '--rate' }, request.rates);
    if (request.config !== undefined)
      await keepRates(space, { name: CONFIG_FILE, reads: CONFIG_FILE }, request.config.rates);
    await deriveLedger(space, { onProgress: (stage, unit) => progress(`deriving ${stage}, ${unit}`) });
  });
  const tomorrow = new Date(since.getTime() + DAYS * DAY_MS);
  const window = read.since > since ? `${read.since.toISOString()}/${tomorrow.toISOString()}` : `${DAYS}d`;
  return { dataDir, read, window };
}

/** Where the minute was over before all days were read: who held what on the others is not known, so nothing is there on them. */
async function tellAgain(
  reading: Pick<FirstLookRequest, 'dataDir' | 'now' | 'signal' | 'progress'>,
  cut: readonly LastDays[],
  since: Date,
): Promise<void> {
  const sources = cut.flatMap(({ again }) => again(since) ?? []);
  await collectOnce({ ...reading, sources, lookStepS: LOOK_STEP_S });
}

/** Keeps what `--rate` says for a folder that is looked at again. */
export async function restateRates(dataDir: string, rates: readonly RateConfig[]): Promise<void> {
  await ownFolder(dataDir);
  await asCollector({ dataDir }, async (space) => {
    await keepRates(space, { name: LOOK, reads: '--rate' }, rates);
    await deriveLedger(space);
  });
}

interface FolderState {
  readonly batches: readonly Batch[];
  readonly records: readonly SourceRecord[];
}

/** What is in the folder; nothing where there is none yet. */
export async function folderState(dataDir: string): Promise<FolderState> {
  try {
    const manifest = await openManifest(dataDir, { readOnly: true, now: () => new Date() });
    try {
      return { batches: manifest.snapshot().batches, records: manifest.sources.records() };
    } finally {
      manifest.close();
    }
  } catch (failure) {
    if (failure instanceof OperationError && failure.code === 'no-data') return { batches: [], records: [] };
    throw failure;
  }
}

/** Rates, prices and bills may lie beside what is collected; facts about machines and people may not. */
const OF_A_FLEET = new Set(['node', 'device', 'gpu_sample', 'allocation', 'waiting']);

/** What is in a folder a look may write to; refused where facts about a fleet came otherwise. */
export async function ownFolder(dataDir: string): Promise<FolderState> {
  const state = await folderState(dataDir);
  const { batches, records } = state;
  const names = new Set([LOOK, ...records.map(({ name }) => name)]);
  const isCollected = ({ name }: Batch): boolean => names.has(name.slice(0, Math.max(0, name.indexOf('/'))));
  const other = batches.find((batch) => OF_A_FLEET.has(batch.table) && !isCollected(batch));
  if (other === undefined) return state;
  throw new OperationError('other-data', `${dataDir} holds data that was imported or made up, e.g. ${other.name}`, {
    hint: 'Give your fleet a folder of its own: bursar look --data ./my-fleet',
  });
}

function isTrueSamples({ table, name }: Batch): boolean {
  return table === 'gpu_sample' && !name.includes(`/${LOOK}/`);
}

function nothingAnswers(checked: readonly CheckedSource[]): OperationError {
  const told = checked.map(({ source, health }) => `${source.name}: ${health.says}`);
  const todo = checked.map(({ health }) => health.todo).find((each) => each !== undefined);
  return new OperationError(NOTHING_ANSWERS, told.join('\n') || 'there is nothing to read', {
    hint: `${todo ?? 'Check the addresses.'} Everything at once, with what to do: bursar doctor`,
  });
}

async function summary(
  dataDir: string,
  checked: readonly CheckedSource[],
  report: CollectReport,
  since: Date,
): Promise<ReadSummary> {
  const { batches } = await folderState(dataDir);
  const sources = checked.map(({ source, health }): LookedSource => {
    const outcome = report.sources.find(({ name }) => name === source.name);
    const own = batches.filter(({ name, table }) => table === 'gpu_sample' && name.startsWith(`${source.name}/`));
    const oldest = own.flatMap(({ firstAt }) => firstAt ?? []).toSorted()[0];
    const error = outcome?.record.error;
    const wasRead = outcome !== undefined && outcome.state !== 'failed';
    const says = error?.message ?? health.says;
    const todo = error?.hint ?? health.todo;
    return {
      name: source.name,
      kind: source.kind,
      reads: source.reads,
      state: outcome === undefined ? 'down' : outcome.state,
      says: wasRead ? health.says : says,
      ...(todo !== undefined && { todo }),
      ...(oldest !== undefined && { samplesSince: new Date(`${oldest.replace(' ', 'T')}Z`) }),
      rows: outcome?.record.rows ?? {},
      ...(outcome?.record.gpus !== undefined && { gpus: outcome.record.gpus }),
    };
  });
  const sampled = sources.flatMap(({ gpus }) => (gpus !== undefined && gpus.notRead > 0 ? [gpus] : []));
  const largest = sampled.toSorted((a, b) => b.seen - a.seen)[0];
  const readSince = sources.flatMap(({ state, samplesSince: from }) =>
    state === 'cut' && from !== undefined ? [from] : [],
  );
  const latest = new Date(Math.max(since.getTime(), ...readSince.map((time) => time.getTime())));
  return { since: latest, sources, ...(largest !== undefined && { part: largest }) };
}
