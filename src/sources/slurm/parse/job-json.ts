import { OperationError } from '../../../facts/operation-error.ts';
import { isGoingOn, isWaiting, readStates } from './job-state.ts';
import type { JsonObject } from './json-value.ts';
import { at, listOf, momentOf, numberOf, objectOf, textOf, wordsOf } from './json-value.ts';
import { expandNodeList } from './node-list.ts';
import type { LeftOut, NodeGpus, SlurmJob } from './slurm-job.ts';
import { shownJobId } from './slurm-job.ts';
import type { Tres } from './tres.ts';
import { parseGres, parseTres, tresFromCounts } from './tres.ts';

/** Parses a reply and gives its list under this name; what is wrong with the reply is said by `what`. */
export function jsonList(text: string, name: string, what: string): readonly unknown[] {
  const value = parseJson(text, what);
  const list = at(value, name);
  if (!Array.isArray(list)) {
    throw new OperationError('wrong-json', `${what} has no list "${name}"`, {
      hint: 'Is this the JSON of sacct, squeue, sinfo, scontrol or slurmrestd?',
    });
  }
  return list as readonly unknown[];
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch (cause) {
    throw new OperationError('wrong-json', `${what} is not whole JSON`, {
      hint: 'It may have been cut off: run the command again.',
      cause,
    });
  }
}

/** Jobs of the accounting database: `sacct --json`, `/slurmdb/…/jobs`. Their state lies under `state.current`. */
export function accountedJob(value: unknown): SlurmJob | LeftOut {
  const job = objectOf(value);
  const jobId = numberOf(job?.['job_id']);
  if (job === undefined || jobId === undefined) return { leftOut: 'entries without the id of a job' };
  const nodes = expandNodeList(textOf(job['nodes']) ?? '');
  if (nodes === undefined) return { leftOut: 'entries with a node list that cannot be read' };
  const state = readStates(wordsOf(at(job, 'state', 'current')));
  const [arrayTask, arrayJob] = [numberOf(at(job, 'array', 'task_id')), numberOf(at(job, 'array', 'job_id'))];
  const het = { jobId: numberOf(at(job, 'het', 'job_id')), offset: numberOf(at(job, 'het', 'job_offset')) };
  const [submit, start, end] = [
    momentOf(at(job, 'time', 'submission')),
    momentOf(at(job, 'time', 'start')),
    momentOf(at(job, 'time', 'end')),
  ];
  const [elapsedS, suspendedS] = [numberOf(at(job, 'time', 'elapsed')), numberOf(at(job, 'time', 'suspended'))];
  const [allocated, requested] = [tresList(at(job, 'tres', 'allocated')), tresList(at(job, 'tres', 'requested'))];
  const restarts = numberOf(job['restart_cnt']);
  const exitCode = numberOf(at(job, 'exit_code', 'return_code'));
  const isOver = state === undefined || !isGoingOn(state);
  return {
    jobId: shownJobId(jobId, definedPair(arrayJob, arrayTask), het.jobId === undefined ? {} : definedHet(het)),
    nodes,
    ...(state !== undefined && { state }),
    ...(submit !== undefined && { submit }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && isOver && { end }),
    ...(elapsedS !== undefined && { elapsedS }),
    ...(suspendedS !== undefined && { suspendedS }),
    ...(allocated !== undefined && { allocated }),
    ...(requested !== undefined && { requested }),
    ...(restarts !== undefined && { restarts }),
    ...(exitCode !== undefined && { exitCode: `${exitCode}:0` }),
    ...texts(job, {
      cluster: ['cluster'],
      user: ['user'],
      account: ['account'],
      partition: ['partition'],
      qos: ['qos'],
      name: ['name'],
      comment: ['comment', 'job'],
      submitLine: ['submit_line'],
      adminComment: ['comment', 'administrator'],
      wckey: ['wckey', 'wckey'],
      reservation: ['reservation', 'name'],
    }),
    // 22.05 has the user only in the association.
    ...(textOf(job['user']) === undefined && texts(job, { user: ['association', 'user'] })),
  };
}

/** Jobs slurmctld knows now: `squeue --json`, `/slurm/…/jobs`. Their state lies under `job_state`. */
export function queuedJob(value: unknown): SlurmJob | LeftOut {
  const job = objectOf(value);
  const jobId = numberOf(job?.['job_id']);
  const state = readStates(wordsOf(job?.['job_state']));
  if (job === undefined || jobId === undefined) return { leftOut: 'entries without the id of a job' };
  if (state === undefined) return { leftOut: 'entries without a state that Slurm has' };
  const nodes = expandNodeList(textOf(job['nodes']) ?? '');
  if (nodes === undefined) return { leftOut: 'entries with a node list that cannot be read' };
  const array = definedPair(numberOf(job['array_job_id']), numberOf(job['array_task_id']));
  const het = definedHet({ jobId: numberOf(job['het_job_id']), offset: numberOf(job['het_job_offset']) });
  const pendingTasks = textOf(job['array_task_string']);
  const [submit, start, end] = [momentOf(job['submit_time']), momentOf(job['start_time']), momentOf(job['end_time'])];
  const restarts = numberOf(job['restart_cnt']);
  const cpus = numberOf(job['cpus']);
  const allocated = parseTres(textOf(job['tres_alloc_str']) ?? '');
  const requested = requestOf(job);
  const perNode = gresDetail(job['gres_detail'], nodes);
  return {
    jobId: pendingTasks === undefined ? shownJobId(jobId, array, het) : String(array.jobId ?? jobId),
    state,
    nodes,
    ...(submit !== undefined && { submit }),
    // The end of a running job is a plan, and so is the start of a waiting one.
    ...(start !== undefined && !isWaiting(state) && { start }),
    ...(end !== undefined && !isGoingOn(state) && !isWaiting(state) && { end }),
    ...(allocated !== undefined && { allocated }),
    ...(requested !== undefined && { requested }),
    ...(cpus !== undefined && { cpus }),
    ...(perNode !== undefined && { perNode }),
    ...(restarts !== undefined && { restarts }),
    ...(pendingTasks !== undefined && { pendingTasks }),
    ...texts(job, {
      cluster: ['cluster'],
      user: ['user_name'],
      account: ['account'],
      partition: ['partition'],
      qos: ['qos'],
      name: ['name'],
      comment: ['comment'],
      adminComment: ['admin_comment'],
      wckey: ['wckey'],
      reservation: ['resv_name'],
      reason: ['state_reason'],
    }),
  };
}

function definedPair(jobId: number | undefined, taskId: number | undefined): { jobId?: number; taskId?: number } {
  return { ...(jobId !== undefined && jobId !== 0 && { jobId }), ...(taskId !== undefined && { taskId }) };
}

function definedHet(het: { readonly jobId: number | undefined; readonly offset: number | undefined }): {
  jobId?: number;
  offset?: number;
} {
  return {
    ...(het.jobId !== undefined && het.jobId !== 0 && { jobId: het.jobId }),
    ...(het.offset !== undefined && { offset: het.offset }),
  };
}

function texts<Name extends string>(
  job: JsonObject,
  paths: Readonly<Record<Name, readonly string[]>>,
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(paths) as Name[]) {
    const text = textOf(at(job, ...paths[name]));
    if (text !== undefined) found[name] = text;
  }
  return found;
}

/** `[{type: "gres", name: "gpu:h100", count: 4}, …]`. */
function tresList(value: unknown): Tres | undefined {
  const counts = new Map<string, number>();
  for (const entry of listOf(value)) {
    const [type, name, count] = [textOf(at(entry, 'type')), textOf(at(entry, 'name')), numberOf(at(entry, 'count'))];
    if (type === undefined || count === undefined) continue;
    counts.set(name === undefined ? type.toLowerCase() : `${type}/${name}`.toLowerCase(), count);
  }
  return tresFromCounts(counts);
}

/** What was asked for. The type of the GPU is often only in the request as it was written. */
function requestOf(job: JsonObject): Tres | undefined {
  const tres = parseTres(textOf(job['tres_req_str']) ?? '');
  if (tres === undefined || (tres.gpus ?? 0) === 0 || tres.gpuTypes.size > 0) return tres;
  const written = ['tres_per_node', 'tres_per_job', 'tres_per_task', 'tres_per_socket'].flatMap(
    (name) => parseGres(textOf(job[name]) ?? '') ?? [],
  );
  const types = new Set(written.flatMap(({ type }) => (type === undefined ? [] : [type.toLowerCase()])));
  const [only, ...others] = types;
  if (only === undefined || others.length > 0) return tres;
  return { ...tres, gpuTypes: new Map([[only, tres.gpus ?? 0]]) };
}

/** One text for each machine, in the order of the node list. */
function gresDetail(value: unknown, nodes: readonly string[]): readonly NodeGpus[] | undefined {
  const details = listOf(value);
  if (details.length === 0 || details.length !== nodes.length) return undefined;
  const known: NodeGpus[] = [];
  for (const [index, detail] of details.entries()) {
    const items = typeof detail === 'string' ? parseGres(detail) : undefined;
    const node = nodes[index];
    if (items === undefined || node === undefined) return undefined;
    known.push({ node, items });
  }
  return known;
}
