import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import type { Seconds } from '../../src/demo/timeline.ts';
import { PRESETS } from '../../src/demo/world/presets.ts';
import { readWorld } from '../../src/demo/world/world-file.ts';
import type { World } from '../../src/demo/world/world-schema.ts';
import { writeHistory } from './history.ts';
import { kubernetesOnly } from './kubernetes-only.ts';
import { PAGES, serveExporter } from './live.ts';
import { play, type Play } from './play.ts';
import { pushHistory } from './push.ts';
import { worldClock } from './world-clock.ts';

const DAY_S = 86_400;

interface Options {
  readonly world: string;
  readonly kubernetesOnly?: boolean;
  readonly gpus: string;
  readonly seed: string;
  readonly days: string;
  readonly ahead: string;
  readonly step: string;
  readonly at?: string;
  readonly speed: string;
  readonly history?: string;
  readonly push?: string;
  readonly port: string;
}

const command = new Command('lab:exporter')
  .description('Plays a made-up organisation as DCGM, kube-state-metrics and vLLM would show it.')
  .option('--world <name>', `${Object.keys(PRESETS).join(', ')} or a world file`, 'unmanaged')
  .option('--kubernetes-only', 'only the pools that Kubernetes hands out')
  .option('--gpus <n>', 'size of the fleet', '250')
  .option('--seed <n>', 'another number, another history', '1')
  .option('--days <n>', 'whole days before the day of --at', '7')
  .option('--ahead <n>', 'days from then on that can be played', '2')
  .option('--step <seconds>', 'how often the exporters collect', '30')
  .option('--at <time>', 'where its clock begins (default: now)')
  .option('--speed <n>', 'how fast its clock goes; 0: it is moved by POST /clock', '1')
  .option('--history <file>', 'write the history up to --at as OpenMetrics text instead of serving')
  .option('--push <url>', 'give the history up to --at to an empty Prometheus by remote write instead of serving')
  .option('--port <n>', 'where to serve; 0 is a free port', '9400')
  .action(run);

async function run(options: Options): Promise<void> {
  const at = options.at === undefined ? Math.floor(Date.now() / 1000) : momentOf(options.at);
  const played = playFor(options, at);
  if (options.history !== undefined) {
    const { samples, families } = writeHistory(played, options.history, at);
    process.stderr.write(`${samples} samples of ${families} families in ${options.history}\n`);
    return;
  }
  if (options.push !== undefined) {
    process.stderr.write(`${await pushHistory(played, options.push, at)} samples to ${options.push}\n`);
    return;
  }
  const { url } = await serveExporter(played, worldClock(at, Number(options.speed)), Number(options.port));
  for (const page of PAGES) process.stderr.write(`${url}/${page}\n`);
}

function playFor({ world, kubernetesOnly: isOnlyPart, gpus, seed, days, ahead, step }: Options, at: Seconds): Play {
  const midnight = Math.floor(at / DAY_S) * DAY_S;
  const whole = worldOf(world);
  return play(isOnlyPart ? kubernetesOnly(whole) : whole, {
    seed: Number(seed),
    gpus: Number(gpus),
    from: midnight - Number(days) * DAY_S,
    until: midnight + Number(ahead) * DAY_S,
    stepS: Number(step),
  });
}

function worldOf(name: string): World {
  const preset = Object.entries(PRESETS).find(([each]) => each === name)?.[1];
  return preset ?? readWorld(readFileSync(name, 'utf8'), name);
}

function momentOf(text: string): Seconds {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`--at ${text} is no time: 2026-11-02T10:00:00Z`);
  return Math.floor(ms / 1000);
}

await command.parseAsync();
