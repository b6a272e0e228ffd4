import { textOf } from '../../facts/source.ts';
import type { FactRow, FactRows, Haul, Source, SourceKind } from '../../facts/source.ts';
import type { KnownNode } from '../../facts/source-record.ts';

/**
 * One machine, one name. An exporter says `gpu-01.lab.example` where the scheduler says `gpu-01`; a cloud lists as `i-0ab…` what a
 * cluster lists as one of its nodes. Under two names the machine would be paid for twice.
 */
export interface NodeNames {
  /** The name an inventory of higher or equal standing gives the machine; as it is where none does. */
  nameOf(nodeId: string): string;
  /** An inventory of higher standing than the source lists the machine, under this name or as this resource. */
  isListedBetter(nodeId: string): boolean;
  isKnown(nodeId: string): boolean;
}

/** Sources that see machines from inside and list none: every inventory knows their names better. */
const TELEMETRY: ReadonlySet<SourceKind> = new Set(['prometheus', 'scrape', 'local']);

export function nodeNames(source: Pick<Source, 'name' | 'kind' | 'priority'>, known: readonly KnownNode[]): NodeNames {
  const isTelemetry = TELEMETRY.has(source.kind);
  const others = known.filter(
    (node) => node.source !== source.name && (isTelemetry || node.priority >= source.priority),
  );
  const exact = new Set(others.map(({ nodeId }) => nodeId));
  const byShortName = new Map<string, string | undefined>();
  const byResource = new Map<string, string>();
  for (const { nodeId, resourceId, alias } of others) {
    const short = shortName(nodeId);
    const before = byShortName.get(short);
    // Two machines with one short name cannot be told apart by it.
    byShortName.set(short, byShortName.has(short) && before !== nodeId ? undefined : nodeId);
    if (resourceId !== undefined) byResource.set(lastSegment(resourceId), nodeId);
    if (alias !== undefined) byShortName.set(shortName(alias), byShortName.get(shortName(alias)) ?? nodeId);
  }
  const nameOf = (nodeId: string): string => {
    if (nodeId === '' || exact.has(nodeId)) return nodeId;
    return byResource.get(lastSegment(nodeId)) ?? byShortName.get(shortName(nodeId)) ?? nodeId;
  };
  const better = new Set(
    others.filter(({ priority }) => isTelemetry || priority > source.priority).map(({ nodeId }) => nodeId),
  );
  return {
    nameOf,
    isListedBetter: (nodeId) => better.has(nameOf(nodeId)),
    isKnown: (nodeId) => exact.has(nameOf(nodeId)),
  };
}

/** `GPU-01.lab.example` and `gpu-01` are one machine. An address is not shortened. */
function shortName(nodeId: string): string {
  if (/^[\d.]+$/.test(nodeId)) return nodeId;
  return (nodeId.split('.')[0] ?? nodeId).toLowerCase();
}

function lastSegment(resourceId: string): string {
  return (resourceId.split('/').at(-1) ?? resourceId).toLowerCase();
}

/** A haul in the names of the inventories. What a better inventory lists is not listed again. */
export function withNodeNames(haul: Haul, names: NodeNames): Haul {
  return {
    ...haul,
    facts: haul.facts.map((facts) => renamed(facts, names)),
    ...(haul.bindings !== undefined && {
      bindings: haul.bindings.map((binding) => ({ ...binding, nodeId: names.nameOf(binding.nodeId) })),
    }),
  };
}

function renamed(facts: FactRows, names: NodeNames): FactRows {
  const nodeOf = (row: FactRow): string => textOf(row, 'node_id');
  const keeps = facts.rows.map((row) => {
    if (facts.table === 'node') return !names.isListedBetter(nodeOf(row));
    // What runs on a machine of a cluster is told by the cluster, not by who rents the machine.
    if (facts.table === 'allocation') return row['workload_kind'] !== 'VM' || !names.isListedBetter(nodeOf(row));
    return true;
  });
  return {
    ...facts,
    rows: facts.rows
      .filter((_, index) => keeps[index])
      .map((row) => (row['node_id'] === undefined ? row : { ...row, node_id: names.nameOf(nodeOf(row)) })),
    ...(facts.hints !== undefined && { hints: facts.hints.filter((_, index) => keeps[index]) }),
  };
}

/** A cloud knows its machine's host name too, which is what an exporter on it says. */
function aliasOf({ tags }: FactRow): { alias?: string } {
  const alias = typeof tags === 'object' && tags !== null && !(tags instanceof Date) ? tags[HOST_NAME_TAG] : undefined;
  return alias === undefined || alias === '' ? {} : { alias };
}

const HOST_NAME_TAG = 'aws:private-dns-name';

/** The machines a haul lists as an inventory does. */
export function listedNodes(haul: Haul, source: Pick<Source, 'name' | 'priority'>): KnownNode[] {
  return haul.facts
    .filter(({ table }) => table === 'node')
    .flatMap(({ rows }) => rows)
    .filter((row) => row['presence'] !== 'inferred')
    .map((row) => ({
      nodeId: textOf(row, 'node_id'),
      ...(typeof row['resource_id'] === 'string' && { resourceId: row['resource_id'] }),
      ...aliasOf(row),
      priority: source.priority,
      source: source.name,
    }));
}
