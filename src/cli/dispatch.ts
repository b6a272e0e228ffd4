import { existsSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { OperationError } from '../facts/operation-error.ts';
import { safeLines } from '../report/safe-text.ts';
import { CONFIG_FILE, DEFAULT_DATA_DIR } from './folders.ts';

/** One line of `bursar --help`. The module behind it is imported only when it is asked for. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ command: () => Command }>;
}

/** Where data and talk go; a test hands in its own. */
export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** What goes wrong reaches people as one line and a hint, programs as one JSON object. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/**
 * Runs the command the arguments ask for and returns the exit code: 0 fine, 1 error, 2 what a command set in
 * `process.exitCode` (findings or changes, where asked).
 */
export async function dispatch(
  argv: readonly string[],
  version: string,
  commands: readonly CommandEntry[],
  streams: Streams,
): Promise<number> {
  const { args, debug, json } = takeGlobalOptions(argv);
  process.exitCode = undefined;
  try {
    const program = await programFor(args, version, commands);
    speakThrough(program, streams);
    program.hook('preAction', (_, action) => takeConfiguredFolder(action));
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // --help and --version end this way.
    if (debug) streams.stderr.write(`${safeLines(stackOf(error))}\n`);
    report(failureOf(error, args), json, streams);
    return 1;
  }
}

/** `--debug` is for every command and none of them sees it; `--json` is theirs, but also decides how errors look. */
function takeGlobalOptions(argv: readonly string[]): { args: string[]; debug: boolean; json: boolean } {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const options = argv.slice(0, end);
  const args = [...options.filter((arg) => arg !== '--debug'), ...argv.slice(end)];
  // A root option of that name would take the word away from the command, so "bursar --json look" changes its order.
  if (args[0] === '--json' && args[1] !== undefined) args.splice(0, 2, args[1], '--json');
  // "bursar help look" is what people type; commander's own help command would not load the real look.
  if (args[0] === 'help') args.splice(0, args.length, ...args.slice(1), '--help');
  return { args, debug: options.includes('--debug'), json: options.includes('--json') };
}

/** Every command is in the program by name and summary, only the one asked for with its options. */
async function programFor(args: readonly string[], version: string, commands: readonly CommandEntry[]) {
  const program = new Command('bursar')
    .description('Every GPU dollar: where it went, and why.')
    .usage('<command> [options]')
    .version(version)
    .helpCommand(false)
    // A command with commands of its own would else take their options: "bills add --json".
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nbursar <command> --help says more. Every question takes --json, and every command --debug for stack traces.',
    );
  const asked = args.find((arg) => !arg.startsWith('-'));
  for (const { name, summary, load } of commands) {
    const command = name === asked ? (await load()).command() : new Command(name);
    program.addCommand(command.summary(summary));
  }
  return program;
}

/** Without `--data` the folder is that of bursar.yaml, if there is one here; commands with a folder of their own keep it. */
async function takeConfiguredFolder(command: Command): Promise<void> {
  const isUsual = command.getOptionValue('data') === DEFAULT_DATA_DIR;
  if (!isUsual || command.getOptionValueSource('data') !== 'default' || !existsSync(CONFIG_FILE)) return;
  const { findConfig } = await import('../app/config/config-file.ts');
  const data = (await findConfig(undefined))?.data;
  if (data !== undefined) command.setOptionValueWithSource('data', data, 'config');
}

/** Commander neither ends the process nor prints errors: both are done here, once, for people and for programs. */
function speakThrough(command: Command, streams: Streams): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => streams.stdout.write(text),
    writeErr: (text) => streams.stderr.write(text),
    outputError: () => undefined,
  });
  for (const child of command.commands) speakThrough(child, streams);
}

function failureOf(error: unknown, args: readonly string[]): Failure {
  if (error instanceof OperationError) return { code: error.code, message: error.message, hint: error.hint };
  if (error instanceof CommanderError) return usageFailure(error, args);
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'unexpected',
    message: message.split('\n', 1)[0] ?? '',
    hint: 'this was not expected; --debug shows where it happened',
  };
}

function usageFailure(error: CommanderError, args: readonly string[]): Failure {
  const asked = args.find((arg) => !arg.startsWith('-'));
  const unknown = error.code === 'commander.unknownCommand' || asked === undefined;
  const seeAlso = unknown ? 'bursar --help' : `bursar ${asked} --help`;
  if (error.code === 'commander.help') {
    return { code: 'usage', message: `${asked ?? 'bursar'} needs to be told what to do`, hint: `see ${seeAlso}` };
  }
  const [message = '', nearest] = error.message.replace(/^error: /, '').split('\n');
  const hint = /^\((Did you mean .*)\)$/.exec(nearest ?? '')?.[1] ?? `see ${seeAlso}`;
  return { code: 'usage', message, hint };
}

function report({ code, message, hint }: Failure, json: boolean, streams: Streams): void {
  if (json) {
    streams.stdout.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
    return;
  }
  streams.stderr.write(`bursar: ${safeLines(message)}\n`);
  if (hint !== undefined) streams.stderr.write(`hint: ${safeLines(hint)}\n`);
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${stack}\ncaused by: ${stackOf(error.cause)}`;
}
