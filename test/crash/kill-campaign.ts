import { deepStrictEqual } from 'node:assert';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { diceOf } from '../oracle/random/dice.ts';
import type { Dice } from '../oracle/random/dice.ts';
import { litterOf, misnamedOf, stateOf } from './data-folder.ts';
import { startWriter } from './writer-process.ts';
import type { WriterBundle } from './writer-process.ts';
import type { Command, Told } from './writer.ts';

/** Steps after a file's bytes were handed to the system and before the manifest has them for good. */
const BETWEEN = ['fsync', 'rename', 'commit', 'manifest: before begin', 'manifest: before commit'];

/** One kill: how it was aimed, the last step the victim told of, and the state it left. */
export interface Kill {
  readonly aim: 'at the step' | 'some moments after';
  readonly command: string;
  readonly step: string;
  readonly isBetween: boolean;
  readonly generation: number;
}

/** A run that nobody disturbed: its steps, the ledger of each generation, and the folder as it was after each command. */
export interface Undisturbed {
  readonly copies: string;
  readonly steps: readonly { readonly step: number; readonly command: number; readonly name: string }[];
  readonly hashes: ReadonlyMap<number, string>;
  readonly finalHash: string;
}

export interface Campaign {
  readonly bundle: WriterBundle;
  readonly commands: readonly Command[];
  readonly folder: string;
  readonly seed: number;
  readonly kills: number;
  readonly onKill?: (kill: Kill) => void;
}

/** Does all commands once, in a folder of its own. */
export async function undisturbed({ bundle, commands, folder }: Campaign): Promise<Undisturbed> {
  const dataDir = join(folder, 'undisturbed');
  const copies = join(folder, 'copies');
  // Before the first command there is an empty folder.
  mkdirSync(join(copies, '0'), { recursive: true });
  const { code, told } = await startWriter(bundle, { dataDir, commands, copies, tellsAll: true }).ended;
  deepStrictEqual(code, 0);
  const hashes = new Map<number, string>();
  for (const each of told) if ('hash' in each) hashes.set(each.generation, each.hash);
  // The first command only brings facts: the ledger stays as empty as it was before it.
  hashes.set(0, hashes.get(1) ?? '');
  rmSync(dataDir, { recursive: true });
  return {
    copies,
    steps: told.filter((each) => 'step' in each),
    hashes,
    finalHash: hashes.get(Math.max(...hashes.keys())) ?? '',
  };
}

/** Kills the writer many times, each time in a new folder, and sees each time that nothing is lost or half there. */
export async function killCampaign(campaign: Campaign, reference: Undisturbed): Promise<Kill[]> {
  const kills: Kill[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next; index < campaign.kills; index = next) {
      next += 1;
      const kill = await killOnce(campaign, reference, diceOf(campaign.seed * 1000 + index), index);
      campaign.onKill?.(kill);
      kills.push(kill);
    }
  };
  // A writer waits for its one disk and for its one thread by turns, so two of them fill two cores.
  await Promise.all([lane(), lane()]);
  return kills;
}

async function killOnce(campaign: Campaign, reference: Undisturbed, dice: Dice, index: number): Promise<Kill> {
  const { bundle, commands, folder } = campaign;
  const dataDir = join(folder, `killed-${index}`);
  const aim = index % 2 === 0 ? 'at the step' : 'some moments after';
  const target = aimed(reference, dice, commands.length);
  cpSync(join(reference.copies, String(target.command)), dataDir, { recursive: true });
  const turns = aim === 'at the step' ? undefined : 2 ** dice.int(0, 12);
  const told = await killAt(bundle, dataDir, commands.slice(target.command), target.step, turns);
  const last = told.findLast((each) => 'step' in each);
  const cutOff = target.command + (last?.command ?? 0);
  const command = commands[cutOff];
  const step = last?.name ?? 'none';
  const label = `kill ${index} of seed ${campaign.seed}, command ${cutOff} (${command?.kind}), ${step}`;

  const left = await stateOf(dataDir);
  deepStrictEqual(left.broken, [], `${label}: files that the manifest lists are whole`);
  const commits = told.filter((each) => 'step' in each && each.name === 'manifest: after commit').length;
  const generations = [target.command + commits, target.command + commits + 1];
  deepStrictEqual(generations.includes(left.generation), true, `${label}: generation ${left.generation}`);
  deepStrictEqual(left.hash, reference.hashes.get(left.generation), `${label}: the ledger of that generation`);

  // People repeat what was cut off, or everything; both must do.
  const rest = index % 4 < 3 ? commands.slice(cutOff) : commands;
  const again = await startWriter(bundle, { dataDir, commands: rest }).ended;
  deepStrictEqual([again.code, again.signal], [0, null], `${label}: the next run`);
  const refused = again.told.filter((each) => 'refused' in each);
  deepStrictEqual(refused, [], `${label}: nothing is refused`);
  const final = again.told.findLast((each) => 'hash' in each);
  deepStrictEqual(final?.hash, reference.finalHash, `${label}: the same ledger as without`);
  deepStrictEqual(await litterOf(dataDir), [], `${label}: nothing lies about`);
  deepStrictEqual(await misnamedOf(dataDir), [], `${label}: what other engines read is the ledger`);
  rmSync(dataDir, { recursive: true });
  return {
    aim,
    command: command?.kind === 'import' ? `import ${command.table}` : (command?.kind ?? ''),
    step,
    isBetween: BETWEEN.includes(step),
    generation: left.generation,
  };
}

/** Every command and every kind of step in it equally often: files are many, commits few. The step is counted from the command's first. */
function aimed({ steps }: Undisturbed, dice: Dice, commands: number): { command: number; step: number } {
  const command = dice.int(0, commands - 1);
  const own = steps.filter((each) => each.command === command);
  const name = dice.pick([...new Set(own.map((each) => each.name))]);
  return { command, step: dice.pick(own.filter((each) => each.name === name)).step - (own[0]?.step ?? 0) };
}

/** Kills the writer while it stands at a step, or a number of turns of the event loop after it was heard of. */
async function killAt(
  bundle: WriterBundle,
  dataDir: string,
  commands: readonly Command[],
  step: number,
  turns: number | undefined,
): Promise<readonly Told[]> {
  const plan = { dataDir, commands, ...(turns === undefined && { holdAtStep: step }) };
  const writer = startWriter(bundle, plan, (told, victim) => {
    if (!('step' in told) || told.step !== step) return;
    if (turns === undefined) victim.kill();
    else void afterTurns(turns).then(() => victim.kill());
  });
  return (await writer.ended).told;
}

async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
}
