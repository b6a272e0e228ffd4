import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDeliveries } from '../../test/crash/deliveries.ts';
import { killCampaign, undisturbed } from '../../test/crash/kill-campaign.ts';
import type { Campaign, Kill } from '../../test/crash/kill-campaign.ts';
import { bundleWriter } from '../../test/crash/writer-process.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Kills the writer many times; throws at the first kill that lost something or left something half. */
async function runKills(kills: number, seed: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-kills-'));
  const bundle = await bundleWriter(repository);
  try {
    let done = 0;
    const onKill = ({ aim, command, step, generation }: Kill): void => {
      done += 1;
      console.log(`${String(done).padStart(4)}  ${command}, ${step} (${aim}) → generation ${generation}, whole`);
    };
    const campaign: Campaign = {
      bundle,
      commands: writeDeliveries(join(folder, 'files')),
      folder,
      seed,
      kills,
      onKill,
    };
    const all = await killCampaign(campaign, await undisturbed(campaign));
    const between = all.filter(({ isBetween }) => isBetween).length;
    console.log(`\n${all.length} kills with seed ${seed}: the same ledger hash after each.`);
    console.log(`${between} of them between write, fsync, rename and commit. By the step they hit:`);
    for (const [step, count] of countsOf(all.map((kill) => kill.step)))
      console.log(`${String(count).padStart(4)}  ${step}`);
    if (between * 10 < all.length) throw new Error('fewer than a tenth fell between write and commit');
  } finally {
    bundle.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

function countsOf(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

const [kills = '200', seed = '2'] = process.argv.slice(2);
await runKills(Number(kills), Number(seed));
