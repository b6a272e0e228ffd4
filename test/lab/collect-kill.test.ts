import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labPart } from '../lab.ts';
import { bursarProgram, type BursarProgram } from './bursar-program.ts';
import { collectKills, uninterrupted, type CollectCampaign, type Uninterrupted } from './collect-kills.ts';
import { playedPrometheus, type PlayedPrometheus } from './played-prometheus.ts';

const KILLS = 20;
const UNTIL = new Date('2026-11-09T05:30:00Z');
const prometheus = labPart('prometheus');

describe.skipIf(!prometheus.installed)('kill -9 while collecting from a Prometheus', () => {
  let folder: string;
  let server: PlayedPrometheus;
  let program: BursarProgram;
  let campaign: CollectCampaign;
  let reference: Uninterrupted;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-collect-kill-'));
    program = await bursarProgram();
    const at = UNTIL.getTime() / 1000;
    server = await playedPrometheus(prometheus, folder, { gpus: 10, days: 0, stepS: 300, at });
    campaign = { program, folder, prometheusUrl: server.url, until: UNTIL, kills: KILLS, seed: 1 };
    reference = await uninterrupted(campaign);
  }, 300_000);
  afterAll(async () => {
    // Also where the beginning failed half-way.
    await prometheus.stop(join(folder, 'prometheus'));
    program?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has something to lose', () => {
    expect(reference.hash).toMatch(/^[0-9a-f]{16,}/);
  });

  it(`${KILLS} times at random moments leaves the ledger as it would have been`, { timeout: 900_000 }, async () => {
    const kills = await collectKills(campaign, reference);
    expect(kills.filter(({ hit }) => hit)).toHaveLength(KILLS);
    // Not all of them before anything was read.
    expect(new Set(kills.map(({ generation }) => generation)).size).toBeGreaterThan(3);
  });
});
