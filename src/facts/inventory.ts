import { BYTE, SHARE } from './column.ts';
import type { FactTable } from './fact-table.ts';

/** Where a time is left out it lies before every fact: "present since before we looked". */
export const BEFORE_EVERYTHING = '1970-01-01 00:00:00';

export const nodeTable: FactTable = {
  name: 'node',
  importName: 'nodes',
  meaning: 'A machine that is paid for, from when to when, and in which state.',
  partitionBy: 'present_from',
  partition: 'day',
  sortBy: ['node_id', 'present_from'],
  merge: 'row',
  columns: [
    { name: 'node_id', kind: 'text', key: true, required: true, meaning: 'The name jobs and devices know the machine by.', example: 'gpu-a01', alsoKnownAs: [{ name: 'node' }, { name: 'hostname' }, { name: 'host' }, { name: 'instance' }, { name: 'sn' }] },
    { name: 'present_from', kind: 'time', key: true, missing: 'present since before the first fact', meaning: 'First second of this row: of its presence, or of its state.', example: '2026-10-01T00:00:00Z', alsoKnownAs: [{ name: 'launched_at' }] },
    { name: 'present_until', kind: 'time', missing: 'still there; ends where the next row of the node begins', meaning: 'First second after it.', example: '', alsoKnownAs: [{ name: 'terminated_at' }] },
    { name: 'resource_id', kind: 'text', missing: 'the node is looked for in bills by its node_id', meaning: 'What the bill calls the machine; compared by its last path segment, in lower case.', example: 'i-0a1b2c3d4e5f60001' },
    { name: 'provider', kind: 'text', missing: 'unknown; meets the bills of any provider', meaning: 'Who bills it, in the words of the bill (FOCUS ProviderName).', example: 'AWS' },
    { name: 'billing_account', kind: 'text', missing: 'any account of the provider', meaning: 'FOCUS BillingAccountId.', example: '123456789012' },
    { name: 'region', kind: 'text', meaning: 'FOCUS RegionId.', example: 'us-east-1' },
    { name: 'zone', kind: 'text', meaning: 'Availability zone.', example: 'us-east-1a' },
    { name: 'instance_type', kind: 'text', meaning: 'The machine type.', example: 'p5.48xlarge' },
    { name: 'purchase', kind: 'text', oneOf: ['on-demand', 'spot', 'committed', 'owned'], meaning: 'How it is bought.', example: 'on-demand' },
    { name: 'cluster', kind: 'text', missing: 'a fleet without clusters', meaning: 'The scheduler that hands it out.', example: 'train-a' },
    { name: 'gpu_count', kind: 'integer', missing: 'as many as devices are listed', meaning: 'GPUs in the machine; 0 for a host without.', example: '8', alsoKnownAs: [{ name: 'gpus' }, { name: 'gpu' }] },
    { name: 'vcpu', kind: 'integer', meaning: 'Virtual CPUs.', example: '192' },
    { name: 'memory_bytes', kind: 'integer', unit: BYTE, meaning: 'Memory of the host.', example: '2199023255552', alsoKnownAs: [{ name: 'memory_mib', unit: 'mib' }] },
    { name: 'state', kind: 'text', oneOf: ['up', 'down', 'drained', 'spare'], missing: 'up', meaning: 'Whether work can run there.', example: 'up' },
    { name: 'presence', kind: 'text', oneOf: ['inventory', 'bill', 'inferred'], missing: 'inventory', meaning: 'How its presence is known.', example: 'inventory' },
    { name: 'model', kind: 'text', missing: 'the model of its devices', meaning: 'GPU model, for nodes whose devices are not listed.', example: 'H100' },
    { name: 'tags', kind: 'map', meaning: 'Cloud tags or node labels.', example: '{"team": "platform"}', alsoKnownAs: [{ name: 'labels' }] },
    { name: 'observed_at', kind: 'time', missing: 'the newest time in the batch', meaning: 'When this was seen to be so; of two batches the newer wins.', example: '' },
  ],
};

export const deviceTable: FactTable = {
  name: 'device',
  importName: 'devices',
  meaning: 'A GPU, or a MIG slice of one, and the machine it sits in.',
  partitionBy: 'present_from',
  partition: 'day',
  sortBy: ['device_id', 'present_from'],
  merge: 'row',
  columns: [
    { name: 'device_id', kind: 'text', key: true, required: true, meaning: 'The UUID the driver gives it.', example: 'GPU-5d1a7c1e-0000-4000-8000-000000000001', alsoKnownAs: [{ name: 'uuid' }, { name: 'UUID' }, { name: 'gpu_uuid' }] },
    { name: 'present_from', kind: 'time', key: true, missing: 'present since before the first fact', meaning: 'First second of this row.', example: '2026-10-01T00:00:00Z' },
    { name: 'present_until', kind: 'time', missing: 'still there', meaning: 'First second after it.', example: '' },
    { name: 'parent_device_id', kind: 'text', missing: 'a whole GPU', meaning: 'For a MIG slice: the GPU it is cut from.', example: '' },
    { name: 'node_id', kind: 'text', required: true, meaning: 'The machine it sits in.', example: 'gpu-a01', alsoKnownAs: [{ name: 'node' }, { name: 'hostname' }, { name: 'Hostname' }] },
    { name: 'kind', kind: 'text', oneOf: ['gpu', 'mig', 'tpu', 'accelerator'], missing: 'gpu, or mig where it has a parent', meaning: 'What it is.', example: 'gpu' },
    { name: 'model', kind: 'text', missing: 'unknown; priced only by node, or by a rate for any model', meaning: 'As the driver names it.', example: 'NVIDIA H100 80GB HBM3', alsoKnownAs: [{ name: 'modelName' }] },
    { name: 'mig_profile', kind: 'text', meaning: 'MIG profile of a slice.', example: '' },
    { name: 'share_units', kind: 'integer', unit: SHARE, missing: '63000; for a MIG slice its memory slots ÷ 8, by its profile', meaning: 'The part of a GPU it stands for, in 63,000ths.', example: '63000' },
    { name: 'observed_at', kind: 'time', missing: 'the newest time in the batch', meaning: 'When this was seen to be so.', example: '' },
  ],
};
