import { commentLine } from '../stop-command.ts';

/** What a change of replicas needs to know of a service. */
export interface Scaled {
  readonly name: string;
  readonly namespace: string | null;
  readonly workloadKind: string | null;
  /** Replicas it holds now. */
  readonly replicas: number;
  readonly replicasMin: number;
  readonly replicasMax: number;
  /** Requests one replica has in flight while it is busy; null where nobody counted their seconds. */
  readonly inFlight: number | null;
}

/** Kinds of which Kubernetes itself changes the number of replicas. */
const SCALABLE: ReadonlyMap<string, string> = new Map([
  ['Deployment', 'deployment'],
  ['StatefulSet', 'statefulset'],
]);
/** What a command that ends pods leaves undone: money is of machines. */
export const PODS_ARE_NOT_NODES = commentLine(
  'this frees pods; a bill falls once the node is gone: a cluster autoscaler takes empty ones, else drain it and end its rent',
);
/** What Kubernetes lets a name be. Anything else is data of somebody else and gets into no command. */
const KUBERNETES_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Lines to paste: a scaler that follows the requests in flight, or a number of replicas to try first. */
export function scalingFix(scaled: Scaled): readonly string[] {
  const { name, namespace, workloadKind, replicas, replicasMin, replicasMax } = scaled;
  const kind = SCALABLE.get(workloadKind ?? '');
  const isNamed = KUBERNETES_NAME.test(name) && namespace !== null && KUBERNETES_NAME.test(namespace);
  if (!isNamed) {
    return [
      `# at least ${replicasMin}, at most ${replicasMax} replicas, by requests in flight or waiting`,
      PODS_ARE_NOT_NODES,
    ];
  }
  if (kind === undefined) {
    return [
      `# in the manifest of ${name} (namespace ${namespace}): minReplicas: ${replicasMin}, maxReplicas: ${replicasMax}`,
      PODS_ARE_NOT_NODES,
    ];
  }
  return [
    // Where its busiest hour needs all of them only a scaler saves anything.
    ...(replicasMax < replicas
      ? [`# try it for a day: kubectl scale ${kind}/${name} -n ${namespace} --replicas=${replicasMax}`]
      : []),
    ...scaledObject(scaled, namespace),
    '# serverAddress is your Prometheus; the query is of vLLM (Triton: nv_inference_pending_request_count)',
    '# minReplicaCount: 0 where callers can wait for a cold start',
    PODS_ARE_NOT_NODES,
  ];
}

function scaledObject(
  { name, workloadKind, replicasMin, replicasMax, inFlight }: Scaled,
  namespace: string,
): readonly string[] {
  const labels = `{namespace="${namespace}",pod=~"${name}-.*"}`;
  const [query, threshold] =
    inFlight === null
      ? [`sum(vllm:num_requests_waiting${labels})`, 1]
      : [
          `sum(vllm:num_requests_running${labels}) + sum(vllm:num_requests_waiting${labels})`,
          Math.max(1, Math.round(inFlight)),
        ];
  return [
    "kubectl apply -f - <<'EOF'",
    'apiVersion: keda.sh/v1alpha1',
    'kind: ScaledObject',
    `metadata: { name: ${name}, namespace: ${namespace} }`,
    'spec:',
    `  scaleTargetRef: { kind: ${workloadKind}, name: ${name} }`,
    `  minReplicaCount: ${replicasMin}`,
    `  maxReplicaCount: ${replicasMax}`,
    '  cooldownPeriod: 900',
    '  triggers:',
    '    - type: prometheus',
    '      metadata:',
    '        serverAddress: http://prometheus.monitoring:9090',
    `        query: '${query}'`,
    `        threshold: '${threshold}'`,
    'EOF',
  ];
}
