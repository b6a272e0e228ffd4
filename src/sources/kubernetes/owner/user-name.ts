/**
 * Labels and annotations by which tools say whose a pod is, the surest first. Kubernetes itself does not know: a pod carries the
 * account it runs under, not the person who asked for it.
 */
export const USER_KEYS = [
  'bursar.io/user',
  'hub.jupyter.org/username',
  'opendatahub.io/username',
  'notebooks.kubeflow.org/creator',
  'notebooks.opendatahub.io/user',
  'com.coder.user.username',
  'skypilot-user',
  'workflows.argoproj.io/creator-preferred-username',
  'workflows.argoproj.io/creator-email',
  'run.ai/user',
  'user',
  'username',
  'user-name',
  'owner',
  'created-by',
] as const;

/** Whose is it, by the labels and annotations people use for that? A label goes before an annotation of the same name. */
export function userOf(
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): string | undefined {
  for (const key of USER_KEYS) {
    const found = (labels[key] ?? annotations[key])?.trim();
    if (found !== undefined && found !== '') return found;
  }
  return undefined;
}
