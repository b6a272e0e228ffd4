import { nameWord } from '../facts/shell-word.ts';

/** What is known of a holder that somebody may stop. */
interface Stoppable {
  readonly source: string | null;
  readonly allocationId: string | null;
  readonly namespace: string | null;
  readonly kind: string | null;
  readonly name: string | null;
}

/** Kinds that people own by name, and what kubectl calls them; of any other the pod is deleted. */
const KUBERNETES_KINDS: ReadonlyMap<string, string> = new Map(
  ['Job', 'CronJob', 'PyTorchJob', 'MPIJob', 'TFJob', 'RayJob', 'RayCluster', 'JobSet', 'Notebook', 'Workflow'].map(
    (kind) => [kind, kind.toLowerCase()],
  ),
);
/** What answers requests is scaled down, not deleted: its address and its settings stay. */
const SCALED_KINDS: ReadonlyMap<string, string> = new Map([
  ['Deployment', 'deployment'],
  ['StatefulSet', 'statefulset'],
]);

/**
 * Question: what does one paste to give the GPUs of a holder back?
 *
 * Names come from labels and schedulers and are quoted: they are data, never a second command. Of a scheduler without a command
 * of its own a comment says what is to be stopped.
 */
export function stopCommand({ source, allocationId, namespace, kind, name }: Stoppable): string {
  if (source === 'slurm' && allocationId !== null) return `scancel ${nameWord(allocationId)}`;
  if (source === 'kubernetes' && name !== null) {
    const place = namespace === null ? '' : ` -n ${nameWord(namespace)}`;
    const scaled = SCALED_KINDS.get(kind ?? '');
    if (scaled !== undefined) return `kubectl scale ${scaled} ${nameWord(name)}${place} --replicas=0`;
    return `kubectl delete ${KUBERNETES_KINDS.get(kind ?? '') ?? 'pod'} ${nameWord(name)}${place}`;
  }
  return commentLine(`stop ${nameWord(kind ?? 'job')} ${nameWord(name ?? allocationId ?? 'of nobody known')}`);
}

/**
 * A line of a fix that a shell does not run: what is in it stays on it. Names in it are quoted all the same (`nameWord`): at the prompt of
 * a zsh `#` begins no comment, and what follows a semicolon is run.
 */
export function commentLine(text: string): string {
  // A line break would end the comment and begin a command.
  return `# ${text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')}`;
}
