import { isGoingOn, isWaiting, readState } from './job-state.ts';
import { expandNodeList } from './node-list.ts';
import type { LeftOut, NodeGpus, SlurmJob } from './slurm-job.ts';
import { shownJobId } from './slurm-job.ts';
import type { SlurmClock } from './slurm-time.ts';
import { durationSeconds } from './slurm-time.ts';
import { parseGres, parseTres } from './tres.ts';

/** What `scontrol show` prints about one thing: its values by name, and the lines that repeat. */
export interface ScontrolBlock {
  readonly values: ReadonlyMap<string, string>;
  /** `Nodes=… GRES=…` of `show job -d`, one for each group of machines. */
  readonly details: readonly ReadonlyMap<string, string>[];
}

/** In these people write what they like: the rest of the line is theirs. */
const REST_OF_LINE = new Set([
  'JobName',
  'Comment',
  'AdminComment',
  'SystemComment',
  'Command',
  'WorkDir',
  'StdErr',
  'StdIn',
  'StdOut',
  'SubmitLine',
  'Reason',
  'OS',
  'Extra',
]);

/**
 * Cuts the text of `scontrol show job` or `show node` into blocks, also when it was printed with `-o`.
 *
 * A new block begins only at the beginning of a line that begins with the first name of the thing (`JobId=`, `NodeName=`).
 */
export function scontrolBlocks(text: string, first: 'JobId' | 'NodeName'): readonly ScontrolBlock[] {
  const blocks: ScontrolBlock[] = [];
  let lines: string[] = [];
  const finish = (): void => {
    if (lines.length > 0) blocks.push(blockOf(lines));
    lines = [];
  };
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith(`${first}=`)) finish();
    else if (lines.length === 0) continue;
    if (line.trim() !== '') lines.push(line);
  }
  finish();
  return blocks;
}

function blockOf(lines: readonly string[]): ScontrolBlock {
  const values = new Map<string, string>();
  const details: Map<string, string>[] = [];
  const isOneLine = lines.length === 1;
  for (const line of lines) {
    let detail: Map<string, string> | undefined;
    for (const [name, value] of pairsOf(line, isOneLine)) {
      if (name === 'Nodes') {
        detail = new Map();
        details.push(detail);
      }
      if (detail !== undefined && ['Nodes', 'CPU_IDs', 'Mem', 'GRES', 'GRES_IDX'].includes(name))
        detail.set(name, value);
      // The first of a name counts: what comes later in a block may stand in somebody's comment.
      else if (!values.has(name)) values.set(name, value);
    }
  }
  return { values, details };
}

/** `Name=value` pairs of a line; a value goes on to the next word that looks like a name. */
function pairsOf(line: string, isOneLine: boolean): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  const pattern = /(?:^|\s)([A-Za-z][\w/:]*)=/g;
  let before: { name: string; from: number } | undefined;
  const close = (until: number): void => {
    if (before !== undefined) pairs.push([before.name, line.slice(before.from, until).trim()]);
  };
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    const name = match[1] ?? '';
    close(match.index);
    before = { name, from: match.index + match[0].length };
    if (REST_OF_LINE.has(name) && !isOneLine) break;
  }
  close(line.length);
  return pairs;
}

const one = (moments: readonly number[] | undefined): number | undefined => moments?.[0];

/** One job of `scontrol show job -d`. */
export function scontrolJob({ values, details }: ScontrolBlock, clock: SlurmClock): SlurmJob | LeftOut {
  const text = (name: string): string | undefined => {
    const value = values.get(name) ?? '';
    return ['', '(null)', 'N/A', 'None'].includes(value) ? undefined : value;
  };
  const jobId = /^\d+$/.exec(values.get('JobId') ?? '')?.[0];
  const state = readState(values.get('JobState') ?? '');
  if (jobId === undefined) return { leftOut: 'entries without the id of a job' };
  if (state === undefined) return { leftOut: 'entries without a state that Slurm has' };
  const nodes = expandNodeList(text('NodeList') ?? '');
  if (nodes === undefined) return { leftOut: 'entries with a node list that cannot be read' };
  const task = values.get('ArrayTaskId') ?? '';
  const isTask = /^\d+$/.test(task);
  const [arrayJob, hetJob, hetOffset] = ['ArrayJobId', 'HetJobId', 'HetJobOffset'].map((name) => {
    const value = values.get(name) ?? '';
    return /^\d+$/.test(value) ? Number(value) : undefined;
  });
  const [submit, start, end] = ['SubmitTime', 'StartTime', 'EndTime'].map((name) =>
    one(clock.read(values.get(name) ?? '')),
  );
  const elapsedS = durationSeconds(values.get('RunTime') ?? '');
  const allocated = parseTres(values.get('AllocTRES') ?? values.get('TRES') ?? '');
  const requested = parseTres(values.get('ReqTRES') ?? values.get('TRES') ?? '');
  const perNode = detailsOf(details);
  const restarts = durationSeconds(values.get('Restarts') ?? '');
  const cpus = durationSeconds(values.get('NumCPUs') ?? '');
  const isPendingArray = task !== '' && !isTask;
  const named: Partial<Record<string, string>> = {
    user: text('UserId')?.replace(/\(\d+\)$/, ''),
    account: text('Account'),
    partition: text('Partition'),
    qos: text('QOS'),
    name: text('JobName'),
    comment: text('Comment'),
    adminComment: text('AdminComment'),
    wckey: text('WCKey'),
    reservation: text('Reservation'),
    reason: text('Reason')?.split(' ', 1)[0],
  };
  return {
    jobId: isPendingArray
      ? String(arrayJob ?? jobId)
      : shownJobId(
          Number(jobId),
          { ...(arrayJob !== undefined && { jobId: arrayJob }), ...(isTask && { taskId: Number(task) }) },
          { ...(hetJob !== undefined && { jobId: hetJob }), ...(hetOffset !== undefined && { offset: hetOffset }) },
        ),
    state,
    nodes,
    ...(submit !== undefined && { submit }),
    // The end of a running job is a plan, and so is the start of a waiting one.
    ...(start !== undefined && !isWaiting(state) && { start }),
    ...(end !== undefined && !isGoingOn(state) && !isWaiting(state) && { end }),
    ...(elapsedS !== undefined && { elapsedS }),
    ...(allocated !== undefined && state !== 'PENDING' && { allocated }),
    ...(requested !== undefined && { requested }),
    ...(cpus !== undefined && { cpus }),
    ...(perNode !== undefined && { perNode }),
    ...(restarts !== undefined && { restarts }),
    ...(isPendingArray && { pendingTasks: task }),
    ...(Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)) as Partial<SlurmJob>),
  };
}

/** Every machine of a group has the same places: `Nodes=gpu-[01-02] … GRES=gpu:h100:2(IDX:0-1)`. */
function detailsOf(details: readonly ReadonlyMap<string, string>[]): readonly NodeGpus[] | undefined {
  const known = new Map<string, NodeGpus>();
  for (const detail of details) {
    const items = parseGres(detail.get('GRES') ?? detail.get('GRES_IDX') ?? '');
    const nodes = expandNodeList(detail.get('Nodes') ?? '');
    if (items === undefined || nodes === undefined || items.length === 0) continue;
    for (const node of nodes) known.set(node, { node, items: [...(known.get(node)?.items ?? []), ...items] });
  }
  return known.size === 0 ? undefined : [...known.values()];
}
