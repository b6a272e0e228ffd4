import { Command } from 'commander';
import type { CollectRequest } from '../../app/collect/collect.ts';
import { configToCollect, configuredSources, keepConfiguredRates } from '../../app/collect/collect-config.ts';
import { collectAndDerive, follow } from '../../app/collect/follow.ts';
import { windowStart } from '../../app/window.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { Source } from '../../facts/source.ts';
import { collectJson, collectLines } from '../../report/collect-report.ts';
import type { Output } from '../output.ts';
import { turnTeller } from '../collect-talk.ts';
import { outputOf } from '../output.ts';
import { DEFAULT_DATA_DIR } from '../folders.ts';
import { dataFlag, instant, jsonOption } from '../question-options.ts';

interface CollectOptions {
  readonly config?: string;
  readonly data?: string;
  readonly follow?: boolean;
  readonly source: readonly string[];
  readonly since?: string;
  readonly until?: Date;
  readonly json?: boolean;
}

export function command(): Command {
  return new Command('collect')
    .description('Brings the data up to date with the sources of bursar.yaml. Only reads from them.')
    .option('--follow', 'go on collecting until stopped')
    .option('--source <name>', 'only this source; may be repeated', (name: string, all: string[]) => [...all, name], [])
    .option(
      '--since <time>',
      'on first contact, how far back: 7d, 2h or 2026-11-01; else what bursar.yaml says, or all there is',
    )
    .option('--until <time>', 'collect as if it were this moment', (text: string) => instant('--until', text))
    .option('--config <file>', 'instead of ./bursar.yaml')
    .option('--data <dir>', `the data folder (default: that of bursar.yaml, else ${DEFAULT_DATA_DIR})`)
    .addOption(jsonOption())
    .addHelpText('after', '\nEnds with 1 when no source could be read; trouble with one does not hold up the others.')
    .action(async (options: CollectOptions, self: Command) => {
      const output = outputOf(self);
      const config = await configToCollect(options.config);
      const dataDir = options.data ?? config.data ?? DEFAULT_DATA_DIR;
      const now = (): Date => options.until ?? new Date();
      const stop = new AbortController();
      const request: CollectRequest = {
        dataDir,
        sources: withHistory(
          await configuredSources(config, { env: process.env, baseDir: config.baseDir }, options.source),
          options.until,
          output,
        ),
        now,
        signal: stop.signal,
        progress: (line) => output.progress(line),
        ...(options.since !== undefined && { since: windowStart('--since', options.since, now()) }),
      };
      const onSignal = (): void => stop.abort();
      process.once('SIGINT', onSignal);
      process.once('SIGTERM', onSignal);
      try {
        await keepConfiguredRates(config, dataDir);
        if (options.follow) await followSources(request, output);
        else await collectOnceAndTell(request, output, options.json ?? false);
      } finally {
        process.removeListener('SIGINT', onSignal);
        process.removeListener('SIGTERM', onSignal);
      }
    });
}

/** What knows only the present cannot be asked as if it were another time: its answers would be written under a false one. */
function withHistory(sources: readonly Source[], until: Date | undefined, output: Output): readonly Source[] {
  if (until === undefined) return sources;
  const asked = sources.filter(({ kind }) => kind === 'prometheus');
  const others = sources.filter((source) => !asked.includes(source)).map(({ name }) => name);
  if (others.length > 0) output.talk(`not asked, because they know only the present: ${others.join(', ')}`);
  if (asked.length > 0) return asked;
  throw new OperationError('no-history', '--until needs a source with history', {
    hint: 'Of the sources, Prometheus has one.',
  });
}

async function collectOnceAndTell(request: CollectRequest, output: Output, asJson: boolean): Promise<void> {
  const { sources } = await collectAndDerive(request);
  if (asJson) output.json(collectJson(sources));
  else output.data([...collectLines(sources, request.now()), `→ bursar look${dataFlag(request.dataDir)}`]);
  if (sources.every(({ state }) => state === 'failed')) process.exitCode = 1;
}

async function followSources(request: CollectRequest, output: Output): Promise<void> {
  output.talk(`collecting from ${request.sources.map(({ name }) => name).join(', ')}; Ctrl-C ends it`);
  await follow({ ...request, ...turnTeller(output, request.now) });
  output.talk('stopped; what was read is kept');
}
