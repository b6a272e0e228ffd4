import { join } from 'node:path';
import { kubernetesOnly } from '../../lab/exporter/kubernetes-only.ts';
import { play, type Play } from '../../lab/exporter/play.ts';
import { pushHistory } from '../../lab/exporter/push.ts';
import { unmanaged } from '../../src/demo/world/unmanaged.ts';
import type { World } from '../../src/demo/world/world-schema.ts';
import type { LabPart } from '../lab.ts';

const DAY_S = 86_400;

/** A Prometheus that has been scraping a world whose truth is known. */
export interface PlayedPrometheus {
  readonly url: string;
  readonly played: Play;
  /** How much later it is shown than it was played. */
  readonly shiftS: number;
  stop(): Promise<void>;
}

export interface PlayedScope {
  readonly gpus: number;
  /** Whole days before the day of `at`. */
  readonly days: number;
  readonly stepS: number;
  /** The history ends here, in seconds since 1970. */
  readonly at: number;
  /** Where the end of the history is shown instead: what happens stays the same, whenever a test runs. */
  readonly shownAt?: number;
  /** Instead of the fleet nobody manages. */
  readonly world?: World;
  readonly seed?: number;
}

/** Starts one in the folder, with the history of a world that only Kubernetes hands out. */
export async function playedPrometheus(
  prometheus: LabPart,
  folder: string,
  { gpus, days, stepS, at, shownAt = at, world = unmanaged, seed = 11 }: PlayedScope,
): Promise<PlayedPrometheus> {
  const dir = join(folder, 'prometheus');
  const midnight = Math.floor(at / DAY_S) * DAY_S;
  const scope = { seed, gpus, from: midnight - days * DAY_S, until: midnight + DAY_S, stepS };
  const played = play(kubernetesOnly(world), scope);
  const url = (await prometheus.start(dir))['PROMETHEUS_URL']!;
  const shiftS = shownAt - at;
  await pushHistory(played, url, at, shiftS);
  return { url, played, shiftS, stop: () => prometheus.stop(dir) };
}
