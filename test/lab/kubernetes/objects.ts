import type { KubeObject, MadeObject } from './cluster.ts';

const H100 = 'NVIDIA-H100-80GB-HBM3';

/** A simulated node with GPUs, labelled as feature discovery and an autoscaler would. */
export function gpuNode(
  name: string,
  capacity: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
): KubeObject {
  const all = { cpu: '192', memory: '2Ti', pods: '250', ...capacity };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'kubernetes.io/hostname': name,
        'node.kubernetes.io/instance-type': 'p5.48xlarge',
        'topology.kubernetes.io/region': 'us-east-1',
        'topology.kubernetes.io/zone': 'us-east-1a',
        'karpenter.sh/capacity-type': 'on-demand',
        'nvidia.com/gpu.product': H100,
        'nvidia.com/gpu.count': '8',
        'nvidia.com/gpu.memory': '80000',
        pool: name.replace(/-\d+$/, ''),
        ...labels,
      },
    },
    spec: { providerID: `aws:///us-east-1a/i-${name}` },
    status: { capacity: all, allocatable: all },
  };
}

export interface PodWish {
  readonly gpus?: Readonly<Record<string, string>>;
  readonly pool: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: KubeObject;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** What a pod of one container looks like, also inside a template. */
export function podTemplate({ gpus = { 'nvidia.com/gpu': '1' }, pool, annotations, labels, spec }: PodWish): {
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
} {
  const container = {
    name: 'main',
    image: 'lab/none',
    resources: { requests: { cpu: '4', memory: '16Gi' }, limits: gpus },
  };
  return {
    metadata: { labels: { team: 'nlp', ...labels }, annotations: annotations ?? {} },
    spec: { restartPolicy: 'Never', nodeSelector: { pool }, containers: [container], ...spec },
  };
}

export function pod(namespace: string, name: string, wish: PodWish): KubeObject {
  const { metadata, spec } = podTemplate(wish);
  const owners = wish.owner === undefined ? {} : { ownerReferences: [wish.owner] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, ...owners, name, namespace }, spec };
}

/** One pod kept alive by a controller; a StatefulSet also wants the name of a service. */
export function oneReplica(
  namespace: string,
  name: string,
  kind: 'Deployment' | 'StatefulSet',
  wish: PodWish,
): KubeObject {
  const { metadata, spec } = podTemplate({ ...wish, labels: { app: name, ...wish.labels } });
  const owners = wish.owner === undefined ? {} : { ownerReferences: [wish.owner] };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace, ...owners },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata, spec: { ...spec, restartPolicy: 'Always' } },
      ...(kind === 'StatefulSet' && { serviceName: name }),
    },
  };
}

/** A Job, or an object of another project's kind, that owns nothing by itself. */
export function plain(
  namespace: string,
  apiVersion: string,
  kind: string,
  name: string,
  rest: KubeObject = {},
): KubeObject {
  const { metadata, ...others } = rest;
  return { apiVersion, kind, metadata: { name, namespace, ...(metadata as object) }, ...others };
}

/** The reference by which one object says that another made it. */
export function ownedBy(object: MadeObject | undefined): KubeObject {
  if (object === undefined) throw new Error('an owner that was not made');
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
}
