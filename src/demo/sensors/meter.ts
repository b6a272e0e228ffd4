import { hashOf, noiseAt } from '../chance.ts';
import { csvLine } from '../csv.ts';
import type { Device, Node, OrganisationDay } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Gpu } from '../world/world-schema.ts';
import { HOT_POWER_PERMILLE_MIN, isIn, REST_DRAW, throttleAt, XID_OFF_THE_BUS } from './faults.ts';
import type { NodeFaults, SampleFaults, Stretch } from './faults.ts';
import type { LineBuffer } from './line-buffer.ts';
import { cutProbeOf, DRAM, ENGINE, GAUGES, MEMORY, NVLINK, PCIE, POWER, probeOf, SM, TENSOR, UTIL } from './reading.ts';
import type { Probe } from './reading.ts';

/** Something that reads the devices of a machine and writes a line for each. */
export interface Exporter {
  /** Part of the names of its draws: two exporters err differently about the same GPU. */
  readonly name: string;
  /** Only utilisation, memory and power, as nvidia-smi gives them, and no pods beside them. */
  readonly isPlain: boolean;
}

/** One device under one exporter, for one day. */
export interface Meter {
  readonly probe: Probe;
  /** `GPU-…,` */
  readonly name: Uint8Array;
  readonly noiseKey: number;
  /** Of the device itself, whoever reads it. */
  readonly deviceKey: number;
  /** The columns it fills, one bit each. */
  readonly shown: number;
  /** What one permille of a level is in the unit of its column, and the most the column can say. */
  readonly perPermille: Float64Array;
  readonly most: Float64Array;
  readonly restW: number;
  /** What a context adds while memory is held, and what is then left between rest and full, of what there was. */
  readonly heldLiftW: number;
  readonly heldRange: number;
  /** How far the power at rest wanders, either way. */
  readonly restSpreadW: number;
  readonly noise: number;
  /** The error DCGM shows, and from when until when: the last one, until another comes or the machine starts anew. */
  readonly lastXid: readonly (Stretch & { readonly xid: number })[];
  readonly runsHot: boolean;
  readonly sendsBlanks: boolean;
  /** Whether a line comes once for each pod that holds the device. */
  readonly isRepeated: boolean;
}

/** A moment at which a machine says something. */
export interface Tick {
  readonly moment: Seconds;
  /** Place of its stamp. */
  readonly place: number;
  readonly isProfiled: boolean;
  /** Whether it is the last before the machine breaks. */
  readonly isBreaking: boolean;
}

const [XID, THROTTLE] = [GAUGES, GAUGES + 1] as const;
const bitsOf = (...columns: readonly number[]): number => columns.reduce((bits, column) => bits | (1 << column), 0);
const PROFILING = bitsOf(ENGINE, SM, TENSOR, DRAM, PCIE, NVLINK);
const PLAIN = bitsOf(UTIL, MEMORY, POWER);
/** Utilisation does not exist for a GPU that is cut, and each slice has engines and memory, but no power, of its own. */
const OF_WHOLE = bitsOf(ENGINE, SM, TENSOR, DRAM, UTIL, MEMORY, POWER, PCIE, NVLINK, XID, THROTTLE);
const OF_CUT = bitsOf(MEMORY, POWER, PCIE, NVLINK, XID, THROTTLE);
const OF_SLICE = bitsOf(ENGINE, SM, TENSOR, DRAM, MEMORY);

/** DCGM's blanks, in 64 and in 32 bits. */
const BLANK_LONG = Buffer.from('9223372036854775794');
const BLANK_SHORT = Buffer.from('2147483632');
const SHORT = bitsOf(UTIL, POWER);

const WHOLE_UNITS = 63_000;
const SLOWED_SM = 0.85;
const SLOWED_POWER = 0.75;
const HALF_DRAWS = 2_147_483_648;

export function meterOf(
  day: OrganisationDay,
  device: Device,
  faults: NodeFaults,
  exporter: Exporter,
  sampleFaults: SampleFaults,
): Meter {
  const { scope, world } = day;
  const { gpu, node } = device;
  const share = device.shareUnits / WHOLE_UNITS;
  const memoryMib = gpu.memory_mib * share;
  const noise = world.sensors.noise_permille / 1000;
  const deviceKey = hashOf([scope.seed, 'sensor', device.id]);
  return {
    probe: deviceProbe(day, device),
    name: Buffer.from(`${csvLine([device.id]).trimEnd()},`),
    noiseKey: hashOf([scope.seed, 'sensor', exporter.name, device.id]),
    deviceKey,
    lastXid: lastXidOf(day, node, sampleFaults, deviceKey),
    shown: shownBy(device, faults, exporter),
    perPermille: perPermilleOf(gpu, memoryMib),
    most: Float64Array.of(1000, 1000, 1000, 1000, 1000, Math.floor(memoryMib), Infinity, Infinity, Infinity),
    restW: gpu.rest_w,
    heldLiftW: gpu.held_w - gpu.rest_w,
    heldRange: (gpu.full_w - gpu.held_w) / (gpu.full_w - gpu.rest_w),
    restSpreadW: noise === 0 ? 0 : spreadAtRestW(gpu.rest_w),
    noise,
    runsHot: faults.runsHot,
    sendsBlanks: faults.sendsBlanks,
    isRepeated: node.pool.sharing === 'time-slice' && !exporter.isPlain,
  };
}

/** Somebody resets a GPU that shows an error after a week at the latest. */
const RESET_S = 7 * 86_400;

function lastXidOf(
  { from, until }: OrganisationDay,
  { presentFrom, states }: Node,
  sampleFaults: SampleFaults,
  key: number,
): Meter['lastXid'] {
  const starts = states.flatMap((stretch) => (stretch.state === 'down' ? [stretch.until] : []));
  const met = sampleFaults.xidsIn(key, { from: Math.max(presentFrom, from - RESET_S), until });
  return met.map(({ at, xid }, place) => {
    const ends = [at + RESET_S, met[place + 1]?.at ?? until, ...starts.filter((start) => start > at)];
    return { from: at, until: Math.min(...ends), xid };
  });
}

function perPermilleOf(gpu: Gpu, memoryMib: number): Float64Array {
  const rangeW = gpu.full_w - gpu.rest_w;
  const ofGauges = [1000, 1000, 1000, 1000, 1000, memoryMib, rangeW, gpu.pcie_mb_s, gpu.nvlink_mb_s];
  return Float64Array.from(ofGauges, (most) => most / 1000);
}

/** A large GPU at rest wanders by two watts, a small one by one. */
function spreadAtRestW(restW: number): number {
  return restW < 50 ? 1 : 2;
}

function deviceProbe({ onDevice, scope }: OrganisationDay, device: Device): Probe {
  const heldBy = (part: Device): Probe => probeOf(onDevice.get(part) ?? [], scope.seed);
  if (!device.isCut) return heldBy(device);
  return cutProbeOf(
    device.node.devices
      .filter(({ parent }) => parent === device)
      .map((slice) => ({ probe: heldBy(slice), share: slice.shareUnits / WHOLE_UNITS })),
  );
}

function shownBy({ isCut, parent, gpu }: Device, { hasProfiling }: NodeFaults, { isPlain }: Exporter): number {
  let shown = parent === undefined ? OF_WHOLE : OF_SLICE;
  if (isCut) shown = OF_CUT;
  if (gpu.nvlink_mb_s === 0) shown &= ~bitsOf(NVLINK);
  if (!hasProfiling) shown &= ~PROFILING;
  return isPlain ? shown & PLAIN : shown;
}

/**
 * Writes what comes after the time: what the device does at the moment, and what this exporter makes of it. A
 * sample that is lost has been left out before.
 */
export function writeReading(
  meter: Meter,
  { moment, isProfiled, isBreaking }: Tick,
  faults: SampleFaults,
  out: LineBuffer,
): void {
  const { probe, shown, noiseKey, deviceKey } = meter;
  probe.read(moment);
  const throttle = meter.runsHot ? slowDown(probe.levels, deviceKey, moment) : 0;
  const blanks = meter.sendsBlanks ? faults.blanksAt(noiseKey, moment) : 0;
  for (let gauge = 0; gauge < GAUGES; gauge += 1) {
    const bit = 1 << gauge;
    if ((shown & bit) !== 0) {
      if ((blanks & bit) !== 0) writeBlank(bit, out);
      else if (isProfiled && (PROFILING & bit) !== 0) out.number(0);
      else out.number(gauge === POWER ? watts(meter, moment) : valueOf(meter, gauge, moment));
    }
    out.comma();
  }
  if ((shown & (1 << XID)) !== 0) {
    out.number(isBreaking ? XID_OFF_THE_BUS : (meter.lastXid.find((stretch) => isIn(stretch, moment))?.xid ?? 0));
  }
  out.comma();
  if ((shown & (1 << THROTTLE)) !== 0) out.number(throttle);
  out.endLine(meter.isRepeated ? probe.holders : 1);
}

function writeBlank(bit: number, out: LineBuffer): void {
  const blank = (SHORT & bit) === 0 ? BLANK_LONG : BLANK_SHORT;
  out.text(blank, 0, blank.length);
}

/** A GPU that is too hot takes less power and gets less done in each second its engine runs. */
function slowDown(levels: Float64Array, key: number, moment: Seconds): number {
  if (levels[POWER]! < HOT_POWER_PERMILLE_MIN) return 0;
  const reason = throttleAt(key, moment);
  if (reason === 0) return 0;
  levels[SM] = levels[SM]! * SLOWED_SM;
  levels[POWER] = levels[POWER]! * SLOWED_POWER;
  return reason;
}

/** Nothing is read as nothing: a sensor that is off by a share of what it reads is right about zero. */
function valueOf(meter: Meter, gauge: number, moment: Seconds): number {
  const level = meter.probe.levels[gauge]!;
  if (level === 0) return 0;
  // Memory is counted by the driver, not measured: while a process rests, so does the number.
  const error = gauge === MEMORY ? 1 : errorFactor(meter, gauge, moment);
  const value = Math.round(level * meter.perPermille[gauge]! * error);
  return Math.min(value, meter.most[gauge]!);
}

/** Memory that is held keeps the clocks up; work comes on top, and full work is full work. */
function watts(meter: Meter, moment: Seconds): number {
  const { restW, restSpreadW, heldLiftW, heldRange } = meter;
  const wander =
    restSpreadW === 0 ? 0 : (noiseAt(meter.noiseKey, moment, REST_DRAW) % (2 * restSpreadW + 1)) - restSpreadW;
  const work = valueOf(meter, POWER, moment);
  const drawn = meter.probe.levels[MEMORY]! > 0 ? heldLiftW + Math.round(work * heldRange) : work;
  return Math.max(0, restW + wander + drawn);
}

function errorFactor({ noise, noiseKey }: Meter, gauge: number, moment: Seconds): number {
  return noise === 0 ? 1 : 1 + noise * (noiseAt(noiseKey, moment, gauge) / HALF_DRAWS - 1);
}
