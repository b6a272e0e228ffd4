import type { Attribute } from './rule.ts';

/** What kinds of subjects there are. */
export const SUBJECT_KINDS = ['job', 'node', 'resource', 'bill', 'device'] as const;
type SubjectKind = (typeof SUBJECT_KINDS)[number];

interface KnownAttribute {
  readonly column: string;
  /** The kinds of subjects that can have it. */
  readonly of: readonly SubjectKind[];
  readonly meaning: string;
}

/** Everything a rule may ask, by the name people write. `label.KEY` and `tag.KEY` are asked by key. */
export const ATTRIBUTES: Readonly<Record<string, KnownAttribute>> = {
  what: { column: 'what', of: SUBJECT_KINDS, meaning: 'job, node, resource, bill or device' },
  source: { column: 'source', of: ['job'], meaning: 'the scheduler or file a job is known from: slurm, kubernetes' },
  cluster: { column: 'cluster', of: ['job', 'node', 'bill', 'device'], meaning: 'the cluster' },
  namespace: { column: 'namespace', of: ['job'], meaning: 'the Kubernetes namespace' },
  account: { column: 'account', of: ['job'], meaning: 'the Slurm account' },
  user: { column: 'user_name', of: ['job'], meaning: 'who started it, or who owns the process' },
  kind: { column: 'workload_kind', of: ['job'], meaning: 'Job, PyTorchJob, Notebook, Deployment, …' },
  name: {
    column: 'workload_stem',
    of: ['job'],
    meaning: 'the name of the job; a number or hash at its end is read as 0',
  },
  provider: { column: 'provider', of: ['node', 'resource', 'bill', 'device'], meaning: 'who bills it' },
  cloud_account: {
    column: 'cloud_account',
    of: ['node', 'resource', 'bill', 'device'],
    meaning: 'the billing account (FOCUS BillingAccountId)',
  },
  sub_account: {
    column: 'sub_account',
    of: ['node', 'resource'],
    meaning: 'the account inside it (FOCUS SubAccountId)',
  },
  service: { column: 'service', of: ['node', 'resource'], meaning: 'the service on the bill (FOCUS ServiceName)' },
  region: { column: 'region', of: ['node', 'resource'], meaning: 'the region' },
  resource: { column: 'resource_id', of: ['node', 'resource'], meaning: 'the id on the bill (FOCUS ResourceId)' },
  resource_name: { column: 'resource_name', of: ['node', 'resource'], meaning: 'its name there (FOCUS ResourceName)' },
  node: { column: 'node_id', of: ['node'], meaning: 'the machine nobody held at the time' },
  state: { column: 'state', of: ['node'], meaning: 'up, down, drained or spare' },
};

const MAPS: Readonly<Record<string, { readonly column: string; readonly of: readonly SubjectKind[] }>> = {
  label: { column: 'labels', of: ['job'] },
  tag: { column: 'tags', of: ['node', 'resource'] },
};

/** The attribute of a name; undefined where there is none such. */
export function attributeNamed(name: string): Attribute | undefined {
  const dot = name.indexOf('.');
  const map = dot < 0 ? undefined : own(MAPS, name.slice(0, dot));
  if (map !== undefined && dot + 1 < name.length) return { name, column: map.column, key: name.slice(dot + 1) };
  const known = own(ATTRIBUTES, name);
  return known && { name, column: known.column };
}

/** Which kinds of subjects can have an attribute. */
export function kindsWith({ name, key }: Attribute): readonly SubjectKind[] {
  return (key === undefined ? own(ATTRIBUTES, name) : own(MAPS, name.slice(0, name.indexOf('.'))))?.of ?? [];
}

function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
