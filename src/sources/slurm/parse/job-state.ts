/** Short forms that `sacct` and `squeue` print when they have little room. */
const SHORT: Readonly<Record<string, string>> = {
  BF: 'BOOT_FAIL',
  CA: 'CANCELLED',
  CD: 'COMPLETED',
  CF: 'CONFIGURING',
  CG: 'COMPLETING',
  DL: 'DEADLINE',
  F: 'FAILED',
  NF: 'NODE_FAIL',
  OOM: 'OUT_OF_MEMORY',
  PD: 'PENDING',
  PR: 'PREEMPTED',
  R: 'RUNNING',
  RQ: 'REQUEUED',
  RS: 'RESIZING',
  RV: 'REVOKED',
  S: 'SUSPENDED',
  TO: 'TIMEOUT',
};

type Outcome =
  'completed' | 'failed' | 'cancelled' | 'preempted' | 'timeout' | 'node-fail' | 'out-of-memory' | 'running';

/** How each state ends in the words of the ledger; undefined is a state that says nothing about an end. */
const OUTCOMES: Readonly<Record<string, Outcome | undefined>> = {
  BOOT_FAIL: 'node-fail',
  CANCELLED: 'cancelled',
  COMPLETED: 'completed',
  COMPLETING: 'running',
  CONFIGURING: 'running',
  DEADLINE: 'timeout',
  FAILED: 'failed',
  LAUNCH_FAILED: 'failed',
  NODE_FAIL: 'node-fail',
  OUT_OF_MEMORY: 'out-of-memory',
  PENDING: undefined,
  PREEMPTED: 'preempted',
  RECONFIG_FAIL: 'failed',
  // The job was sent back to the queue. Who did it, and whether its work was lost, the state does not say.
  REQUEUED: undefined,
  REQUEUE_FED: undefined,
  REQUEUE_HOLD: undefined,
  // The work goes on in the job's next record.
  RESIZING: undefined,
  RESV_DEL_HOLD: undefined,
  REVOKED: 'cancelled',
  RUNNING: 'running',
  SIGNALING: 'running',
  SPECIAL_EXIT: 'failed',
  STAGE_OUT: 'running',
  STOPPED: 'running',
  SUSPENDED: 'running',
  TIMEOUT: 'timeout',
};

const STATES = Object.keys(OUTCOMES);
/** States whose own word says more than the outcome it becomes. */
const TELLING = new Set([
  'BOOT_FAIL',
  'DEADLINE',
  'LAUNCH_FAILED',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'RESIZING',
  'REVOKED',
  'SPECIAL_EXIT',
  'SUSPENDED',
]);
/** The job has its machines. A suspended one has given back its CPUs, never its GPUs. */
const HOLDING = new Set(['RUNNING', 'SUSPENDED', 'CONFIGURING', 'STOPPED', 'RESIZING', 'SIGNALING']);
const WAITING = new Set(['PENDING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT', 'RESV_DEL_HOLD']);
const GOING_ON = new Set([...HOLDING, 'COMPLETING', 'STAGE_OUT']);

/** The state a text means: `CANCELLED by 1005`, `OUT_OF_ME+` (cut off), `CD`; undefined if Slurm has no such state. */
export function readState(text: string): string | undefined {
  const word = (text.trim().split(/[\s,]/, 1)[0] ?? '').toUpperCase();
  if (Object.hasOwn(OUTCOMES, word)) return word;
  if (Object.hasOwn(SHORT, word)) return SHORT[word];
  const stem = word.endsWith('+') ? word.slice(0, -1) : '';
  const [only, ...others] = stem.length < 4 ? [] : STATES.filter((state) => state.startsWith(stem));
  return others.length === 0 ? only : undefined;
}

/** The state of JSON replies: a word, or since 23.02 a list of one state and its flags. */
export function readStates(words: readonly string[]): string | undefined {
  const states = words.map((word) => readState(word)).filter((state) => state !== undefined);
  // A life that was sent back is listed as pending, with the flag that tells the truth.
  if (states[0] === 'PENDING' && states.includes('REQUEUED')) return 'REQUEUED';
  if (states[0] === 'RUNNING' && states.includes('COMPLETING')) return 'COMPLETING';
  return states[0];
}

export function outcomeOf(state: string): Outcome | undefined {
  return OUTCOMES[state];
}

/** The state as a label, where the outcome alone would lose something. */
export function tellingState(state: string): string | undefined {
  return TELLING.has(state) ? state : undefined;
}

export function isHolding(state: string): boolean {
  return HOLDING.has(state);
}

export function isWaiting(state: string): boolean {
  return WAITING.has(state);
}

/** Not over yet: an end that such a job shows is a plan. */
export function isGoingOn(state: string): boolean {
  return GOING_ON.has(state);
}

/** A life that ends so is usually followed by another one of the same job. */
export function mayLiveAgain(state: string): boolean {
  return ['PREEMPTED', 'REQUEUED', 'NODE_FAIL', 'BOOT_FAIL', 'REQUEUE_HOLD', 'SPECIAL_EXIT', 'RESIZING'].includes(
    state,
  );
}
