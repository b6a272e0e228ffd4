import { cpSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { importFiles } from '../../src/app/import.ts';
import { ledgerHash } from '../../src/app/ledger-hash.ts';
import { deriveLedger, withReader, withWriter } from '../../src/app/workspace.ts';
import type { WriteSpace } from '../../src/app/workspace.ts';
import { OperationError } from '../../src/facts/operation-error.ts';
import { ledgerHashOf } from './ledger-hash-of.ts';

/** One command of a user: files of one table under one name, bringing the ledger up to date, or asking it. */
export type Command =
  | { readonly kind: 'import'; readonly table: string; readonly batch: string; readonly file: string }
  | { readonly kind: 'derive' }
  | { readonly kind: 'read' };

/** What the program below does. */
export interface Plan {
  readonly dataDir: string;
  readonly commands: readonly Command[];
  /** Stops dead at this step, counted over all commands, to be killed there. */
  readonly holdAtStep?: number;
  /** Says after every command which ledger there is now; else only at the end. */
  readonly tellsAll?: boolean;
  /** Keeps a copy of the data folder after every command: `<copies>/1` after the first. */
  readonly copies?: string;
  /** Does all commands as one writer, over and over, until something comes in on stdin. */
  readonly repeats?: boolean;
}

/** What the program says: one line of JSON each. */
export type Told =
  | { readonly step: number; readonly command: number; readonly name: string }
  | { readonly command: number; readonly generation: number; readonly hash: string }
  | { readonly command: number; readonly refused: string; readonly message: string };

const plan: Plan = JSON.parse(process.argv[2] ?? '');
let steps = 0;

/** Written straight to the pipe: what was said is what was reached, also for whoever is killed in the next moment. */
function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}

function stepOf(command: number): (name: string) => void {
  return (name) => {
    const step = steps;
    steps += 1;
    tell({ step, command, name });
    if (step === plan.holdAtStep) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
}

async function tellLedger(space: WriteSpace, command: number): Promise<void> {
  const snapshot = space.manifest.snapshot();
  const hash = await ledgerHashOf(space.engine, space.dataDir, snapshot);
  tell({ command, generation: snapshot.generation, hash });
}

async function run(space: WriteSpace, command: Command, index: number): Promise<void> {
  const onStep = stepOf(index);
  if (command.kind === 'import') {
    const { table, batch, file } = command;
    await importFiles({ ...space, table, batch, files: [file], onStep });
  } else {
    await deriveLedger(space, { onStep });
  }
}

async function runAlone(command: Command, index: number): Promise<void> {
  const onStep = stepOf(index);
  onStep('start');
  if (command.kind === 'read') {
    await withReader(plan.dataDir, async (space) => {
      const { hash } = await ledgerHash(space);
      tell({ command: index, generation: space.snapshot.generation, hash });
    });
    return;
  }
  await withWriter(
    plan.dataDir,
    command.kind,
    async (space) => {
      await run(space, command, index);
      onStep('close');
      if (plan.tellsAll || index === plan.commands.length - 1) await tellLedger(space, index);
    },
    onStep,
  );
}

/** As in a shell: what is refused says why, and the next command has its turn. */
async function runEach(): Promise<void> {
  for (const [index, command] of plan.commands.entries()) {
    try {
      await runAlone(command, index);
      if (plan.copies !== undefined) cpSync(plan.dataDir, join(plan.copies, String(index + 1)), { recursive: true });
    } catch (failure) {
      if (!(failure instanceof OperationError)) throw failure;
      tell({ command: index, refused: failure.code, message: failure.message });
    }
  }
}

async function runOverAndOver(): Promise<void> {
  const told = new AbortController();
  process.stdin.once('data', () => told.abort());
  await withWriter(plan.dataDir, 'test', async (space) => {
    while (!told.signal.aborted)
      for (const [index, command] of plan.commands.entries()) await run(space, command, index);
  });
  process.stdin.destroy();
}

await (plan.repeats ? runOverAndOver() : runEach());
