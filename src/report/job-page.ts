import { SHARE_UNITS } from '../facts/column.ts';
import { counted, dollarsOf, gpuHours, gpuHoursOf, gpuSeconds, isoTime, minute, percentsOf } from './figures.ts';
import { reasonWords } from './category-words.ts';
import { partsJson, partsText, waitingJson, waitingText } from './hidden-costs-page.ts';
import type { HiddenCosts } from './hidden-costs-page.ts';
import { shortModel } from './idle-list.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import { stackedBar } from './waste/bar.ts';

/** Held time by what the device did in it. */
export interface Activity {
  readonly computingUnits: bigint;
  readonly idleUnits: bigint;
  readonly starvedUnits: bigint;
  readonly lostUnits: bigint;
  readonly unknownUnits: bigint;
}

export interface JobDevice extends Activity {
  readonly deviceId: string;
  readonly nodeId: string | null;
  readonly model: string | null;
  readonly usdMicros: bigint | null;
}

export interface JobAttempt {
  readonly attempt: number;
  readonly heldFrom: Date;
  /** Null while it is still held. */
  readonly heldUntil: Date | null;
  readonly outcome: string | null;
  readonly gpus: number;
}

/** What one job cost, and what its GPUs did meanwhile. */
export interface JobAnswer {
  readonly asOf: Date;
  readonly source: string;
  readonly allocationId: string;
  readonly name: string | null;
  readonly user: string | null;
  readonly team: string | null;
  readonly project: string | null;
  readonly class: string | null;
  readonly cluster: string | null;
  readonly attempts: readonly JobAttempt[];
  readonly categories: readonly {
    readonly category: 'computing' | 'idle' | 'starved' | 'lost' | 'unknown';
    readonly usdMicros: bigint | null;
    readonly gpuUnits: bigint;
  }[];
  /** Of what computed: what bound it, by the profiling fields. Null: fields are missing that would tell. */
  readonly computingBy: readonly {
    readonly reason: string | null;
    readonly usdMicros: bigint | null;
    readonly gpuUnits: bigint;
  }[];
  /** Null where it held GPUs and none of the time has a price. */
  readonly usdMicros: bigint | null;
  readonly unpricedUnits: bigint;
  readonly conflictUnits: bigint;
  /** Seconds of its GPUs in which others held them too. */
  readonly sharedSeconds: number;
  readonly basisUsdMicros: Readonly<Record<string, bigint>>;
  readonly devices: readonly JobDevice[];
  readonly beside: Pick<HiddenCosts, 'parts' | 'waiting'>;
  /** What was found about it when all was last looked at. */
  readonly findings: readonly { readonly number: number; readonly what: string; readonly state: string }[];
}

const BAR_WIDTH = 25;
const DEVICES_SHOWN = 64;
const BASIS_WORDS: Readonly<Record<string, string>> = {
  billed: 'billed',
  rate: 'by stated rates',
  estimated: 'estimated',
};

export function jobJson(job: JobAnswer): unknown {
  return {
    asOf: isoTime(job.asOf),
    source: job.source,
    allocationId: job.allocationId,
    job: job.name,
    user: job.user,
    team: job.team,
    project: job.project,
    class: job.class,
    cluster: job.cluster,
    attempts: job.attempts.map(({ heldFrom, heldUntil, ...attempt }) => ({
      ...attempt,
      heldFrom: isoTime(heldFrom),
      heldUntil: heldUntil === null ? null : isoTime(heldUntil),
    })),
    usdMicros: job.usdMicros,
    basisUsdMicros: job.basisUsdMicros,
    gpuSeconds: gpuSeconds(job.categories.reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n)),
    unpricedSeconds: gpuSeconds(job.unpricedUnits),
    conflictSeconds: gpuSeconds(job.conflictUnits),
    sharedSeconds: job.sharedSeconds,
    categories: Object.fromEntries(
      job.categories.map(({ category, usdMicros, gpuUnits }) => [
        category,
        { usdMicros, gpuSeconds: gpuSeconds(gpuUnits) },
      ]),
    ),
    computingBy: job.computingBy.map(({ reason, usdMicros, gpuUnits }) => ({
      reason,
      usdMicros,
      gpuSeconds: gpuSeconds(gpuUnits),
    })),
    devices: job.devices.map((device) => ({
      deviceId: device.deviceId,
      node: device.nodeId,
      model: device.model,
      usdMicros: device.usdMicros,
      computingSeconds: gpuSeconds(device.computingUnits),
      idleSeconds: gpuSeconds(device.idleUnits),
      starvedSeconds: gpuSeconds(device.starvedUnits),
      lostSeconds: gpuSeconds(device.lostUnits),
      unknownSeconds: gpuSeconds(device.unknownUnits),
    })),
    parts: partsJson(job.beside.parts),
    waiting: waitingJson(job.beside.waiting),
    findings: job.findings,
  };
}

/** A job's page: whose, when, its money by what became of it, and a bar for each GPU. */
export function jobPage(job: JobAnswer, dataFlag = ''): string[] {
  const title = [job.name, `${job.source}/${job.allocationId}`]
    .filter((text) => text !== null)
    .map(safeText)
    .join('  ');
  const who = [
    `team ${safeText(job.team ?? 'unattributed')}`,
    job.user === null ? '' : `user ${safeText(job.user)}`,
    job.project === null ? '' : `project ${safeText(job.project)}`,
    job.class === null ? '' : `class ${safeText(job.class)}`,
    job.cluster === null ? '' : `cluster ${safeText(job.cluster)}`,
  ].filter((text) => text !== '');
  return [
    title,
    `  ${who.join(', ')}`,
    ...job.attempts.map((attempt) => `  ${attemptWords(attempt, job)}`),
    ...(job.devices.length === 0
      ? ['  It held no GPU up to now: there is no GPU money.']
      : [
          ...moneyLines(job),
          ...boundLines(job),
          ...besideLines(job),
          ...findingLines(job, dataFlag),
          '',
          ...bars(job),
        ]),
    ...(job.conflictUnits > 0n
      ? [
          `In two places: ${gpuHours(job.conflictUnits)} of it were claimed by another holder too; they share the money.`,
        ]
      : []),
    ...(job.sharedSeconds > 0
      ? [
          `Shared: others held the same GPU for ${gpuHours(BigInt(job.sharedSeconds * SHARE_UNITS))} of it. Idle there is certain; computing is the GPU’s, whoever’s it was.`,
        ]
      : []),
    ...(job.unpricedUnits > 0n
      ? [`No price for ${gpuHours(job.unpricedUnits)}: bursar import rates FILE${dataFlag}`]
      : []),
  ];
}

function attemptWords({ attempt, heldFrom, heldUntil, outcome, gpus }: JobAttempt, job: JobAnswer): string {
  const until = heldUntil === null ? `still held at ${minute(job.asOf)}` : `to ${minute(heldUntil)}`;
  const which = job.attempts.length > 1 || attempt > 0 ? `attempt ${attempt}: ` : '';
  return `${which}${minute(heldFrom)} ${until} UTC, ${gpus === 0 ? 'no GPU' : counted(gpus, 'GPU')}${outcome === null ? '' : `, ${safeText(outcome)}`}`;
}

function moneyLines(job: JobAnswer): string[] {
  const shown = job.categories.filter(({ gpuUnits, usdMicros }) => gpuUnits !== 0n || (usdMicros ?? 0n) !== 0n);
  const units = shown.map(({ gpuUnits }) => gpuUnits);
  const micros = shown.map(({ usdMicros }) => usdMicros);
  const money = dollarsOf(micros);
  const hours = gpuHoursOf(units);
  const percents = percentsOf(job.usdMicros === null ? units : micros.map((each) => each ?? 0n));
  const basis = Object.entries(job.basisUsdMicros).filter(([, amount]) => amount !== 0n);
  const amounts = dollarsOf(basis.map(([, amount]) => amount)).parts;
  const words = basis.map(([name], index) =>
    basis.length === 1 ? (BASIS_WORDS[name] ?? name) : `${amounts[index] ?? ''} ${BASIS_WORDS[name] ?? name}`,
  );
  const columns = [
    { align: 'left' },
    { align: 'right' },
    { align: 'right' },
    { align: 'right' },
    { align: 'left' },
  ] as const;
  return textTable(columns, [
    ['Paid', money.total, '', `${hours.total} GPU-hours`, words.join(', ')],
    ...shown.map(({ category }, index) => [
      `  ${category === 'idle' ? 'idle, held' : category}`,
      money.parts[index] ?? '',
      percents[index] ?? '',
      `${hours.parts[index] ?? ''} GPU-hours`,
    ]),
  ]);
}

/** What bound it while it computed; nothing where no field tells. */
function boundLines({ computingBy }: JobAnswer): string[] {
  if (computingBy.every(({ reason }) => reason === null)) return [];
  const percents = percentsOf(computingBy.map(({ gpuUnits }) => gpuUnits));
  const parts = computingBy.map(({ reason }, place) => `${percents[place] ?? ''} ${reasonWords('computing', reason)}`);
  return [`While it computed: ${parts.map(safeText).join(', ')}`];
}

/** Only what there is: most jobs have one part and nobody who waited for it. */
function besideLines({ beside: { parts, waiting } }: JobAnswer): string[] {
  return [
    ...(parts.length > 1 ? [partsText(parts)] : []),
    ...(waiting !== undefined && waiting.servedUnits > 0n ? [waitingText(waiting)] : []),
  ];
}

const FINDINGS_SHOWN = 3;

function findingLines({ findings }: JobAnswer, dataFlag: string): string[] {
  return findings
    .slice(0, FINDINGS_SHOWN)
    .map(({ number, what }) => `F-${number}: ${safeText(what)}  → bursar finding F-${number}${dataFlag}`);
}

function bars({ devices }: JobAnswer): string[] {
  const shown = devices.slice(0, DEVICES_SHOWN);
  const names = shortNames(shown.map(({ deviceId }) => safeText(deviceId)));
  const columns = [
    { align: 'left' },
    { align: 'left' },
    { align: 'left' },
    { align: 'left' },
    { align: 'right' },
    { align: 'left' },
  ] as const;
  const rows = shown.map((device, index) => {
    const parts = BAR_PARTS.map(({ units }) => units(device));
    const percents = percentsOf(parts);
    const rest = BAR_PARTS.flatMap(({ name }, place) =>
      place > 0 && (parts[place] ?? 0n) > 0n ? [`${percents[place] ?? ''} ${name}`] : [],
    );
    // Nothing is known of it: not even that it did not compute.
    const isUnknown = parts.slice(0, -1).every((units) => units === 0n);
    return [
      names[index] ?? '',
      safeText(device.nodeId ?? ''),
      device.model === null ? '' : shortModel(device.model),
      bar(device),
      isUnknown ? '' : (percents[0] ?? ''),
      isUnknown ? 'unknown' : ['computing', ...rest].join(', '),
    ];
  });
  const more = devices.length - shown.length;
  return [...textTable(columns, rows), ...(more > 0 ? [`and ${counted(more, 'GPU')} more: --json has them all`] : [])];
}

/** `[|||||~~xx....      ]`: computing, starved, lost, idle, and blank for what is unknown. */
const BAR_PARTS: readonly {
  readonly name: string;
  readonly mark: string;
  readonly units: (activity: Activity) => bigint;
}[] = [
  { name: 'computing', mark: '|', units: ({ computingUnits }) => computingUnits },
  { name: 'starved', mark: '~', units: ({ starvedUnits }) => starvedUnits },
  { name: 'lost', mark: 'x', units: ({ lostUnits }) => lostUnits },
  { name: 'idle', mark: '.', units: ({ idleUnits }) => idleUnits },
  { name: 'unknown', mark: ' ', units: ({ unknownUnits }) => unknownUnits },
];

function bar(activity: Activity): string {
  const drawn = stackedBar(
    BAR_PARTS.map(({ mark, units }) => ({ mark, weight: units(activity) })),
    BAR_WIDTH,
  );
  return `[${drawn.padEnd(BAR_WIDTH)}]`;
}

/** Names cut to what tells them apart: beginnings where those differ, else ends, else whole. */
export function shortNames(names: readonly string[]): string[] {
  const differ = (cut: (name: string) => string): boolean => new Set(names.map(cut)).size === new Set(names).size;
  const shapes: ((name: string) => string)[] = [
    (name) => (name.length <= 18 ? name : `${name.slice(0, 12)}…`),
    (name) => (name.length <= 18 ? name : `${name.slice(0, 8)}…${name.slice(-8)}`),
  ];
  const shape = shapes.find(differ);
  return shape === undefined ? [...names] : names.map(shape);
}
