import { counted, dollars } from './figures.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';

/** What was made up, for people. */
export interface DemoScope {
  readonly gpus: number;
  readonly from: number;
  readonly until: number;
  readonly seed: number;
}

export interface MadeFile {
  /** The word of `bursar import WORD`; null for what is not imported. */
  readonly table: string | null;
  readonly path: string;
  readonly rows: number;
}

export interface MadeDemo {
  readonly folder: string;
  readonly files: readonly MadeFile[];
  readonly gpus: number;
  /** Pools whose part of the fleet is too small for one of their machines. */
  readonly emptyPools: readonly string[];
  readonly samples: number;
  readonly jobs: number;
  readonly totals: {
    readonly billedUsdMicros: number;
    readonly rateUsdMicros: number;
    readonly truthUsdMicros: number;
    readonly truthUsdMicrosByCategory: Readonly<Record<string, number>>;
  };
}

/** `A made-up organisation goes into ./bursar-demo: …` */
export function demoBegins(world: string, { gpus, from, until, seed }: DemoScope, out: string): string {
  return (
    `A made-up organisation goes into ${out}: ${counted(gpus, 'GPU')} from ${dayText(from)} to ${dayText(until)}, ` +
    `world ${safeText(world)}, seed ${seed}. Nothing in it is real.`
  );
}

/** What was written, what it adds up to, and what there was no room for. */
export function demoMade(demo: MadeDemo, seconds: number): string[] {
  const { billedUsdMicros, rateUsdMicros } = demo.totals;
  return [
    `  ${counted(demo.samples, 'sample')}, ${counted(demo.jobs, 'holding')} of jobs and services, ${rowsOf(demo, 'waiting').toLocaleString('en-US')} waiting, ` +
      `${counted(rowsOf(demo, 'charges'), 'row')} of bills: ${demo.folder} (${seconds} s)`,
    `  ${dollars(BigInt(billedUsdMicros))} billed and ${dollars(BigInt(rateUsdMicros))} by stated rates; ` +
      `the truth behind it, to the micro-dollar: ${demo.folder}/truth.csv`,
    ...missingPools(demo),
  ];
}

function missingPools({ gpus, emptyPools }: MadeDemo): string[] {
  if (emptyPools.length === 0) return [];
  const whose = emptyPools.length === 1 ? 'its' : 'their';
  const names = emptyPools.map(safeText).join(', ');
  return [`  With ${counted(gpus, 'GPU')} there is no ${names}: ${whose} machines are larger than ${whose} part`];
}

/** The commands that take the files in, in an order that shows a bill replaced by its second issue. */
export function importCommands({ files }: MadeDemo, flag: string): string[] {
  const imported = files.filter(({ table }) => table !== null);
  const samples = imported.filter(({ table }) => table === 'samples').map(({ path }) => path);
  return [
    ...imported
      .filter(({ table }) => table !== 'samples')
      .map(({ table, path, rows }) => `bursar import ${table} ${shellWord(path)}${flag}   # ${counted(rows, 'row')}`),
    ...(samples.length > 0 ? [`bursar import samples ${sampleGlobs(samples).join(' ')}${flag}`] : []),
    `bursar derive${flag} && bursar look${flag}`,
  ];
}

export function demoJson(demo: MadeDemo): object {
  const { totals } = demo;
  return {
    folder: demo.folder,
    files: demo.files.map(({ table, path, rows }) => ({ table, path, rows })),
    emptyPools: demo.emptyPools,
    samples: demo.samples,
    holdings: demo.jobs,
    billedUsdMicros: String(totals.billedUsdMicros),
    rateUsdMicros: String(totals.rateUsdMicros),
    truthUsdMicros: String(totals.truthUsdMicros),
    truthUsdMicrosByCategory: Object.fromEntries(
      Object.entries(totals.truthUsdMicrosByCategory).map(([category, micros]) => [category, String(micros)]),
    ),
  };
}

export function tryNext(flag: string): string[] {
  const questions = [
    [`bursar idle${flag}`, 'who holds idle GPUs, since when'],
    [`bursar queue${flag}`, 'who waits for GPUs meanwhile'],
    [`bursar spend --by team,class${flag}`, 'what each team paid for'],
    [`bursar outcomes --window 7d${flag}`, 'what a run or a million tokens cost'],
    [`bursar rules suggest${flag}`, 'whose the rest might be'],
    [`bursar ledger check${flag}`, 'does it add up to the bills'],
  ] as const;
  const width = Math.max(...questions.map(([typed]) => typed.length));
  return [
    '',
    ...questions.map(([typed, what], index) => `${index === 0 ? 'Try: ' : '     '}${typed.padEnd(width)}   ${what}`),
    'Another organisation: bursar demo --world well-run, or bursar demo --print-world > my-world.yaml and change it.',
    'Your own fleet: bursar look. It finds what you run, says what it reads, and changes nothing.',
  ];
}

/** `a/samples-*.csv` for the files of many days; the star stays outside of quotes. */
function sampleGlobs(paths: readonly string[]): string[] {
  const words = paths.map((path) => {
    const everyDay = path.replace(/\d{4}-\d{2}-\d{2}\.csv$/, '');
    return everyDay === path ? shellWord(path) : `${shellWord(everyDay)}*.csv`;
  });
  return [...new Set(words)];
}

function rowsOf({ files }: MadeDemo, table: string): number {
  return files.reduce((sum, file) => sum + (file.table === table ? file.rows : 0), 0);
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
