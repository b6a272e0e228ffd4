import { OperationError } from '../../facts/operation-error.ts';
import { smiValues, throttleMask } from './smi-gpu.ts';
import type { SmiGpu, SmiProcess, SmiSlice, SmiSnapshot } from './smi-gpu.ts';
import { smiColumn, smiNumber, smiText, smiWallMs } from './smi-value.ts';

const XML_CHARS_MAX = 16 * 1024 * 1024;

/**
 * What does `nvidia-smi -q -x` say? Drivers from 450 to 610, slices and processes included.
 *
 * The log names no index; GPUs stand in the order of their indices.
 */
export async function parseSmiXml(text: string): Promise<SmiSnapshot> {
  if (text.length > XML_CHARS_MAX) throw notSmiXml('it is larger than any machine prints');
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) throw notSmiXml(`line ${verdict.err.line}: ${verdict.err.msg}`);
  // Entities are decoded here, by hand: a document type may define ones that grow without end.
  const parser = new XMLParser({
    ignoreAttributes: true,
    parseTagValue: false,
    processEntities: false,
    trimValues: true,
  });
  let root: unknown;
  try {
    root = parser.parse(text);
  } catch (cause) {
    throw notSmiXml(cause instanceof Error ? cause.message : String(cause), cause);
  }
  const log = child(root, 'nvidia_smi_log');
  if (!isTree(log)) throw notSmiXml('it has no nvidia_smi_log');
  const wallMs = smiWallMs(leaf(log, 'timestamp'));
  return {
    ...(wallMs !== undefined && { wallMs }),
    gpus: children(log, 'gpu').map((gpu, index) => gpuOf(gpu, index)),
  };
}

function notSmiXml(why: string, cause?: unknown): OperationError {
  return new OperationError('not-smi-xml', `not the XML of nvidia-smi -q -x: ${why}`, {
    hint: 'Write it again with: nvidia-smi -q -x > FILE',
    cause,
  });
}

function gpuOf(gpu: unknown, index: number): SmiGpu {
  const id = smiText(leaf(gpu, 'uuid'));
  const model = smiText(leaf(gpu, 'product_name'));
  const memory = child(gpu, 'fb_memory_usage');
  const totalMib = smiColumn(leaf(memory, 'total'), 1, 100_000_000);
  const reasons = child(gpu, 'clocks_event_reasons') ?? child(gpu, 'clocks_throttle_reasons');
  const throttle = throttleMask(
    (name) => leaf(reasons, `clocks_event_reason_${name}`) ?? leaf(reasons, `clocks_throttle_reason_${name}`),
  );
  const powers = [child(gpu, 'gpu_power_readings'), child(gpu, 'power_readings')];
  const pci = child(gpu, 'pci');
  const values = smiValues({
    util: leaf(child(gpu, 'utilization'), 'gpu_util'),
    usedMib: leaf(memory, 'used'),
    power: powers.flatMap((of) =>
      ['average_power_draw', 'power_draw', 'instant_power_draw'].map((name) => leaf(of, name)),
    ),
    pcieKbS: [leaf(pci, 'tx_util'), leaf(pci, 'rx_util')],
  });
  return {
    ...(id !== undefined && { id }),
    index,
    ...(model !== undefined && { model }),
    ...(totalMib !== undefined && { totalMib }),
    values: { ...values, ...(throttle !== undefined && { throttle }) },
    slices: slicesOf(gpu),
    processes: children(child(gpu, 'processes'), 'process_info').flatMap(processOf),
  };
}

function slicesOf(gpu: unknown): SmiSlice[] {
  const byInstance = new Map<string, SmiSlice>();
  for (const device of children(child(gpu, 'mig_devices'), 'mig_device')) {
    const instance = smiText(leaf(device, 'gpu_instance_id'));
    // Compute instances of one GPU instance share its memory: they are one slice.
    if (instance === undefined || byInstance.has(instance)) continue;
    const memory = child(device, 'fb_memory_usage');
    const index = smiNumber(leaf(device, 'index'));
    const totalMib = smiColumn(leaf(memory, 'total'), 1, 100_000_000);
    const usedMib = smiColumn(leaf(memory, 'used'), 1, 100_000_000);
    byInstance.set(instance, {
      instance,
      ...(index !== undefined && { index }),
      ...(totalMib !== undefined && { totalMib }),
      ...(usedMib !== undefined && { usedMib }),
    });
  }
  return [...byInstance.values()];
}

function processOf(info: unknown): SmiProcess[] {
  const pid = smiNumber(leaf(info, 'pid'));
  if (pid === undefined || !Number.isInteger(pid) || pid < 0) return [];
  const usedMib = smiColumn(leaf(info, 'used_memory'), 1, 100_000_000);
  const instance = smiText(leaf(info, 'gpu_instance_id'));
  return [
    {
      pid,
      type: smiText(leaf(info, 'type')) ?? '?',
      name: unescaped(leaf(info, 'process_name') ?? ''),
      ...(usedMib !== undefined && { usedMib }),
      ...(instance !== undefined && { instance }),
    },
  ];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function child(tree: unknown, name: string): unknown {
  return isTree(tree) && Object.hasOwn(tree, name) ? tree[name] : undefined;
}

function children(tree: unknown, name: string): readonly unknown[] {
  const found = child(tree, name);
  return Array.isArray(found) ? found : found === undefined ? [] : [found];
}

function leaf(tree: unknown, name: string): string | undefined {
  const found = child(tree, name);
  return typeof found === 'string' ? found : undefined;
}
