/** Which GPU a series speaks of, as far as its labels tell. */
export interface LabelledDevice {
  /** The GPU's own id; that of the parent for a slice of one (see `mig`). */
  readonly deviceId: string;
  readonly nodeId?: string;
  readonly gpuIndex?: number;
  readonly model?: string;
  readonly mig?: { readonly instance: string; readonly profile: string };
  readonly pod?: { readonly namespace: string; readonly name: string; readonly container?: string };
}

export interface LabelReading {
  /**
   * A Prometheus stands between the exporter and us and its target has a label `pod`: the exporter's own label then
   * comes as `exported_pod`, and a GPU nobody holds seems to be held by the exporter.
   */
  readonly podIsTarget?: boolean;
  /** The machine, where the labels do not say. */
  readonly nodeId?: string;
}

type Labels = Readonly<Record<string, string>>;

const BARE_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Names of the pods exporters run in; such a pod holds no GPU it measures. */
const EXPORTER_POD = /(?:^|-)(?:exporter|amd-exporter|gpu-exporter)(?:-|$)/;
const INDEX_LABELS = ['gpu', 'gpu_id', 'minor_number', 'gpu_index', 'index', 'GpuIndex', 'gpu_use_percent'];
const NODE_LABELS = ['Hostname', 'hostname', 'exported_node', 'node', 'kubernetes_node', 'nodename'];

/**
 * Which device do these labels name? Undefined if they name none: neither an id, nor a machine and a place in it.
 *
 * `exported_*` goes before the plain name, since Prometheus renames what the exporter said when its target has such a
 * label. A host name that is an exporter's pod gives way to the label `node`. Empty labels are absent ones.
 */
export function labelsOfDevice(labels: Labels, reading: LabelReading = {}): LabelledDevice | undefined {
  const nodeId = nodeOf(labels) ?? reading.nodeId;
  const gpuIndex = indexOf(labels);
  const deviceId = deviceIdOf(labels, nodeId, gpuIndex);
  if (deviceId === undefined) return undefined;
  const model = first(labels, ['modelName', 'model_name', 'card_series', 'productname', 'gpu_name', 'name']);
  const instance = first(labels, ['GPU_I_ID', 'gpu_i_id']);
  const profile = first(labels, ['GPU_I_PROFILE', 'gpu_i_profile']);
  const pod = podOf(labels, reading.podIsTarget ?? false);
  return {
    deviceId,
    ...(nodeId !== undefined && { nodeId }),
    ...(gpuIndex !== undefined && { gpuIndex }),
    ...(model !== undefined && { model }),
    ...(instance !== undefined && profile !== undefined && { mig: { instance, profile } }),
    ...(pod !== undefined && { pod }),
  };
}

function first(labels: Labels, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = labels[name];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

function nodeOf(labels: Labels): string | undefined {
  const named = NODE_LABELS.map((name) => first(labels, [name])).filter((value) => value !== undefined);
  return named.find((value) => !EXPORTER_POD.test(value)) ?? named[0];
}

function indexOf(labels: Labels): number | undefined {
  const text = first(labels, INDEX_LABELS);
  return text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}

function deviceIdOf(labels: Labels, nodeId: string | undefined, gpuIndex: number | undefined): string | undefined {
  const driverId = first(labels, ['UUID', 'uuid']);
  // nvidia_gpu_exporter cuts the driver's prefix off; with it the same GPU goes by one name everywhere.
  if (driverId !== undefined) return BARE_UUID.test(driverId) ? `GPU-${driverId}` : driverId;
  const gpuId = first(labels, ['gpu_uuid', 'exported_uuid']);
  if (gpuId !== undefined) return gpuId;
  const serial = first(labels, ['serial_number']);
  if (serial !== undefined) {
    const type = first(labels, ['gpu_compute_partition_type'])?.toLowerCase();
    const partition = first(labels, ['gpu_partition_id']);
    return type === undefined || type === 'spx' || partition === undefined ? serial : `${serial}/${partition}`;
  }
  return nodeId === undefined || gpuIndex === undefined ? undefined : placeDeviceId(nodeId, gpuIndex);
}

/** A GPU without an id of its own goes by its place. */
export function placeDeviceId(nodeId: string, gpuIndex: number): string {
  return `${nodeId}/gpu${gpuIndex}`;
}

function podOf(labels: Labels, podIsTarget: boolean): LabelledDevice['pod'] {
  const exported = podNamed(labels, 'exported_');
  if (exported !== undefined || podIsTarget) return exported;
  const plain = podNamed(labels, '');
  return plain === undefined || EXPORTER_POD.test(plain.name) ? undefined : plain;
}

function podNamed(labels: Labels, prefix: string): LabelledDevice['pod'] {
  const name = first(labels, [`${prefix}pod`, ...(prefix === '' ? ['pod_name'] : [])]);
  const namespace = first(labels, [`${prefix}namespace`, ...(prefix === '' ? ['pod_namespace'] : [])]);
  if (name === undefined || namespace === undefined) return undefined;
  const container = first(labels, [`${prefix}container`, ...(prefix === '' ? ['container_name'] : [])]);
  return { namespace, name, ...(container !== undefined && { container }) };
}
