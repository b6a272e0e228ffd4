import { OperationError } from '../../facts/operation-error.ts';
import type { Source, SourceHealth } from '../../facts/source.ts';
import { connect } from './api/connection.ts';
import { checkCluster } from './check.ts';
import { emptyOwnerMemory } from './owner/owner-lookup.ts';
import { pullOnce } from './pull.ts';

export interface KubernetesOptions {
  readonly name: string;
  /** A file; else KUBECONFIG, else ~/.kube/config, else the account of the pod we run in. */
  readonly kubeconfig?: string;
  /** Else the kubeconfig's current one. */
  readonly context?: string;
  /** Use the account of the pod we run in, whatever kubeconfig there is. */
  readonly inCluster?: boolean;
  /** What rows call the cluster; else the source's name. */
  readonly cluster?: string;
  readonly pollS?: number;
}

const PRIORITY = 20;
const POLL_S = 60;

/**
 * Who holds and who waits for GPUs in a Kubernetes cluster, and which nodes it has, from its API server.
 *
 * Needs get, list and watch of pods and nodes, nothing else; see docs/sources/kubernetes.md.
 */
export function kubernetesSource(options: KubernetesOptions): Source {
  const { name, context, inCluster, kubeconfig, cluster = name, pollS = POLL_S } = options;
  // Owners do not change: what was learnt of them serves every pull of this process.
  const memory = emptyOwnerMemory();
  const of =
    inCluster === true
      ? 'the cluster this runs in'
      : `${context === undefined ? 'the current context' : `context ${context}`} of ${kubeconfig ?? 'the kubeconfig'}`;
  return {
    name,
    kind: 'kubernetes',
    reads: `pods and nodes of ${of} (get, list, watch)`,
    priority: PRIORITY,
    pollS,
    check: async (signal) => {
      try {
        const connection = await connect(options, signal);
        try {
          return await checkCluster(connection, signal);
        } finally {
          connection.close();
        }
      } catch (failure) {
        return down(failure);
      }
    },
    async *pull(cursor, request) {
      const connection = await connect(options, request.signal);
      try {
        yield await pullOnce(connection, cursor, request, { cluster, pollS, memory });
      } finally {
        connection.close();
      }
    },
  };
}

function down(failure: unknown): SourceHealth {
  if (!(failure instanceof OperationError)) throw failure;
  const { message, hint } = failure;
  return { state: 'down', says: message, ...(hint !== undefined && { todo: hint }), advice: [] };
}
