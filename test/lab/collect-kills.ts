import { deepStrictEqual } from 'node:assert';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { litterOf, misnamedOf, stateOf } from '../crash/data-folder.ts';
import { diceOf } from '../oracle/random/dice.ts';
import type { BursarProgram } from './bursar-program.ts';

export interface CollectCampaign {
  readonly program: BursarProgram;
  /** Where the data folders go. */
  readonly folder: string;
  readonly prometheusUrl: string;
  /** Every run collects as if it were this moment. */
  readonly until: Date;
  readonly kills: number;
  readonly seed: number;
  readonly onKill?: (kill: CollectKill) => void;
}

export interface CollectKill {
  readonly afterMs: number;
  /** Whether it hit: a run that was done before the kill has not been killed. */
  readonly hit: boolean;
  /** How many commits it had made, by itself and its forerunners. */
  readonly generation: number;
}

export interface Uninterrupted {
  readonly hash: string;
  readonly tookMs: number;
}

/** In one folder the collector is killed so many times in a row before it may finish, as on a machine that keeps rebooting. */
const KILLS_IN_A_ROW = 4;

/** Collects once with nobody in the way. */
export async function uninterrupted(campaign: CollectCampaign): Promise<Uninterrupted> {
  const dataDir = join(campaign.folder, 'uninterrupted');
  const begun = performance.now();
  await finish(campaign, dataDir);
  return { tookMs: performance.now() - begun, hash: await hashOf(campaign, dataDir) };
}

/**
 * Kills `bursar collect` at random moments, each time lets the next run go on in what is left, and sees that in the end the
 * ledger is the same as without, and that nothing lies about. Kills that come too late are not counted.
 */
export async function collectKills(
  campaign: CollectCampaign,
  reference: Uninterrupted,
): Promise<readonly CollectKill[]> {
  const dice = diceOf(campaign.seed);
  const kills: CollectKill[] = [];
  const hits = (): number => kills.filter(({ hit }) => hit).length;
  for (let round = 0; hits() < campaign.kills; round += 1) {
    const dataDir = join(campaign.folder, `killed-${round}`);
    const label = `seed ${campaign.seed}, folder ${round}`;
    const last = Math.min(KILLS_IN_A_ROW, campaign.kills - hits());
    for (let kill = 0; kill < last; kill += 1) {
      const killed = await killOnce(campaign, dataDir, dice.int(1, Math.ceil(reference.tookMs)));
      campaign.onKill?.(killed);
      kills.push(killed);
      // What is done cannot be disturbed any more.
      if (!killed.hit) break;
    }
    await finish(campaign, dataDir);
    deepStrictEqual(await hashOf(campaign, dataDir), reference.hash, `${label}: the same ledger as without`);
    deepStrictEqual(await litterOf(dataDir), [], `${label}: nothing lies about`);
    deepStrictEqual(await misnamedOf(dataDir), [], `${label}: what other engines read is the ledger`);
    rmSync(dataDir, { recursive: true });
  }
  return kills;
}

async function killOnce(campaign: CollectCampaign, dataDir: string, afterMs: number): Promise<CollectKill> {
  const child = campaign.program.start(wordsFor(campaign, dataDir));
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const stopWaiting = new AbortController();
  const moment = delay(afterMs, undefined, { signal: stopWaiting.signal }).then(
    () => child.kill('SIGKILL'),
    () => false,
  );
  const [, signal] = await ended;
  stopWaiting.abort();
  await moment;
  const { generation, broken } = await stateOf(dataDir);
  deepStrictEqual(broken, [], `seed ${campaign.seed}, after ${afterMs} ms: files that the manifest lists are whole`);
  return { afterMs, hit: signal === 'SIGKILL', generation };
}

async function finish(campaign: CollectCampaign, dataDir: string): Promise<void> {
  const { exitCode, err } = await campaign.program.run(wordsFor(campaign, dataDir));
  deepStrictEqual([exitCode, exitCode === 0 ? '' : err], [0, '']);
}

async function hashOf({ program }: CollectCampaign, dataDir: string): Promise<string> {
  const { out } = await program.run(['ledger', 'hash', '--data', dataDir]);
  return out.trim();
}

function wordsFor({ folder, prometheusUrl, until }: CollectCampaign, dataDir: string): readonly string[] {
  const config = join(folder, 'bursar.yaml');
  writeFileSync(config, `sources:\n  - name: prometheus\n    prometheus: ${prometheusUrl}\n`);
  return ['collect', '--config', config, '--data', dataDir, '--until', until.toISOString()];
}
