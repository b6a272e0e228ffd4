import { nameWord } from '../facts/shell-word.ts';

/** What is known of a holder that somebody may stop. */
interface Stoppable {
  readonly source: string | null;
  readonly allocationId: string | null;
  readonly cluster?: string | null;
  readonly namespace: string | null;
  readonly kind: string | null;
  readonly name: string | null;
  /** Labels of a pod that a JupyterHub started: whose server it is, and which of several. */
  readonly hubUser?: string | null;
  readonly hubServer?: string | null;
}

/** The labels by which a JupyterHub knows its pods. */
export const HUB_USER_LABEL = 'hub.jupyter.org/username';
export const HUB_SERVER_LABEL = 'hub.jupyter.org/servername';

/** Kinds that are nothing but a workload: deleting one stops it. An owner may be a Node, too, of which much more hangs. */
const BATCH_KINDS = ['Pod', 'Job', 'CronJob', 'JobSet', 'DaemonSet', 'Workflow', 'SparkApplication', 'TrainJob'];
const FRAMEWORK_KINDS = [
  'PyTorchJob',
  'MPIJob',
  'TFJob',
  'XGBoostJob',
  'PaddleJob',
  'RayJob',
  'RayCluster',
  'RayService',
];
const DELETED_KINDS = new Set([...BATCH_KINDS, ...FRAMEWORK_KINDS]);
/** What answers requests is scaled down, not deleted: its address and its settings stay. */
const SCALED_KINDS = new Set(['Deployment', 'StatefulSet', 'ReplicaSet', 'Rollout', 'LeaderWorkerSet']);
/** KServe stops these by an annotation and keeps them. */
const KSERVE_KINDS = new Set(['InferenceService', 'LLMInferenceService']);

/**
 * Question: what does one paste to give the GPUs of a holder back?
 *
 * Names come from labels and schedulers and are quoted: they are data, never a second command. Of a scheduler without a command
 * of its own a comment says what is to be stopped. Which cluster it is meant for stands behind it: one name may be on several.
 */
export function stopCommand(holder: Stoppable): string {
  const { cluster } = holder;
  // No object has such a name: where a shell reads it as words of the command, nothing else is met.
  return cluster == null ? lineOf(holder) : `${lineOf(holder)}   # cluster=${nameWord(cluster)}`;
}

function lineOf({ source, allocationId, namespace, kind, name, hubUser, hubServer }: Stoppable): string {
  if (source === 'slurm' && allocationId) return `scancel ${nameWord(allocationId)}`;
  if (source === 'kubernetes' && name) {
    const place = namespace === null ? '' : ` -n ${nameWord(namespace)}`;
    // Owned by no Notebook: the hub sees that its pod is gone, and starts it again when its user asks.
    if (hubUser != null) {
      const server = hubServer == null || hubServer === '' ? '' : `,${HUB_SERVER_LABEL}=${hubServer}`;
      return `kubectl delete pod${place} -l ${nameWord(`component=singleuser-server,${HUB_USER_LABEL}=${hubUser}${server}`)}`;
    }
    // Kubeflow stops a notebook by this and keeps it: its volumes, its place in the list. A deleted one is gone.
    if (kind === 'Notebook')
      return `kubectl annotate notebook ${nameWord(name)}${place} kubeflow-resource-stopped="$(date -u +%FT%TZ)" --overwrite`;
    // A pod alone ends by its own name; one that a controller made comes again, so that the controller's object goes.
    const resource = nameWord((kind ?? 'Pod').toLowerCase());
    if (KSERVE_KINDS.has(kind ?? ''))
      return `kubectl annotate ${resource} ${nameWord(name)}${place} serving.kserve.io/stop=true --overwrite`;
    if (SCALED_KINDS.has(kind ?? '')) return `kubectl scale ${resource} ${nameWord(name)}${place} --replicas=0`;
    const command = `kubectl delete ${resource} ${nameWord(name)}${place}`;
    return DELETED_KINDS.has(kind ?? 'Pod') ? command : commentLine(`look at it first: ${command}`);
  }
  const called = name || allocationId;
  return commentLine(`stop ${nameWord(kind || 'job')} ${called ? nameWord(called) : 'that nobody named'}`);
}

/**
 * A line of a fix that a shell does not run: what is in it stays on it. Names in it are quoted all the same (`nameWord`): at the prompt of
 * a zsh `#` begins no comment, and what follows a semicolon is run.
 */
export function commentLine(text: string): string {
  // A line break would end the comment and begin a command.
  return `# ${text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')}`;
}
