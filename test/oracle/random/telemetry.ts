import type { SampleRow } from '../organisation.ts';
import { DAY_S, HOUR_S } from '../organisation.ts';
import { sample } from '../rows.ts';
import { someTime } from './draft.ts';
import type { Draft } from './draft.ts';

const permille = ({ dice }: Draft): number => dice.pick([0, 0, 5, 9, 10, 11, 300, 499, 500, 501, 990]);

/** Metrics a row carries: exporters write some of them in rows of their own. `restPercent`: how often it is one of a GPU at rest. */
function metricsOf(draft: Draft, restPercent: number): Partial<SampleRow> {
  const { dice } = draft;
  const value = (): number => (dice.chance(restPercent) ? dice.pick([0, 9]) : permille(draft));
  const watts = (): number => dice.pick([0, 9, 27, 31, 32, 70, 90, 91, 92, 100, 117, 118, 130, 131, 140, 141, 400]);
  const carries = (percent: number): boolean => !draft.has('signals') || dice.chance(percent);
  return {
    engine_permille: carries(40) ? value() : null,
    sm_permille: draft.has('signals') && dice.chance(30) ? value() : null,
    util_permille: draft.has('signals') && dice.chance(50) ? permille(draft) : null,
    power_w: draft.has('signals') && dice.chance(50) ? watts() : null,
    tensor_permille: dice.chance(60) ? dice.pick([0, 150, 299, 300, 500]) : null,
    dram_permille: dice.chance(60) ? dice.pick([100, 499, 500, 800]) : null,
    throttle: dice.chance(40) ? dice.pick([0, 1, 4, 8, 36, 0x80]) : null,
    fb_used_mib: dice.chance(50) ? dice.pick([0, 499, 500, 40_000]) : null,
    nvlink_mb_s: dice.chance(40) ? dice.pick([0, 77, 30_001, 100_000, 800_000]) : null,
  };
}

const QUARTER_S = 900;

/** A stretch of samples with steps that are mostly kept, some missed, some off the beat. */
function addStretch(draft: Draft, device_id: string, from: number, until: number, step_s: number): void {
  const { dice } = draft;
  let idle = dice.chance(50);
  // Pauses over midnight are rare by chance, and days are where a pause is easily cut.
  const restsOverMidnight = dice.chance(40);
  for (let ts = from; ts + step_s <= until;) {
    if (dice.chance(10)) idle = !idle;
    const isMidnight = (ts + QUARTER_S) % DAY_S < 2 * QUARTER_S;
    const restPercent = restsOverMidnight && isMidnight ? 100 : idle ? 70 : 0;
    draft.samples.push(sample({ device_id, ts, step_s, ...metricsOf(draft, restPercent) }));
    const missed = dice.chance(10) ? dice.pick([2, 3, 4, 20]) : 1;
    ts += missed * step_s + (dice.chance(10) ? dice.int(1, Math.max(1, step_s - 1)) : 0);
  }
}

export function addTelemetry(draft: Draft): void {
  const { dice, start, end } = draft;
  const named = draft.allocations.flatMap((row) => row.device_id ?? []);
  const device_ids = new Set([...draft.devices.map((row) => row.device_id), ...named.filter(() => dice.chance(50))]);
  if (draft.has('inferred')) device_ids.add('GPU-only-measured');
  for (const device_id of device_ids) {
    if (dice.chance(20)) continue;
    const from = someTime(draft, start, start + HOUR_S);
    const step_s = dice.pick([300, 600, 900, 1200]);
    if (!draft.has('signals')) {
      addStretch(draft, device_id, from, end, step_s);
      continue;
    }
    // The fine part lies across a midnight where there is one: levels are of a day, runs are not.
    const fine = Math.max(start + 3 * HOUR_S, end - DAY_S - 3 * HOUR_S);
    addStretch(draft, device_id, from, fine - HOUR_S, step_s);
    addStretch(draft, device_id, fine, fine + 6 * HOUR_S, dice.pick([30, 60, 61]));
    addStretch(draft, device_id, fine + 7 * HOUR_S, end, dice.pick([120, 450]));
  }
}
