import type { Command } from 'commander';
import { safeLines } from '../report/safe-text.ts';

/** Where a command's words go: data to stdout, talk to stderr. */
export interface Output {
  /** Lines of the answer, each after `mark`. */
  data(lines: readonly string[], mark?: string): void;
  /** The answer for programs: bigints as strings, one object. */
  json(value: unknown): void;
  /** Anything that is not the answer; names in it are shown, never obeyed. */
  talk(line: string): void;
  /** One line that is overwritten, only where somebody is watching. */
  progress(line: string): void;
}

/** The streams `dispatch` gave the command; tests hand in their own. */
export function outputOf(command: Command): Output {
  const streams = command.configureOutput();
  const out = (text: string): void => streams.writeOut?.(text);
  const err = (text: string): void => streams.writeErr?.(text);
  let isOverwriting = false;
  const endProgress = (): void => {
    if (isOverwriting) err('\r\u001b[K');
    isOverwriting = false;
  };
  return {
    data(lines, mark = '') {
      endProgress();
      if (lines.length > 0) out(`${lines.map((line) => (line === '' ? '' : mark + line)).join('\n')}\n`);
    },
    json(value) {
      endProgress();
      out(`${JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each), 2)}\n`);
    },
    talk(line) {
      endProgress();
      err(`${safeLines(line)}\n`);
    },
    progress(line) {
      if (!process.stderr.isTTY) return;
      isOverwriting = true;
      err(`\r\u001b[K${line}`);
    },
  };
}
