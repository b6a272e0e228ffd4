import { at, momentOf, numberOf, objectOf, textOf, wordsOf } from './json-value.ts';
import { expandNodeList } from './node-list.ts';
import type { ScontrolBlock } from './scontrol-text.ts';
import type { LeftOut } from './slurm-job.ts';
import type { SlurmClock } from './slurm-time.ts';
import { parseGres } from './tres.ts';

/** A machine as slurmctld knows it. Times are seconds since 1970. */
export interface SlurmNode {
  readonly name: string;
  /** Words in upper case: `IDLE`, `DRAIN`. */
  readonly states: readonly string[];
  readonly reason?: string;
  /** When the reason was given: when its state began, if it is out of service. */
  readonly reasonSince?: number;
  readonly cpus?: number;
  readonly memoryMib?: number;
  /** Undefined where the text has no word about resources. */
  readonly gpus?: number;
  readonly models: readonly string[];
  readonly shards?: number;
  readonly partitions: readonly string[];
  readonly features: readonly string[];
  readonly bootedAt?: number;
}

/** What slurmdbd remembers of a machine that was out of service; without a name it speaks of the whole cluster. */
export interface NodeEvent {
  readonly node?: string;
  readonly cluster?: string;
  readonly from: number;
  /** Undefined while it lasts. */
  readonly until?: number;
  readonly states: readonly string[];
  readonly reason?: string;
}

type NodeState = 'up' | 'down' | 'drained' | 'spare';

const DOWN = [
  'DOWN',
  'FAIL',
  'FAILING',
  'ERROR',
  'UNKNOWN',
  'NO_RESPOND',
  'NOT_RESPONDING',
  'INVALID_REG',
  'REBOOTING',
];
const DRAINED = ['DRAIN', 'DRAINED', 'DRAINING', 'MAINT', 'MAINTENANCE', 'BLOCKED'];
const SPARE = ['RESERVED', 'RESV'];
/** Not there at all: a cloud machine that is switched off, or one that is only planned. */
const ABSENT = ['POWERED_DOWN', 'POWERING_DOWN', 'POWER_DOWN', 'POWERED_OFF', 'FUTURE'];

/**
 * Whether work can run there. Machines in maintenance were taken out on purpose, as drained ones were; reserved ones are
 * kept for somebody.
 */
export function nodeState(states: readonly string[]): NodeState | 'absent' {
  const has = (words: readonly string[]): boolean => states.some((state) => words.includes(state));
  if (has(ABSENT)) return 'absent';
  if (has(DOWN)) return 'down';
  if (has(DRAINED)) return 'drained';
  return has(SPARE) ? 'spare' : 'up';
}

const MARKS: Readonly<Record<string, string>> = {
  '*': 'NOT_RESPONDING',
  '~': 'POWERED_DOWN',
  '!': 'POWERING_DOWN',
  '%': 'POWERING_DOWN',
  '#': 'POWERING_UP',
  $: 'MAINT',
  '^': 'REBOOTING',
  '@': 'REBOOT',
  '-': 'PLANNED',
};

/** `IDLE+DRAIN`, `down*`, `mixed-`, `drng`: words in upper case, marks as the words they stand for. */
export function nodeStateWords(text: string): readonly string[] {
  return text
    .trim()
    .toUpperCase()
    .split(/[+,]/)
    .flatMap((word) => {
      const [, stem = '', marks = ''] = /^([A-Z_]*)([^A-Z_]*)$/.exec(word) ?? [];
      const full = SHORT[stem] ?? stem;
      return [full, ...marks.split('').map((mark) => MARKS[mark] ?? '')].filter((each) => each !== '');
    });
}

const SHORT: Readonly<Record<string, string>> = {
  ALLOC: 'ALLOCATED',
  COMP: 'COMPLETING',
  DRNG: 'DRAINING',
  MIX: 'MIXED',
  PLND: 'PLANNED',
  UNK: 'UNKNOWN',
  FUTR: 'FUTURE',
  BOOT: 'REBOOTING',
};

/** GPUs and models of `gpu:h100:8(S:0-1),shard:32`. */
export function gpusOf(gres: string): Pick<SlurmNode, 'gpus' | 'models' | 'shards'> {
  const items = parseGres(gres) ?? [];
  const shards = /(?:^|,)shard(?::[A-Za-z]\w*)?:(\d{1,6})/.exec(gres)?.[1];
  return {
    gpus: items.reduce((sum, { count }) => sum + count, 0),
    models: [...new Set(items.flatMap(({ type }) => (type === undefined ? [] : [type])))],
    ...(shards !== undefined && { shards: Number(shards) }),
  };
}

/** One machine of `/slurm/…/nodes` or `scontrol show nodes --json`; older ones have one state and its flags apart. */
export function nodeFromJson(value: unknown): SlurmNode | LeftOut {
  const node = objectOf(value);
  const name = textOf(node?.['name']) ?? textOf(node?.['hostname']);
  if (node === undefined || name === undefined) return { leftOut: 'entries without the name of a node' };
  const states = [...wordsOf(node['state']), ...wordsOf(node['state_flags'])].flatMap((word) => nodeStateWords(word));
  const [cpus, memoryMib] = [numberOf(node['cpus']), numberOf(node['real_memory'])];
  const [bootedAt, reasonSince] = [momentOf(node['boot_time']), momentOf(node['reason_changed_at'])];
  const gres = node['gres'];
  return {
    name,
    states,
    ...(typeof gres === 'string' ? gpusOf(gres) : { models: [] }),
    partitions: wordsOf(at(node, 'partitions')),
    features: wordsOf(node['features']),
    ...optional({ reason: textOf(node['reason']), reasonSince, cpus, memoryMib, bootedAt }),
  };
}

/** One machine of `scontrol show nodes`. */
export function nodeFromScontrol({ values }: ScontrolBlock, clock: SlurmClock): SlurmNode | LeftOut {
  const name = values.get('NodeName') ?? '';
  if (!/^[\w.-]+$/.test(name)) return { leftOut: 'entries without the name of a node' };
  const [cpus, memoryMib] = ['CPUTot', 'RealMemory'].map((key) => numberOf(values.get(key)));
  const gres = values.get('Gres');
  const bootedAt = clock.read(values.get('BootTime') ?? '')?.[0];
  // `Reason=Kill task failed [root@2026-11-16T04:56:28]`
  const [, reason, said = ''] = /^(.*?)(?:\s*\[\S*@([\d:T-]+)\])?$/.exec(values.get('Reason') ?? '') ?? [];
  const reasonSince = clock.read(said)?.[0];
  const list = (key: string): readonly string[] => {
    const text = values.get(key) ?? '';
    return text === '' || text === '(null)' ? [] : text.split(',');
  };
  return {
    name,
    states: nodeStateWords(values.get('State') ?? ''),
    ...(gres === undefined ? { models: [] } : gpusOf(gres)),
    partitions: list('Partitions'),
    features: list('AvailableFeatures'),
    ...optional({ reason: textOf(reason), reasonSince, cpus, memoryMib, bootedAt }),
  };
}

function optional<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}

/** Rows of `sacctmgr -P show event`, given as values by column name in lower case. */
export function eventOf(values: ReadonlyMap<string, string>, clock: SlurmClock): readonly NodeEvent[] | LeftOut {
  const [from, until] = ['timestart', 'timeend'].map((name) => clock.read(values.get(name) ?? '')?.[0]);
  if (from === undefined) return { leftOut: 'events without a beginning' };
  const nodes = expandNodeList(values.get('nodename') ?? '');
  if (nodes === undefined) return { leftOut: 'events with a node list that cannot be read' };
  const event = {
    from,
    states: nodeStateWords(values.get('state') ?? ''),
    ...optional({ until, reason: textOf(values.get('reason')), cluster: textOf(values.get('cluster')) }),
  };
  return nodes.length === 0 ? [event] : nodes.map((node) => ({ ...event, node }));
}
