import type { AcceleratorName, SampleRow } from '../organisation.ts';
import { DAY_S, HOUR_S, dayOf } from '../organisation.ts';
import { overlap, secondsOf } from '../order.ts';
import type { Presence } from './presence.ts';
import { bestFit } from './prices.ts';

const PARKED_MIB_MIN = 500;
/** MB/s on the links during an exchange, of a link that carries 1 GB/s. */
const EXCHANGE_MB_S_OF_GB_S = 250;
/** Engine activity, in permille, that is taken as full. */
const FULL_ENGINE = 950;

/** What the sensors of a device said in an hour, in permille of the time it computed. */
export interface SensorsOfHour {
  readonly gap: number;
  readonly exchange: number;
  readonly idleReason: 'parked' | 'bare' | null;
  readonly computingReason: 'throttled' | 'launch-bound' | 'memory-bound' | 'busy' | null;
}

/** The whole mean of what is known; null where nothing is. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.floor(known.reduce((sum, value) => sum + value, 0) / known.length);
}

/** MB/s that the links of a device carry while it exchanges, by the model it has on that day; null without links. */
export function exchangeRate(
  presence: Presence,
  device_id: string,
  hour: number,
  names: readonly AcceleratorName[],
): number | null {
  const day = { from: dayOf(hour), until: dayOf(hour) + DAY_S };
  const spells = presence.devices.filter((each) => each.device_id === device_id && secondsOf(overlap(each, day)) > 0);
  const model = spells.flatMap((each) => each.model ?? []).sort()[0] ?? null;
  const named = bestFit(
    names.map(({ name, nvlinkGbS }) => ({ model: name, nvlinkGbS })),
    model,
  );
  return named === undefined || named.nvlinkGbS === null ? null : named.nvlinkGbS * EXCHANGE_MB_S_OF_GB_S;
}

export function sensorsOf(samplesOfDevice: readonly SampleRow[], hour: number, rate: number | null): SensorsOfHour {
  const samples = samplesOfDevice.filter((sample) => sample.ts >= hour && sample.ts < hour + HOUR_S);
  const computing = samples.filter(
    (sample) => (sample.engine_permille ?? sample.sm_permille ?? sample.util_permille ?? 0) >= 10,
  );
  const of = (value: (sample: SampleRow) => number | null): number | null => mean(computing.map(value));
  const gap = of(({ engine_permille, util_permille }) => {
    if (engine_permille !== null) return 1000 - Math.min(1000, Math.floor((engine_permille * 1000) / FULL_ENGINE));
    return util_permille === null ? null : 1000 - util_permille;
  });
  const [nvlink, engine, sm] = [
    of((each) => each.nvlink_mb_s),
    of((each) => each.engine_permille),
    of((each) => each.sm_permille),
  ];
  const onLinks = nvlink === null || rate === null ? 0 : Math.floor((nvlink * 1000) / rate);
  const offSms = engine === null || sm === null ? Infinity : Math.max(0, engine - sm);
  const memory = samples.flatMap((sample) => sample.fb_used_mib ?? []);
  return {
    gap: gap ?? 0,
    exchange: Math.min(onLinks, offSms),
    computingReason: computingReasonOf(computing),
    idleReason: memory.length === 0 ? null : Math.max(...memory) >= PARKED_MIB_MIN ? 'parked' : 'bare',
  };
}

/** NVML's bits of hardware slowdown, software and hardware heat, power brake. */
const SLOWING = 0x8 | 0x20 | 0x40 | 0x80;

/** What bounds the samples that compute, by their means; null where a field that would tell is missing. */
function computingReasonOf(computing: readonly SampleRow[]): SensorsOfHour['computingReason'] {
  const slowed = computing.filter(({ throttle }) => throttle !== null && (throttle & SLOWING) !== 0);
  if (computing.length > 0 && slowed.length * 2 >= computing.length) return 'throttled';
  const [engine, sm, dram, tensor] = (
    ['engine_permille', 'sm_permille', 'dram_permille', 'tensor_permille'] as const
  ).map((metric) => mean(computing.map((sample) => sample[metric])));
  if (dram != null && tensor != null && dram >= 500 && tensor < 300) return 'memory-bound';
  if (engine != null && sm != null && dram != null && engine > 900 && sm < 300 && dram < 500) return 'launch-bound';
  return [engine, sm, dram, tensor].every((each) => each != null) ? 'busy' : null;
}
