import type { Attempt, Device, Node, OrganisationDay } from '../../src/demo/organisation.ts';
import { faultsOf } from '../../src/demo/sensors/faults.ts';
import { sampleLines, secondExporterLines } from '../../src/demo/sensors/samples.ts';
import type { Seconds } from '../../src/demo/timeline.ts';
import type { Pool } from '../../src/demo/world/world-schema.ts';
import { addressOf, gpuIndexOf, gpuInstanceOf, type Play } from './play.ts';
import { labelText, type Sink } from './series.ts';

/** Whether samples are as the exporter sends them, or as a Prometheus has them after scraping it. */
export type Seen = 'sent' | 'scraped';

/** Places of the columns in a line of the demo's samples. */
const [ID, TS, ENGINE, SM, TENSOR, DRAM, UTIL, MEMORY, POWER, PCIE, NVLINK, XID, THROTTLE] = [
  0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
] as const;
/** DCGM means "no value" by numbers from here on. */
const BLANK_MIN = 2_147_483_632;

const ratio = (permille: number): string => String(permille / 1000);
const percent = (permille: number): string => String(Math.round(permille / 10));
const plain = (value: number): string => String(value);
/** Half of the traffic goes each way. */
const halfBytes = (megabytes: number): string => String(megabytes * 500_000);

interface Field {
  readonly metric: string;
  readonly column: number;
  readonly text: (value: number) => string;
}

/** What a default list of counters has. */
const FIELDS: readonly Field[] = [
  { metric: 'DCGM_FI_DEV_GPU_UTIL', column: UTIL, text: percent },
  { metric: 'DCGM_FI_DEV_FB_USED', column: MEMORY, text: plain },
  { metric: 'DCGM_FI_DEV_POWER_USAGE', column: POWER, text: plain },
  { metric: 'DCGM_FI_DEV_XID_ERRORS', column: XID, text: plain },
  { metric: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', column: ENGINE, text: ratio },
  { metric: 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', column: TENSOR, text: ratio },
  { metric: 'DCGM_FI_PROF_DRAM_ACTIVE', column: DRAM, text: ratio },
  { metric: 'DCGM_FI_PROF_PCIE_TX_BYTES', column: PCIE, text: halfBytes },
  { metric: 'DCGM_FI_PROF_PCIE_RX_BYTES', column: PCIE, text: halfBytes },
];

/** What somebody has switched on beside it in the newer exporter. */
const MORE_FIELDS: readonly Field[] = [
  { metric: 'DCGM_FI_PROF_SM_ACTIVE', column: SM, text: ratio },
  { metric: 'DCGM_FI_PROF_NVLINK_TX_BYTES', column: NVLINK, text: halfBytes },
  { metric: 'DCGM_FI_PROF_NVLINK_RX_BYTES', column: NVLINK, text: halfBytes },
  { metric: 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS', column: THROTTLE, text: plain },
];
const OLDER_FIELDS: readonly Field[] = [
  { metric: 'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS', column: THROTTLE, text: plain },
];

/** Pools are upgraded one by one, so that every second has the newer exporter. */
function generationOf({ world }: Play, pool: Pool): 3 | 4 {
  return world.pools.indexOf(pool) % 2 === 0 ? 3 : 4;
}

/** Everything about a device that its lines repeat. */
interface Shown {
  readonly device: Device;
  readonly fields: readonly Field[];
  readonly clockOffS: number;
  /** The labels of each holder, or the one set of a device nobody has, up to a moment. */
  labels: readonly string[];
  labelsUntil: Seconds;
  lastMoment: Seconds;
  repeats: number;
}

/**
 * Question: what do the DCGM exporters of the fleet say on a day, or on a part of it?
 *
 * The values are the demo's own samples, faults included; what is added here is how an exporter names them. Times are the
 * scraper's: a machine whose clock is off sends no times. `second` gives the other exporter that some machines have.
 */
export function writeDcgm(played: Play, day: OrganisationDay, seen: Seen, sink: Sink, which: 'first' | 'second'): void {
  const devices = new Map(day.nodes.flatMap((node) => node.devices.map((device) => [device.id, device] as const)));
  const shownOf = new Map<string, Shown>();
  const chunks = which === 'first' ? sampleLines(day) : secondExporterLines(day);
  for (const chunk of chunks)
    for (const line of chunk.split('\n')) {
      if (line === '') continue;
      const cells = line.split(',');
      const id = cells[ID]!;
      let shown = shownOf.get(id);
      if (shown === undefined) shownOf.set(id, (shown = shownAs(played, day, devices.get(id)!)));
      writeLine(played, shown, cells, seen, sink, which);
    }
}

function shownAs(played: Play, day: OrganisationDay, device: Device): Shown {
  const newer = generationOf(played, device.node.pool) === 4;
  return {
    device,
    fields: [...FIELDS, ...(newer ? MORE_FIELDS : OLDER_FIELDS)],
    clockOffS: faultsOf(day.world, day.scope, device.node).clockOffS,
    labels: [],
    labelsUntil: -Infinity,
    lastMoment: -Infinity,
    repeats: 0,
  };
}

function writeLine(
  played: Play,
  shown: Shown,
  cells: readonly string[],
  seen: Seen,
  sink: Sink,
  which: 'first' | 'second',
): void {
  const moment = Date.parse(cells[TS]!) / 1000 - shown.clockOffS;
  // A device that several pods share has a line for each of them, all alike.
  shown.repeats = moment === shown.lastMoment ? shown.repeats + 1 : 0;
  shown.lastMoment = moment;
  if (moment >= shown.labelsUntil) findLabels(played, shown, moment, seen, which);
  const labels = shown.labels[Math.min(shown.repeats, shown.labels.length - 1)]!;
  for (const { metric, column, text } of shown.fields) {
    const cell = cells[column];
    if (cell === undefined || cell === '') continue;
    const value = Number(cell);
    sink.sample(metric, labels, value >= BLANK_MIN ? cell : text(value), moment);
    if (column === MEMORY) writeFree(shown.device, labels, value, moment, sink);
  }
}

function writeFree(device: Device, labels: string, usedMib: number, moment: Seconds, sink: Sink): void {
  if (usedMib >= BLANK_MIN) return;
  const mib = Math.floor((device.gpu.memory_mib * device.shareUnits) / 63_000);
  sink.sample('DCGM_FI_DEV_FB_FREE', labels, String(Math.max(0, mib - usedMib)), moment);
}

function findLabels(played: Play, shown: Shown, moment: Seconds, seen: Seen, which: 'first' | 'second'): void {
  const { device } = shown;
  const holdings = played.holdingsOf(device);
  const holders = holdings.filter(({ attempt }) => attempt.from <= moment && attempt.until > moment);
  const changes = holdings.flatMap(({ attempt }) => [attempt.from, attempt.until]).filter((change) => change > moment);
  shown.labelsUntil = Math.min(...changes, Infinity);
  if (which === 'second')
    shown.labels = [labelText({ ...targetLabels(device.node, 'dcgm-second'), ...ownLabels(played, device) })];
  else if (holders.length === 0) shown.labels = [heldLabels(played, device, undefined, seen)];
  else shown.labels = holders.map(({ attempt }) => heldLabels(played, device, attempt, seen));
}

/** Labels of the device itself. The newer exporter writes `hostname`, the older `Hostname`. */
function ownLabels(played: Play, device: Device): Readonly<Record<string, string>> {
  const index = gpuIndexOf(device);
  const instance = gpuInstanceOf(device);
  const newer = generationOf(played, device.node.pool) === 4;
  return {
    gpu: String(index),
    UUID: (device.parent ?? device).id,
    pci_bus_id: `00000000:${(16 + index * 8).toString(16).toUpperCase()}:00.0`,
    device: `nvidia${index}`,
    modelName: device.gpu.model,
    ...(instance !== undefined && { GPU_I_PROFILE: device.migProfile ?? '', GPU_I_ID: String(instance) }),
    [newer ? 'hostname' : 'Hostname']: device.node.id,
    DCGM_FI_DRIVER_VERSION: newer ? '570.86.15' : '535.129.03',
  };
}

function heldLabels(played: Play, device: Device, attempt: Attempt | undefined, seen: Seen): string {
  const { node } = device;
  const newer = generationOf(played, node.pool) === 4;
  const own = { ...(seen === 'scraped' && targetLabels(node, 'dcgm-exporter')), ...ownLabels(played, device) };
  if (node.pool.scheduler !== 'kubernetes') {
    const isJob = newer && node.pool.scheduler === 'slurm' && attempt !== undefined;
    return labelText({ ...own, ...(isJob && { hpc_job: attempt.job.id }) });
  }
  const pod = attempt === undefined ? undefined : played.podOf(attempt, node);
  const held = {
    container: pod?.container ?? '',
    namespace: pod?.namespace ?? '',
    pod: pod?.name ?? '',
    ...(newer && { pod_uid: pod?.uid ?? '' }),
  };
  // The older exporters are scraped through a ServiceMonitor whose own labels win, the newer ones are not.
  return labelText({ ...own, ...(seen === 'scraped' && !newer ? renamed(node, held) : held) });
}

/**
 * What Prometheus makes of labels that the target has too: the exporter's become `exported_…`. Where the exporter's
 * are empty there is nothing to rename, and an idle GPU seems to belong to the exporter's own pod.
 */
function renamed(node: Node, held: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const renamedPairs = Object.entries(held)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [`exported_${name}`, value]);
  return {
    container: 'nvidia-dcgm-exporter',
    namespace: 'gpu-operator',
    pod: `nvidia-dcgm-exporter-${addressOf(node.id).replaceAll('.', '')}`,
    ...(Object.fromEntries(renamedPairs) as Record<string, string>),
  };
}

function targetLabels(node: Node, job: string): Readonly<Record<string, string>> {
  return { instance: `${addressOf(node.id)}:9400`, job };
}
