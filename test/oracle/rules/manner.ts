import type { AllocationRow } from '../organisation.ts';
import { DAY_S } from '../organisation.ts';
import { overlap, secondsOf } from '../order.ts';
import type { Holding } from './holding.ts';

export type Manner = 'job' | 'serving' | 'interactive';

const BY_CLASS: Readonly<Record<string, Manner>> = {
  inference: 'serving',
  experimentation: 'interactive',
  training: 'job',
  batch: 'job',
};
const BY_KIND: Readonly<Record<string, Manner>> = {
  Deployment: 'serving',
  StatefulSet: 'serving',
  InferenceService: 'serving',
  LLMInferenceService: 'serving',
  RayService: 'serving',
  Notebook: 'interactive',
};

const TOOLS = /(^| )(jupyter|jupyterlab|jupyterhub|code server|openvscode|vscode|rstudio|sshd)( |$)/;
const BY_HAND = /(^| )(notebook|ssh|shell|bash|interactive|debug|sleep|devbox|devpod|playground)( |$)/;
const ROOMS = /(^| )(interactive|interact|jupyter|ondemand|notebook|notebooks)( |$)/;
const SHELLS = /^(interactive|bash|sh|zsh|csh|tcsh|fish|tmux|screen)$/;
const PLAIN_KINDS = new Set(['Pod', 'ReplicaSet', 'Deployment', 'StatefulSet']);

const words = (text: string | null | undefined): string => (text ?? '').toLowerCase().replaceAll(/[-_/.:]/g, ' ');

type Told = Pick<AllocationRow, 'source' | 'labels' | 'workload_kind' | 'workload_name'>;

/** Whether people sit in front of it, by what its source keeps. */
function isSession({ source, labels, workload_kind, workload_name }: Told): boolean {
  const [kind, name] = [workload_kind ?? '', words(workload_name)];
  if (labels['bursar.io/session'] !== undefined) return true;
  if (PLAIN_KINDS.has(kind) && TOOLS.test(name)) return true;
  if (kind === 'Pod' && BY_HAND.test(name)) return true;
  if (!source.startsWith('slurm')) return false;
  const isShell = SHELLS.test((workload_name ?? '').toLowerCase()) || (workload_name ?? '').includes('sys/dashboard/');
  return isShell || TOOLS.test(name) || ROOMS.test(words(labels['partition'])) || ROOMS.test(words(labels['qos']));
}

export const mannerOfRow = (row: Told): Manner =>
  BY_CLASS[row.labels['class'] ?? ''] ?? (isSession(row) ? 'interactive' : (BY_KIND[row.workload_kind ?? ''] ?? 'job'));

/** What tells holders apart. */
export const holderOf = ({ source, allocation_id, attempt }: AllocationRow): string =>
  JSON.stringify([source, allocation_id, attempt]);

/** How a holder used GPUs on a day: of several rows the first manner in the alphabet. */
export function mannerOf(holdings: readonly Holding[], holder: AllocationRow, day: number): Manner | null {
  const onDay = { from: day, until: day + DAY_S };
  const own = holdings.filter((each) => holderOf(each.row) === holderOf(holder) && secondsOf(overlap(each, onDay)) > 0);
  return own.map((each) => mannerOfRow(each.row)).sort()[0] ?? null;
}
