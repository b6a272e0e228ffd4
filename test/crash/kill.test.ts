import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveLedger, withWriter } from '../../src/app/workspace.ts';
import { misnamedOf } from './data-folder.ts';
import { writeDeliveries } from './deliveries.ts';
import { killCampaign, undisturbed } from './kill-campaign.ts';
import type { Campaign, Undisturbed } from './kill-campaign.ts';
import { bundleWriter, startWriter } from './writer-process.ts';
import type { WriterBundle } from './writer-process.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const KILLS = 20;

describe('kill -9', () => {
  let folder: string;
  let bundle: WriterBundle;
  let campaign: Campaign;
  let reference: Undisturbed;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-kill-'));
    bundle = await bundleWriter(repository);
    campaign = { bundle, commands: writeDeliveries(join(folder, 'files')), folder, seed: 1, kills: KILLS };
    reference = await undisturbed(campaign);
  });
  afterAll(() => {
    bundle.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is told of every step, and each command makes one generation', () => {
    expect(reference.hashes.size).toBe(campaign.commands.length + 1);
    expect(new Set(reference.steps.map(({ name }) => name))).toEqual(
      new Set([
        'start',
        'write',
        'fsync',
        'rename',
        'settled',
        'commit',
        'manifest: before begin',
        'manifest: before commit',
        'manifest: after commit',
        'committed',
        'publish',
        'publish mark',
        'close',
      ]),
    );
  });

  it(`${KILLS} times at random moments loses nothing and leaves nothing half`, { timeout: 300_000 }, async () => {
    const kills = await killCampaign(campaign, reference);
    expect(kills).toHaveLength(KILLS);
    expect(kills.filter(({ isBetween }) => isBetween).length).toBeGreaterThanOrEqual(KILLS / 10);
  });

  it('between commit and the names for other engines is healed by the next derive', async () => {
    const dataDir = join(folder, 'unpublished');
    const second = reference.steps.filter(
      ({ name, command }) => name === 'publish' && command === campaign.commands.length - 1,
    )[1];
    const { commands } = campaign;
    const writer = startWriter(bundle, { dataDir, commands, holdAtStep: second?.step ?? -1 }, (told, victim) => {
      if ('step' in told && told.step === second?.step) victim.kill();
    });
    expect((await writer.ended).signal).toBe('SIGKILL');
    expect(await misnamedOf(dataDir)).not.toEqual([]);
    await withWriter(dataDir, 'derive', async (space) => expect((await deriveLedger(space)).computed).toEqual({}));
    expect(await misnamedOf(dataDir)).toEqual([]);
  });
});
