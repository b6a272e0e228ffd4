import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { OperationError } from '../../facts/operation-error.ts';
import { clockOf, demoMark } from '../../app/demo/demo-mark.ts';
import { look } from '../../app/look.ts';
import { withReader } from '../../app/workspace.ts';
import type { ReadSpace } from '../../app/workspace.ts';
import { chooseSources, openSources } from '../../app/first-look/chosen-sources.ts';
import type { ChosenSources } from '../../app/first-look/chosen-sources.ts';
import { namesSources } from '../../app/first-look/discover.ts';
import { firstLook, folderState, NOTHING_ANSWERS, ownFolder, restateRates } from '../../app/first-look/first-look.ts';
import { priceAssumptions } from '../../app/first-look/price-assumptions.ts';
import { parseRate } from '../../app/first-look/rate-option.ts';
import { findConfig } from '../../app/config/config-file.ts';
import type { RateConfig } from '../../app/config/source-config.ts';
import {
  ageLines,
  firstLookJson,
  firstLookLines,
  nothingAnswersLines,
  nothingFoundLines,
  partLines,
  readingLines,
} from '../../report/first-look-lines.ts';
import type { FirstLookWords, NotRead } from '../../report/first-look-lines.ts';
import { lookPage } from '../../report/look-page.ts';
import { lookJson, lookScreen } from '../../report/look-screen.ts';
import { shellWord } from '../../report/shell-word.ts';
import { DEFAULT_DATA_DIR } from '../folders.ts';
import { dataFlag, withCommonOptions } from '../question-options.ts';
import type { CommonOptions } from '../question-options.ts';
import { outputOf } from '../output.ts';
import type { Output } from '../output.ts';
import { sourceWords, withSourceOptions } from '../source-options.ts';
import type { SourceOptions } from '../source-options.ts';

interface LookFlags extends CommonOptions, SourceOptions {
  readonly rate?: readonly RateConfig[];
  readonly html?: string;
}

export function command(): Command {
  const rates = (text: string, before: readonly RateConfig[] | undefined): readonly RateConfig[] => [
    ...(before ?? []),
    parseRate(text),
  ];
  return withSourceOptions(withCommonOptions(new Command('look')))
    .description(
      'What was paid for in a window, and what became of it: the first screen. Where nothing is collected yet, or with a ' +
        'flag that names a source, it first reads at most seven days in at most a minute. It only reads, and sends nothing.',
    )
    .addOption(
      new Option('--rate <model=usd>', 'what an hour of a GPU costs you: H100=1.95; may be repeated').argParser(rates),
    )
    .option('--html <file>', 'also write it as one page to forward')
    .action(async (flags: LookFlags, self: Command) => {
      const output = outputOf(self);
      const data = await dataFolder(flags, self);
      const windowGiven = self.getOptionValueSource('window') === 'cli';
      const folder = await folderState(data);
      const hasData = folder.batches.some(({ firstAt }) => firstAt !== null);
      if (!namesSources(flags) && hasData) {
        if (flags.rate !== undefined) await restateRates(data, flags.rate);
        return showFolder({ ...flags, data }, output);
      }
      const chosen = await chooseSources(flags);
      if (chosen.found.length === 0) return nothingFound(chosen.missing, flags, output);
      const window = windowGiven ? flags.window : undefined;
      await readAndShow({ ...flags, data }, window, chosen, output);
    });
}

/** What the user says, else what bursar.yaml says, else the usual. */
async function dataFolder(flags: LookFlags, self: Command): Promise<string> {
  if (self.getOptionValueSource('data') === 'cli') return flags.data;
  return (await findConfig(flags.config))?.data ?? DEFAULT_DATA_DIR;
}

async function showFolder(flags: LookFlags, output: Output): Promise<void> {
  await withReader(flags.data, async (space) => {
    const answer = await look(space, { ...flags, clock: clockOf(space) });
    const flag = dataFlag(flags.data);
    const notes = ageLines(space.sources, new Date(), flag);
    if (flags.json) output.json(lookJson(answer));
    else output.data([...lookScreen(answer, flag), ...notes], demoMark(space.snapshot));
    await writePage(flags, space, { answer, notes }, output);
  });
}

async function readAndShow(
  flags: LookFlags,
  windowAsked: string | undefined,
  chosen: ChosenSources,
  output: Output,
): Promise<void> {
  await ownFolder(flags.data);
  const sources = await openSources(chosen);
  for (const line of readingLines(sources, flags.data)) output.talk(line);
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort();
  process.once('SIGINT', stop);
  try {
    const {
      dataDir,
      read,
      window: readWindow,
    } = await firstLook({
      dataDir: flags.data,
      sources,
      rates: flags.rate ?? [],
      ...(chosen.config !== undefined && { config: chosen.config }),
      now: () => new Date(),
      signal: interrupted.signal,
      elapsedMs: () => performance.now(),
      progress: (line) => output.progress(line),
    });
    await withReader(dataDir, async (space) => {
      const window = windowAsked ?? readWindow;
      const answer = await look(space, { ...flags, window, clock: new Date() });
      const prices = await priceAssumptions(space, answer.window);
      const words: FirstLookWords = { read, prices, notRead: chosen.missing, dataDir };
      const flag = dataFlag(dataDir);
      if (flags.json) output.json({ ...(lookJson(answer) as object), firstLook: firstLookJson(words) });
      else output.data([...partLines(words), ...lookScreen(answer, flag), ...firstLookLines(words)]);
      await writePage({ ...flags, window, data: dataDir }, space, { answer, notes: [], firstLook: words }, output);
      if (answer.ledger === undefined) process.exitCode = 1;
    });
  } catch (failure) {
    const isSilent = failure instanceof OperationError && failure.code === NOTHING_ANSWERS;
    if (!isSilent || flags.json) throw failure;
    process.exitCode = 1;
    output.data(nothingAnswersLines(failure, chosen.missing));
  } finally {
    process.removeListener('SIGINT', stop);
  }
}

function nothingFound(missing: readonly NotRead[], { json }: LookFlags, output: Output): void {
  process.exitCode = 1;
  const [message = '', ...rest] = nothingFoundLines(missing);
  if (!json) return output.data([message, ...rest]);
  output.json({ error: { code: 'nothing-found', message, hint: rest.at(-1) ?? null, notRead: missing } });
}

interface Shown {
  readonly answer: Awaited<ReturnType<typeof look>>;
  readonly notes: readonly string[];
  readonly firstLook?: FirstLookWords;
}

async function writePage(flags: LookFlags, space: ReadSpace, shown: Shown, output: Output): Promise<void> {
  if (flags.html === undefined) return;
  const sources = shown.firstLook?.read.sources.map(({ name, reads }) => `${name}: ${reads}`);
  const collected = space.sources.map(({ name, reads }) => `${name}: ${reads}`);
  const scope = [...(sources ?? collected)].join('; ');
  const page = lookPage({
    ...shown,
    scope: scope === '' ? `everything in ${flags.data}` : scope,
    command: commandWords(flags),
    madeAt: new Date(),
    isDemo: demoMark(space.snapshot) !== '',
    dataFlag: dataFlag(flags.data),
  });
  await writeFile(flags.html, page);
  output.talk(`Written to ${flags.html}: one page, nothing else needed.`);
}

function commandWords(flags: LookFlags): string {
  return [
    'bursar look',
    `--window ${shellWord(flags.window)}`,
    ...sourceWords(flags),
    ...(flags.rate ?? []).map(({ model, usdPerGpuHour }) => `--rate ${shellWord(`${model ?? '*'}=${usdPerGpuHour}`)}`),
    ...(flags.asOf === undefined ? [] : [`--as-of ${flags.asOf.toISOString()}`]),
  ]
    .join(' ')
    .concat(dataFlag(flags.data));
}
