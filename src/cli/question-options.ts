import { Option } from 'commander';
import type { Command } from 'commander';
import { OperationError } from '../facts/operation-error.ts';
import { parseTime } from '../money/period.ts';
import { shellWord } from '../report/shell-word.ts';
import { DEFAULT_DATA_DIR } from './folders.ts';

/** What every question takes. */
export interface CommonOptions {
  readonly data: string;
  readonly asOf?: Date;
  readonly window: string;
  readonly json?: boolean;
}

export function dataOption(dataDir = DEFAULT_DATA_DIR): Option {
  return new Option('--data <dir>', 'the data folder').default(dataDir);
}

export function jsonOption(): Option {
  return new Option('--json', 'the answer as JSON, in a stable shape');
}

export function asOfOption(): Option {
  return new Option('--as-of <time>', 'see it as at this moment: 2026-11-01 or 2026-11-01T09:00:00Z').argParser(
    (text) => instant('--as-of', text),
  );
}

export function windowOption(window = '30d'): Option {
  return new Option(
    '--window <window>',
    '30d, today, lastweek, lastmonth, 2026-11, 2026-11-01, all or FROM/UNTIL',
  ).default(window);
}

/** Gives a command `--data`, `--as-of`, `--window` and `--json`. */
export function withCommonOptions(command: Command, defaults: { window?: string } = {}): Command {
  return command
    .addOption(windowOption(defaults.window))
    .addOption(asOfOption())
    .addOption(dataOption())
    .addOption(jsonOption());
}

/** The moment an option names; refused with a hint where it names none. */
export function instant(option: string, text: string): Date {
  const time = parseTime(text.trim());
  if (time.ok) return new Date(time.ms);
  throw new OperationError('bad-time', `${option}: ${time.reason}`, {
    hint: `For example ${option} 2026-11-01T09:00:00Z.`,
  });
}

/** ` --team nlp --window 7d`: what was asked, in flags to ask it again; what was not said is left out. */
export function flagWords(
  flags: Readonly<Record<string, string | Date | boolean | readonly string[] | undefined>>,
): string {
  const words = Object.entries(flags).flatMap(([name, said]) => {
    if (said === undefined || said === false) return [];
    if (said === true) return [`--${name}`];
    if (said instanceof Date) return [`--${name} ${said.toISOString()}`];
    return (typeof said === 'string' ? [said] : said).map((value) => `--${name} ${shellWord(value)}`);
  });
  return words.map((word) => ` ${word}`).join('');
}

export { dataFlag } from '../report/data-flag.ts';
