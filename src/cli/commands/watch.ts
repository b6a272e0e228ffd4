import { hostname } from 'node:os';
import { Command, Option } from 'commander';
import type { RateConfig } from '../../app/config/source-config.ts';
import { parseRate } from '../../app/first-look/rate-option.ts';
import { runCommand } from '../../app/run-command.ts';
import { watch } from '../../app/watch/watch.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { shorten } from '../../report/table.ts';
import { watchJson, watchScreen } from '../../report/watch-screen.ts';
import { outputOf } from '../output.ts';
import { dataFlag, dataOption, jsonOption } from '../question-options.ts';
import { terminalWidth } from '../terminal-width.ts';

interface WatchFlags {
  readonly data: string;
  readonly rate?: readonly RateConfig[];
  readonly every: number;
  readonly once?: boolean;
  readonly commandPrefix?: readonly string[];
  readonly node?: string;
  readonly json?: boolean;
}

export function command(): Command {
  const rates = (text: string, before: readonly RateConfig[] | undefined): readonly RateConfig[] => [
    ...(before ?? []),
    parseRate(text),
  ];
  return new Command('watch')
    .description(
      'What the GPUs of this machine do, whose programs are on them and what that costs, live. It reads nvidia-smi or rocm-smi ' +
        'and ps, and keeps what it sees.',
    )
    .addOption(new Option('--every <time>', 'how often to look').argParser(lengthMs).default(5000, '5s'))
    .option('--once', 'one look, then end; so it is where nobody watches, too')
    .addOption(
      new Option('--rate <model=usd>', 'what an hour of a GPU costs you: H100=1.95; may be repeated').argParser(rates),
    )
    .addOption(
      new Option('--command-prefix <words>', 'reach another machine: "ssh box1"').argParser((text: string) =>
        wordsOf(text),
      ),
    )
    .option('--node <name>', 'the name of the machine (default: its host name)')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (flags: WatchFlags, self: Command) => {
      const stop = new AbortController();
      const onSignal = (): void => stop.abort();
      process.once('SIGINT', onSignal);
      process.once('SIGTERM', onSignal);
      try {
        await watchAndShow(flags, self, stop.signal);
      } finally {
        process.removeListener('SIGINT', onSignal);
        process.removeListener('SIGTERM', onSignal);
      }
    });
}

async function watchAndShow(flags: WatchFlags, self: Command, signal: AbortSignal): Promise<void> {
  const output = outputOf(self);
  const { data, commandPrefix: prefix, json } = flags;
  const isLive = process.stdout.isTTY && !flags.once && !json;
  const draw = screenDrawer((text) => self.configureOutput().writeOut?.(text));
  await watch({
    dataDir: data,
    run: runCommand,
    hostname: flags.node ?? (prefix === undefined ? hostname() : hostBehind(prefix)),
    ...(prefix !== undefined && { prefix }),
    rates: flags.rate ?? [],
    everyMs: flags.every,
    once: !isLive,
    now: () => new Date(),
    signal,
    onState: (state, trouble) => {
      if (json) return output.json(watchJson(state));
      const words = { dataDir: data, dataFlag: dataFlag(data), isLive, ...(isLive && { width: terminalWidth() - 1 }) };
      const lines = watchScreen(state, { ...words, ...(trouble !== undefined && { trouble: trouble.message }) });
      if (isLive) draw(lines);
      else output.data(lines);
    },
    onTrouble: (trouble) => draw([`${trouble.message}; looking again`]),
  });
  if (isLive) output.talk('stopped; what was seen is kept');
}

/** Draws over what it drew before. Lines are cut to the width of the terminal, or they would take more rows than were counted. */
function screenDrawer(write: (text: string) => void): (lines: readonly string[]) => void {
  let drawn = 0;
  return (lines) => {
    const cut = lines.map((line) => shorten(line, terminalWidth() - 1));
    write(`${drawn > 0 ? `\u001b[${drawn}A\u001b[J` : ''}${cut.join('\n')}\n`);
    drawn = cut.length;
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

function lengthMs(text: string): number {
  const found = /^(\d{1,5})(s|m|h)$/.exec(text.trim());
  const ms = found === null ? 0 : Number(found[1]) * (UNITS_MS[found[2] ?? ''] ?? 0);
  if (ms < 1000)
    throw new OperationError('bad-option', `--every ${text} is not a length of time`, {
      hint: 'For example --every 5s.',
    });
  return ms;
}

function wordsOf(text: string): readonly string[] {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length > 0) return words;
  throw new OperationError('bad-option', '--command-prefix is empty', {
    hint: 'For example --command-prefix "ssh box1".',
  });
}

/** `box1` of `ssh -o BatchMode=yes me@box1`. */
function hostBehind(prefix: readonly string[]): string {
  const last = prefix.at(-1) ?? '';
  return last.slice(last.indexOf('@') + 1);
}
