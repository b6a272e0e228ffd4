import { expandNodeList } from './node-list.ts';
import type { SacctLayout, SacctRow } from './sacct-layout.ts';
import type { LeftOut, SlurmJob } from './slurm-job.ts';
import { heldSeconds, STEP_ROW } from './slurm-job.ts';
import { isGoingOn, readState } from './job-state.ts';
import type { SlurmClock } from './slurm-time.ts';
import { durationSeconds } from './slurm-time.ts';
import type { Tres } from './tres.ts';
import { parseGres, parseTres } from './tres.ts';

/**
 * The columns Bursar asks `sacct` for, as far as the version has them. Something people did not choose stands last: a row is whole
 * when it is there, whatever line breaks came before it.
 */
export const WANTED_COLUMNS = [
  'JobID',
  'Cluster',
  'User',
  'Account',
  'Partition',
  'QOS',
  'State',
  'ExitCode',
  'Submit',
  'Start',
  'End',
  'ElapsedRaw',
  'Suspended',
  'NNodes',
  'NCPUS',
  'NodeList',
  'ReqTRES',
  'AllocTRES',
  'Restarts',
  'Reservation',
  'WCKey',
  'AdminComment',
  'Comment',
  'SubmitLine',
  'JobName',
  'JobIDRaw',
] as const;

const JOB_ID = /^\d+(?:_(?:\d+|\[[^\]]*\]?)|\+\d+)?$/;
const EMPTY = new Set(['', 'none', '(null)', 'n/a', 'unknown']);

/** Reads rows of `sacct -P`, whatever their columns, as lives of jobs. */
export function sacctReader(layout: SacctLayout, clock: SlurmClock): (row: SacctRow) => SlurmJob | LeftOut {
  const at = {
    id: layout.place('jobid', 'jobidraw'),
    state: layout.place('state'),
    submit: layout.place('submit'),
    start: layout.place('start'),
    end: layout.place('end'),
    elapsed: layout.place('elapsedraw', 'elapsed'),
    suspended: layout.place('suspended'),
    nodeList: layout.place('nodelist'),
    restarts: layout.place('restarts'),
    cpus: layout.place('alloccpus', 'ncpus'),
    nodes: layout.place('allocnodes', 'nnodes'),
    allocTres: layout.place('alloctres'),
    reqTres: layout.place('reqtres'),
    allocGres: layout.place('allocgres'),
    reqGres: layout.place('reqgres'),
  };
  const texts = {
    cluster: layout.place('cluster'),
    user: layout.place('user', 'uid'),
    account: layout.place('account'),
    partition: layout.place('partition'),
    qos: layout.place('qos'),
    name: layout.place('jobname'),
    comment: layout.place('comment'),
    submitLine: layout.place('submitline'),
    adminComment: layout.place('admincomment'),
    wckey: layout.place('wckey'),
    reservation: layout.place('reservation'),
    exitCode: layout.place('exitcode'),
    reason: layout.place('reason'),
  };
  return ({ fields }) => {
    const value = (place: number): string => (place < 0 ? '' : (fields[place] ?? '').trim());
    const jobId = value(at.id);
    if (/^\d+(?:[_+]\d+)?\.\S+$/.test(jobId)) return { leftOut: STEP_ROW };
    if (!JOB_ID.test(jobId)) return { leftOut: 'rows without the id of a job' };
    const stateText = value(at.state);
    const state = readState(stateText);
    if (stateText !== '' && state === undefined) return { leftOut: 'rows with a state that Slurm does not have' };
    const times = timesOf(
      clock,
      { submit: value(at.submit), start: value(at.start), end: value(at.end) },
      { elapsedS: durationSeconds(value(at.elapsed)), suspendedS: durationSeconds(value(at.suspended)) },
      state,
    );
    if (times === undefined) return { leftOut: 'rows with a time that cannot be read' };
    const nodes = expandNodeList(value(at.nodeList));
    if (nodes === undefined) return { leftOut: 'rows with a node list that cannot be read' };
    const resources = resourcesOf(value, at, nodes.length);
    const restarts = numberOf(value(at.restarts));
    return {
      jobId,
      ...(state !== undefined && { state }),
      ...times,
      nodes,
      ...resources,
      ...(restarts !== undefined && { restarts }),
      ...textsOf(value, texts),
    };
  };
}

function textsOf<Name extends string>(
  value: (place: number) => string,
  places: Readonly<Record<Name, number>>,
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(places) as Name[]) {
    const text = value(places[name]);
    // A job may well be called "none".
    if (name === 'name' ? text !== '' : !EMPTY.has(text.toLowerCase())) found[name] = text;
  }
  return found;
}

function numberOf(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

interface TimeTexts {
  readonly submit: string;
  readonly start: string;
  readonly end: string;
}

interface Lengths {
  readonly elapsedS: number | undefined;
  readonly suspendedS: number | undefined;
}

type Times = Pick<SlurmJob, 'submit' | 'start' | 'end' | 'elapsedS' | 'suspendedS' | 'isAmbiguous'>;

/**
 * Start and end of a life. In the hour that autumn repeats, its length tells which of the two was meant; an end that is not
 * said follows from the length, unless the job still runs.
 */
function timesOf(clock: SlurmClock, texts: TimeTexts, lengths: Lengths, state: string | undefined): Times | undefined {
  const [submits, starts, ends] = [clock.read(texts.submit), clock.read(texts.start), clock.read(texts.end)];
  if (submits === undefined || starts === undefined || ends === undefined) return undefined;
  const { elapsedS, suspendedS } = lengths;
  const heldS = heldSeconds({
    ...(elapsedS !== undefined && { elapsedS }),
    ...(suspendedS !== undefined && { suspendedS }),
  });
  const span = spanOf(starts, ends, heldS);
  const isOver = state !== undefined && !isGoingOn(state);
  const end = span.end ?? (span.start !== undefined && heldS !== undefined && isOver ? span.start + heldS : undefined);
  const submit = submits.findLast((each) => span.start === undefined || each <= span.start) ?? submits[0];
  return {
    ...(submit !== undefined && { submit }),
    ...(span.start !== undefined && { start: span.start }),
    ...(end !== undefined && { end }),
    ...(elapsedS !== undefined && { elapsedS }),
    ...(suspendedS !== undefined && { suspendedS }),
    ...(span.isAmbiguous && { isAmbiguous: true }),
  };
}

function spanOf(
  starts: readonly number[],
  ends: readonly number[],
  heldS: number | undefined,
): { start?: number; end?: number; isAmbiguous: boolean } {
  const [start, end] = [starts[0], ends[0]];
  if (start === undefined) return { isAmbiguous: false };
  if (end === undefined) return { start, isAmbiguous: starts.length > 1 };
  if (starts.length === 1 && ends.length === 1) return { start, end, isAmbiguous: false };
  const pairs = starts.flatMap((from) => ends.map((until) => ({ start: from, end: until })));
  const fitting = pairs.find((pair) => pair.end - pair.start === heldS);
  if (fitting !== undefined) return { ...fitting, isAmbiguous: false };
  const forward = pairs.find((pair) => pair.end >= pair.start);
  return { ...(forward ?? { start, end }), isAmbiguous: true };
}

type Resources = Pick<SlurmJob, 'allocated' | 'requested' | 'cpus' | 'gpusAreRequested'>;
type Places = Readonly<Record<'cpus' | 'nodes' | 'allocTres' | 'reqTres' | 'allocGres' | 'reqGres', number>>;

function resourcesOf(value: (place: number) => string, at: Places, nodeCount: number): Resources {
  const cpus = numberOf(value(at.cpus));
  const nodes = nodeCount > 0 ? nodeCount : (numberOf(value(at.nodes)) ?? 1);
  // Before TRES there was GRES: what was allocated counts all machines, what was asked for counts each.
  const allocated = parseTres(value(at.allocTres)) ?? gresTotal(value(at.allocGres), 1);
  const requested = parseTres(value(at.reqTres)) ?? gresTotal(value(at.reqGres), nodes);
  return {
    ...(allocated !== undefined && { allocated }),
    ...(requested !== undefined && { requested }),
    ...(cpus !== undefined && { cpus }),
    ...(allocated === undefined && requested !== undefined && { gpusAreRequested: true }),
  };
}

function gresTotal(text: string, times: number): Tres | undefined {
  const items = text === '' ? undefined : parseGres(text);
  if (items === undefined || items.length === 0) return undefined;
  const gpuTypes = new Map<string, number>();
  let gpus = 0;
  for (const { type, count } of items) {
    gpus += count * times;
    if (type !== undefined) gpuTypes.set(type.toLowerCase(), (gpuTypes.get(type.toLowerCase()) ?? 0) + count * times);
  }
  return { gpus, gpuTypes };
}
