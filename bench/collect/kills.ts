import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { labPart } from '../../test/lab.ts';
import { bursarProgram } from '../../test/lab/bursar-program.ts';
import { collectKills, uninterrupted, type CollectCampaign } from '../../test/lab/collect-kills.ts';
import { playedPrometheus } from '../../test/lab/played-prometheus.ts';

const UNTIL = new Date('2026-11-09T05:30:00Z');

/** Kills `bursar collect` many times; throws at the first kill after which the ledger is another. */
async function runKills(kills: number, seed: number): Promise<void> {
  const prometheus = labPart('prometheus');
  if (!prometheus.installed) throw new Error('this needs a real Prometheus: lab/prometheus install');
  const folder = mkdtempSync(join(tmpdir(), 'bursar-collect-kills-'));
  const program = await bursarProgram();
  const at = UNTIL.getTime() / 1000;
  const server = await playedPrometheus(prometheus, folder, { gpus: 10, days: 0, stepS: 300, at });
  try {
    let done = 0;
    const campaign: CollectCampaign = {
      program,
      folder,
      prometheusUrl: server.url,
      until: UNTIL,
      kills,
      seed,
      onKill: ({ afterMs, hit, generation }) => {
        if (hit) done += 1;
        console.log(
          `${String(done).padStart(4)}  after ${afterMs} ms  ${hit ? `at generation ${generation}` : 'too late: it was done'}`,
        );
      },
    };
    const reference = await uninterrupted(campaign);
    console.log(`undisturbed: ${Math.round(reference.tookMs)} ms, ledger ${reference.hash}`);
    const all = await collectKills(campaign, reference);
    const hits = all.filter(({ hit }) => hit).length;
    console.log(`\n${hits} kills with seed ${seed} during collection: the same ledger hash after each row of them.`);
  } finally {
    await server.stop();
    program.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const [kills = process.env['KILLS'] ?? '200', seed = '2'] = process.argv.slice(2).filter((word) => word !== 'kill');
await runKills(Number(kills), Number(seed));
