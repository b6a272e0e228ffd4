import { expandNodeList } from './node-list.ts';
import type { SlurmNode } from './slurm-node.ts';
import { gpusOf, nodeStateWords } from './slurm-node.ts';
import { parseGres } from './tres.ts';

const STATE =
  /^(?:idle|mix(?:ed)?|alloc(?:ated)?|down|drain(?:ed|ing)?|drng|comp(?:leting)?|resv|reserved|maint|planned|plnd|unk(?:nown)?|fail(?:ing)?|inval|power\w*|futr|future|boot|reboot\w*|error)[*~#$@^!%+-]*$/i;
const AVAILABLE = /^(?:up|down|drain|inact)$/i;
const CPUS = /^\d+\/\d+\/\d+\/(\d+)$/;
const NODE_NAME = /^[A-Za-z][\w.-]*(?:\[[\d,-]+\][\w.-]*)*$/;

/**
 * The machines a line of `sinfo` speaks of, in whatever format somebody chose; undefined where it names none with a state or a
 * size. Nothing says which column is which, so each is known by its shape.
 */
export function nodeFromSinfo(line: string): readonly SlurmNode[] | undefined {
  const fields = fieldsOf(line);
  const place = nodePlace(fields);
  const list = place === undefined ? undefined : fields[place.node];
  const names = list === undefined || !NODE_NAME.test(list) ? undefined : expandNodeList(list);
  const state = fields.findLast((field, index) => index !== place?.node && STATE.test(field));
  const cpus = fields.map((field) => CPUS.exec(field)?.[1]).find((count) => count !== undefined);
  if (place === undefined || names === undefined || names.length === 0) return undefined;
  if (state === undefined && cpus === undefined) return undefined;
  const gres = fields.find(
    (field) => /^gpu:/i.test(field) && !field.includes('IDX:') && parseGres(field) !== undefined,
  );
  const isWithout = gres === undefined && fields.includes('(null)');
  const partition = place.partition === undefined ? undefined : fields[place.partition]?.replace(/\*$/, '');
  const memory = CPUS.test(fields[3] ?? '') && /^\d+$/.test(fields[4] ?? '') ? Number(fields[4]) : undefined;
  const isOne = names.length === 1;
  return names.map((name) => ({
    name,
    states: state === undefined ? [] : nodeStateWords(state),
    ...(gres === undefined ? { models: [], ...(isWithout && { gpus: 0 }) } : gpusOf(gres)),
    partitions: partition === undefined ? [] : [partition],
    features: [],
    // CPUs of a list are those of all its machines together.
    ...(isOne && cpus !== undefined && { cpus: Number(cpus) }),
    ...(isOne && memory !== undefined && { memoryMib: memory }),
  }));
}

function fieldsOf(line: string): readonly string[] {
  const separator = line.includes('|') ? '|' : /\S\s+\S/.test(line.trim()) ? /\s+/ : ',';
  return line
    .trim()
    .split(separator)
    .map((field) => field.trim());
}

/** Where the node list stands, and its partition. */
function nodePlace(fields: readonly string[]): { node: number; partition?: number } | undefined {
  const isAvailable = (index: number): boolean => AVAILABLE.test(fields[index] ?? '');
  // sinfo as it comes: PARTITION AVAIL TIMELIMIT NODES STATE NODELIST
  if (fields.length === 6 && isAvailable(1) && STATE.test(fields[4] ?? '')) return { node: 5, partition: 0 };
  if ((isAvailable(1) && fields.length > 3) || (fields[1] === 'N/A' && isAvailable(3)))
    return { node: 2, partition: 0 };
  return fields.length < 2 || isAvailable(0) ? undefined : { node: 0 };
}
