import {
  counted,
  dollars,
  duration,
  gpuCount,
  gpuHoursOf,
  gpuSeconds,
  isoTime,
  minute,
  recently,
  UNITS_PER_GPU,
} from './figures.ts';
import type { IdleHolding, IdleTotal } from './idle-list.ts';
import { idleTotalWords, shortModel } from './idle-list.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';
import type { AskedWindow } from './window-words.ts';
import { windowWords } from './window-words.ts';

/** A job, or the pods of one workload, that wait for GPUs. */
export interface WaitingWork {
  readonly source: string;
  readonly allocationId: string;
  /** Pods that wait together. */
  readonly parts: number;
  readonly gpus: number;
  readonly gpusOfOnePart: number;
  readonly model: string | null;
  readonly heldBackBy: string | null;
  readonly cluster: string | null;
  readonly team: string | null;
  readonly user: string | null;
  readonly name: string | null;
  readonly since: Date;
  readonly waitedSeconds: number;
}

/** GPUs of one model on one machine that could serve somebody now. */
export interface FreeGpus {
  readonly nodeId: string;
  readonly model: string | null;
  readonly cluster: string | null;
  readonly region: string | null;
  /** GPUs of the model on the machine, free or not. */
  readonly size: number;
  readonly empty: number;
  readonly idle: number;
  /** Who has each of those that are idle. */
  readonly holders: readonly IdleHolding[];
}

/** Where somebody who waits could start now. Not complete: how near it comes. */
export interface Place {
  readonly complete: boolean;
  readonly nodes: readonly string[];
  readonly empty: number;
  readonly idle: number;
  readonly holders: readonly IdleHolding[];
  /** The most that one machine has for it. */
  readonly onOneNode: number;
  /** Machines (or machines for its pods) that it needs, and how many of them are free. */
  readonly partsNeeded: number;
  readonly partsFit: number;
}

export type QueuedWork = WaitingWork & { readonly place: Place | undefined };

export interface WaitedModel {
  readonly model: string | null;
  readonly waitedGpuSeconds: bigint;
  readonly idle: { readonly usdMicros: bigint | null; readonly gpuUnits: bigint };
  readonly unallocated: { readonly usdMicros: bigint | null; readonly gpuUnits: bigint };
}

export interface TeamWait {
  readonly team: string | null;
  readonly jobs: number;
  readonly medianSeconds: number;
  readonly p90Seconds: number;
  /** Of jobs for 1, 2–7, 8 and more GPUs; null where there were none. */
  readonly medianBySize: readonly (number | null)[];
}

export interface QueueAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: AskedWindow;
  /** The longest waiting first; undefined where no scheduler says who waits. */
  readonly waiting: readonly QueuedWork[] | undefined;
  readonly idleNow: IdleTotal;
  readonly emptyGpus: number;
  /** Null where one team is asked about: what stood idle is the whole fleet's. */
  readonly models: readonly WaitedModel[] | null;
  readonly teams: readonly TeamWait[];
  readonly silentGpus: number;
}

const ROWS_SHOWN = 20;
const TEAMS_SHOWN = 12;
const NAME_WIDTH_MAX = 32;
/** GPUs a job asked for, as `medianBySize` has them. */
const SIZES = ['1', '2–7', '8', '9+'];

/** `6 jobs for 22 GPUs, median 3 h 10 m`, `1 job for 8 GPUs, 45 m so far`; undefined where nobody waits. */
export function waitingWords(waiting: readonly WaitingWork[]): string | undefined {
  if (waiting.length === 0) return undefined;
  const gpus = waiting.reduce((sum, work) => sum + work.gpus, 0);
  const wait = duration(medianWait(waiting) ?? 0);
  return `${counted(waiting.length, 'job')} for ${counted(gpus, 'GPU')}, ${waiting.length === 1 ? `${wait} so far` : `median ${wait}`}`;
}

/** The wait of the one in the middle; null where nobody waits. */
export function medianWait(waiting: readonly WaitingWork[]): number | null {
  const ordered = waiting.map(({ waitedSeconds }) => waitedSeconds).toSorted((a, b) => a - b);
  return ordered[Math.ceil(ordered.length / 2) - 1] ?? null;
}

interface QueuePageOptions {
  /** ` --data DIR` where the folder is not the default. */
  readonly dataFlag?: string;
  /** ` --team NAME` where one was asked for. */
  readonly teamFlag?: string;
  readonly top?: number;
}

export function queuePage(queue: QueueAnswer, options: QueuePageOptions = {}): string[] {
  const { dataFlag = '', teamFlag = '', top = ROWS_SHOWN } = options;
  const rows = arraysTogether(queue.waiting ?? []);
  const more = rows.length - top;
  return [
    ...firstLines(queue, dataFlag),
    ...(rows.length === 0
      ? []
      : [
          '',
          ...textTable(
            WAITING_COLUMNS,
            rows.slice(0, top).map((tasks) => waitingRow(tasks, queue.asOf)),
          ),
        ]),
    ...(more > 0 ? [`and ${counted(more, 'row')} more: bursar queue --all${teamFlag}${dataFlag}`] : []),
    '',
    nowLine(queue, dataFlag),
    ...modelLines(queue),
    ...teamLines(queue),
  ];
}

function firstLines({ waiting, asOf, asOfBy }: QueueAnswer, dataFlag: string): string[] {
  const at = `${minute(asOf)} UTC${asOfBy === 'newest fact' ? ', the newest fact' : ''}`;
  if (waiting === undefined) {
    return [
      `Who waits for GPUs is unknown, as of ${at}: no scheduler has said so in the hour before`,
      `Slurm and Kubernetes say it when they are collected: bursar look, bursar collect; or bursar import waiting FILE${dataFlag}`,
    ];
  }
  const words = waitingWords(waiting);
  if (words === undefined) return [`Nobody waits for a GPU, as of ${at}`];
  const most = waiting.reduce((longest, { waitedSeconds }) => Math.max(longest, waitedSeconds), 0);
  const longest = waiting.length === 1 ? '' : `, longest ${duration(most)}`;
  return [`Waiting: ${words}${longest}; as of ${at}`, couldStart(waiting)];
}

function couldStart(waiting: readonly QueuedWork[]): string {
  const places = waiting.flatMap(({ place }) => (place?.complete ? [place] : []));
  if (places.length === 0) {
    return `${waiting.length === 1 ? 'It could not' : 'None of them could'} start on GPUs that are empty or held idle now`;
  }
  const gpus = (count: (place: Place) => number): number => places.reduce((sum, place) => sum + count(place), 0);
  const [empty, idle] = [gpus((place) => place.empty), gpus((place) => place.idle)];
  const on = [
    ...(empty > 0 ? [counted(empty, 'empty GPU')] : []),
    ...(idle > 0 ? [`${counted(idle, 'GPU')} held idle`] : []),
  ];
  const who = waiting.length === 1 ? 'It' : `${places.length.toLocaleString('en-US')} of them`;
  return `${who} could start now on ${on.join(' and ')}`;
}

/** Tasks of one Slurm array are one row; they start one by one, wherever there is room. */
function arraysTogether(waiting: readonly QueuedWork[]): (readonly QueuedWork[])[] {
  const rows = new Map<string, QueuedWork[]>();
  for (const work of waiting) {
    const array = work.source === 'slurm' ? /^(\d+)_\d+$/.exec(work.allocationId)?.[1] : undefined;
    const key = JSON.stringify([work.source, array ?? work.allocationId, work.gpus, work.model]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [work]);
    else row.push(work);
  }
  return [...rows.values()];
}

const WAITING_COLUMNS = [
  { align: 'right', title: 'waits' },
  { align: 'left', title: 'for' },
  { align: 'left', title: 'team / user' },
  { align: 'left', title: 'job' },
  { align: 'left', title: 'held back by' },
  { align: 'left', title: 'could start now on' },
] as const;

/** `8×H100`, `8×H100 in 4 pods`. */
export function askedFor({ gpus, model, parts }: WaitingWork): string {
  return `${gpus}×${model === null ? 'GPU' : shortModel(model)}${parts > 1 ? ` in ${parts} pods` : ''}`;
}

function waitingRow(tasks: readonly QueuedWork[], asOf: Date): string[] {
  const name = (text: string): string => shorten(safeText(text), NAME_WIDTH_MAX);
  const work = tasks[0];
  if (work === undefined) return [];
  const isArray = tasks.length > 1;
  const id = isArray ? work.allocationId.replace(/_\d+$/, '_*') : work.parts > 1 ? null : work.allocationId;
  const startable = tasks.find(({ place }) => place?.complete) ?? work;
  const count = tasks.filter(({ place }) => place?.complete).length;
  return [
    duration(work.waitedSeconds),
    `${askedFor(work)}${isArray ? ` in each of ${tasks.length.toLocaleString('en-US')} tasks` : ''}`,
    name(`${work.team ?? 'unattributed'} / ${work.user ?? '–'}`),
    name([work.name, id].filter((text) => text !== null).join(' · ')),
    name(work.heldBackBy ?? ''),
    (isArray && count > 0 ? `${counted(count, 'task')}, the first on ` : '') + placeText(startable, asOf),
  ];
}

function placeText({ place, parts }: QueuedWork, asOf: Date): string {
  if (place === undefined) return '–';
  if (!place.complete) {
    if (place.partsNeeded === 1) return `– at most ${place.onOneNode} on one machine`;
    const part = parts > 1 ? counted(place.partsNeeded, 'pod') : counted(place.partsNeeded, 'whole machine');
    return `– ${place.partsFit === 0 ? 'none' : place.partsFit} of ${part}`;
  }
  const where = `${safeText(place.nodes[0] ?? '')}${place.nodes.length > 1 ? ` and ${place.nodes.length - 1} more` : ''}`;
  const holder = place.holders[0];
  const others = place.holders.length - 1;
  const held =
    place.idle === 0 || holder === undefined
      ? []
      : [
          `${place.idle} idle, held by ${shorten(safeText(`${holder.team ?? 'unattributed'} / ${holder.user ?? '–'}`), NAME_WIDTH_MAX)} ` +
            `since ${recently(holder.idleSince, asOf)}${others > 0 ? ` and by ${others} more` : ''}`,
        ];
  return `${where}: ${[...(place.empty > 0 ? [`${place.empty} empty`] : []), ...held].join(', ')}`;
}

function nowLine({ idleNow, emptyGpus, silentGpus }: QueueAnswer, dataFlag: string): string {
  const parts = [
    idleNow.shareUnits === 0n
      ? 'no GPU is held idle'
      : [`${counted(gpuCount(idleNow.shareUnits), 'GPU')} held idle`, ...idleTotalWords(idleNow)].join(', '),
    emptyGpus === 0 ? 'none empty' : `${emptyGpus.toLocaleString('en-US')} empty`,
    silentGpus === 0 ? '' : `${silentGpus.toLocaleString('en-US')} held without telemetry, unknown`,
  ].filter((part) => part !== '');
  return `Meanwhile: ${parts.join('; ')}${idleNow.shareUnits === 0n ? '' : `  → bursar idle${dataFlag}`}`;
}

function modelLines(queue: QueueAnswer): string[] {
  const rows = (queue.models ?? []).filter(({ waitedGpuSeconds }) => waitedGpuSeconds > 0n);
  if (rows.length === 0) return [];
  const hours = (units: bigint): string => gpuHoursOf([units]).parts[0] ?? '';
  // Who takes any model waits for all of them: none of them is its own.
  const stood = (model: string | null, units: bigint): string => (model === null && units === 0n ? '' : hours(units));
  return [
    '',
    `GPU-hours, ${windowWords(queue)}: waited for, beside those that stood idle or empty`,
    ...textTable(
      [
        { align: 'left', title: 'model' },
        { align: 'right', title: 'waited for' },
        { align: 'right', title: 'held idle' },
        { align: 'right' },
        { align: 'right', title: 'empty' },
        { align: 'right' },
      ],
      rows.map(({ model, waitedGpuSeconds, idle, unallocated }) => [
        model === null ? 'any or unknown' : shorten(safeText(model), NAME_WIDTH_MAX),
        hours(waitedGpuSeconds * UNITS_PER_GPU),
        stood(model, idle.gpuUnits),
        idle.gpuUnits === 0n ? '' : dollars(idle.usdMicros),
        stood(model, unallocated.gpuUnits),
        unallocated.gpuUnits === 0n ? '' : dollars(unallocated.usdMicros),
      ]),
    ),
  ];
}

function teamLines(queue: QueueAnswer): string[] {
  const { teams } = queue;
  if (teams.length === 0) return [];
  const more = teams.length - TEAMS_SHOWN;
  const isAsked = SIZES.map((_, size) => teams.some(({ medianBySize }) => (medianBySize[size] ?? null) !== null));
  const time = (seconds: number | null, size: number): string =>
    isAsked[size] ? (seconds === null ? '–' : duration(seconds)) : '';
  return [
    '',
    `Time to a GPU, ${windowWords(queue)}: how long jobs waited that began then`,
    ...textTable(
      [
        { align: 'left', title: 'team' },
        ...['jobs', 'median', 'p90', ...SIZES.map((size) => (size === '1' ? '1 GPU' : size))].map(
          (title) => ({ align: 'right', title }) as const,
        ),
      ],
      teams
        .slice(0, TEAMS_SHOWN)
        .map(({ team, jobs, medianSeconds, p90Seconds, medianBySize }) => [
          shorten(safeText(team ?? 'unattributed'), NAME_WIDTH_MAX),
          jobs.toLocaleString('en-US'),
          duration(medianSeconds),
          duration(p90Seconds),
          ...medianBySize.map(time),
        ]),
    ),
    ...(more > 0 ? [`and ${counted(more, 'team')} more: --json has them all`] : []),
  ];
}

export function queueJson(queue: QueueAnswer): unknown {
  return {
    asOf: isoTime(queue.asOf),
    asOfBy: queue.asOfBy,
    window: { from: isoTime(queue.window.from), until: isoTime(queue.window.until) },
    waiting:
      queue.waiting?.map(({ since, place, ...work }) => ({
        ...work,
        since: isoTime(since),
        place: place === undefined ? null : placeJson(place),
      })) ?? null,
    emptyGpus: queue.emptyGpus,
    idleGpus: gpuSeconds(queue.idleNow.shareUnits),
    silentGpus: queue.silentGpus,
    models:
      queue.models?.map(({ model, waitedGpuSeconds, idle, unallocated }) => ({
        model,
        waitedGpuSeconds: Number(waitedGpuSeconds),
        idle: { gpuSeconds: gpuSeconds(idle.gpuUnits), usdMicros: idle.usdMicros },
        unallocated: { gpuSeconds: gpuSeconds(unallocated.gpuUnits), usdMicros: unallocated.usdMicros },
      })) ?? null,
    teams: queue.teams.map(({ medianBySize, ...team }) => ({
      ...team,
      medianSecondsBySize: Object.fromEntries(
        SIZES.map((size, index) => [size.replace('–', '-'), medianBySize[index] ?? null]),
      ),
    })),
  };
}

function placeJson(place: Place): unknown {
  return {
    complete: place.complete,
    nodes: place.nodes,
    emptyGpus: place.empty,
    idleGpus: place.idle,
    gpusOnOneNode: place.onOneNode,
    partsFit: place.partsFit,
    partsNeeded: place.partsNeeded,
    heldBy: place.holders.map(({ allocationId, team, user }) => ({ allocationId, team, user })),
  };
}
