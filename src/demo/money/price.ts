import { chanceOf } from '../chance.ts';
import type { Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Pool } from '../world/world-schema.ts';
import { scaled } from './whole-number.ts';

const DAY_S = 86_400;
/** A spot price moves by at most so much a day, and loses three tenths of its distance from the mean. */
const STEP_PERMILLE = 60;

export function priceMicros(price: number): number {
  return Math.round(price * 1_000_000);
}

/** What a GPU-hour of the pool costs on the day that begins then, in micros of the provider's currency. */
export function dayPriceMicros(scope: Scope, pool: Pool, dayFrom: Seconds): number {
  const mean = priceMicros(pool.price_per_gpu_hour);
  if (pool.purchase !== 'spot') return mean;
  // Named by what is sold, not by the pool: two pools of one machine type in one region pay the same.
  const chance = chanceOf(scope.seed, 'spot', pool.provider ?? '', pool.region, pool.instance_type);
  let offPermille = 0;
  for (let day = scope.from; day <= dayFrom; day += DAY_S) {
    offPermille = Math.trunc((offPermille * 7) / 10) + chance.whole(2 * STEP_PERMILLE + 1) - STEP_PERMILLE;
  }
  return scaled(mean, 1000 + offPermille, 1000);
}
