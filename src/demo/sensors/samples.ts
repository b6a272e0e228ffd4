import { timeText } from '../csv.ts';
import type { Node, OrganisationDay } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import { faultsOf, isIn, sampleFaultsOf, type NodeFaults, type SampleFaults } from './faults.ts';
import { LineBuffer } from './line-buffer.ts';
import { meterOf, writeReading, type Exporter, type Meter, type Tick } from './meter.ts';

/** The first line of a file of samples; both exporters write all its columns. */
export const SAMPLE_HEADER =
  'device_id,ts,step_s,engine_permille,sm_permille,tensor_permille,dram_permille,util_permille,fb_used_mib,power_w,pcie_mb_s,nvlink_mb_s,xid,throttle\n';

const DCGM: Exporter = { name: 'dcgm', isPlain: false };
const NVIDIA_SMI: Exporter = { name: 'nvidia-smi', isPlain: true };

/**
 * What the instruments of the fleet say about a day, in chunks of whole lines: machine by machine, device by device,
 * by time. The same day gives the same lines whatever was written before it.
 */
export function sampleLines(day: OrganisationDay): Generator<string> {
  return linesOf(day, DCGM, 0);
}

/** The same moments half a step later, of the machines on which a second exporter runs. */
export function secondExporterLines(day: OrganisationDay): Generator<string> {
  return linesOf(day, NVIDIA_SMI, Math.floor(day.scope.stepS / 2));
}

function* linesOf(day: OrganisationDay, exporter: Exporter, offsetS: number): Generator<string> {
  const { world, scope } = day;
  const moments = momentsOf(day, offsetS);
  const stampsByClock = new Map<number, Stamps>();
  const sampleFaults = sampleFaultsOf(world);
  const out = new LineBuffer();
  for (const node of day.nodes) {
    const faults = faultsOf(world, scope, node);
    if (exporter.isPlain && !faults.hasSecondExporter) continue;
    const stamps = stampsByClock.get(faults.clockOffS) ?? stampsOf(moments, faults.clockOffS, scope.stepS);
    stampsByClock.set(faults.clockOffS, stamps);
    const ticks = ticksOf(day, node, faults, exporter, moments);
    for (const device of node.devices) {
      const meter = meterOf(day, device, faults, exporter, sampleFaults);
      for (let next = 0; next < ticks.length;) {
        next = writeUntilFull(meter, ticks, next, stamps, sampleFaults, out);
        if (out.isFull) yield out.take();
      }
    }
  }
  if (!out.isEmpty) yield out.take();
}

/** Moments of the day on the exporter's grid, which begins with the window and not with the day. */
function momentsOf({ scope, from, until }: OrganisationDay, offsetS: number): readonly Seconds[] {
  const origin = scope.from + offsetS;
  const moments: Seconds[] = [];
  let moment = origin + Math.max(0, Math.ceil((from - origin) / scope.stepS)) * scope.stepS;
  for (; moment < Math.min(until, scope.until); moment += scope.stepS) moments.push(moment);
  return moments;
}

/** `2026-10-02T08:05:00Z,300,` of each moment, all of one width, by a clock that may be off. */
interface Stamps {
  readonly bytes: Uint8Array;
  readonly width: number;
}

function stampsOf(moments: readonly Seconds[], clockOffS: number, stepS: number): Stamps {
  const bytes = Buffer.from(moments.map((moment) => `${timeText(moment + clockOffS)},${stepS},`).join(''));
  return { bytes, width: bytes.length / moments.length };
}

/** A broken machine says nothing, a drained one does; times outside the window would be facts about no day of it. */
function ticksOf(
  { scope }: OrganisationDay,
  node: Node,
  faults: NodeFaults,
  { isPlain }: Exporter,
  moments: readonly Seconds[],
): readonly Tick[] {
  const dead = isPlain ? undefined : faults.dead;
  const silent = node.states.filter(({ state }) => state === 'down');
  const ticks: Tick[] = [];
  for (const [place, moment] of moments.entries()) {
    const written = moment + faults.clockOffS;
    if (written < scope.from || written + scope.stepS > scope.until) continue;
    if (moment < node.presentFrom || moment >= node.presentUntil) continue;
    if (silent.some((stretch) => isIn(stretch, moment)) || (dead !== undefined && isIn(dead, moment))) continue;
    ticks.push({
      moment,
      place,
      isProfiled: faults.profiled.some((session) => isIn(session, moment)),
      isBreaking: silent.some(({ from }) => moment < from && from <= moment + scope.stepS),
    });
  }
  return ticks;
}

/** Writes the ticks of a device from `first` on until the chunk is full; gives the first that is not written. */
function writeUntilFull(
  meter: Meter,
  ticks: readonly Tick[],
  first: number,
  { bytes, width }: Stamps,
  faults: SampleFaults,
  out: LineBuffer,
): number {
  let next = first;
  for (; next < ticks.length && !out.isFull; next += 1) {
    const tick = ticks[next]!;
    if (faults.isLost(meter.noiseKey, tick.moment)) continue;
    out.startLine();
    out.text(meter.name, 0, meter.name.length);
    out.text(bytes, tick.place * width, (tick.place + 1) * width);
    writeReading(meter, tick, faults, out);
  }
  return next;
}
