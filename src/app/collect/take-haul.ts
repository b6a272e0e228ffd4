import { textOf } from '../../facts/source.ts';
import { printTime } from '../../lake/calendar.ts';
import type { FactRow, FactRows, Haul, Source, SourceKind } from '../../facts/source.ts';
import type { SourceChange } from '../../facts/source-record.ts';
import type { WriteSpace } from '../workspace.ts';
import type { CollectRequest } from './collect.ts';
import { askedBindings, withDevices } from './holder-devices.ts';
import { listedNodes, nodeNames, withNodeNames } from './node-names.ts';
import type { NodeNames } from './node-names.ts';
import { keepUnnamed } from './waiting-holders.ts';
import type { HaulReport } from './write-haul.ts';
import { writeHaul } from './write-haul.ts';

/** Sources that say who holds what, and so also what is free. */
const SCHEDULERS: ReadonlySet<SourceKind> = new Set(['kubernetes', 'slurm', 'aws', 'gcp', 'azure']);

/** Batches of a first look, thinned out and soon replaced by the true samples. */
const LOOK_BATCH = 'look/';

/** Writes what a haul brought, in one name for each machine and with the devices of holdings named where telemetry knows them. */
export async function takeHaul(
  space: WriteSpace,
  source: Source,
  given: Haul,
  request: Pick<CollectRequest, 'onStep' | 'lookStepS'> & { readonly firstTriedAt: Date },
): Promise<{ report: HaulReport; learnt: Pick<SourceChange, 'bindings' | 'nodes'> }> {
  const names = nodeNames(source, space.sources.knownNodes());
  const haul = withNodeNames(given, names);
  const bindings = haul.bindings ?? [];
  const holders = haul.facts.filter(({ table, hints }) => table === 'allocation' && hints !== undefined);
  const known = [...space.sources.bindings(askedBindings(holders)), ...bindings];
  const facts = haul.facts.map((each) => {
    if (each.table === 'allocation') return withDevices(each, known);
    return each.table === 'device' ? withLastingDevices(space, each, names, bindings) : each;
  });
  keepUnnamed(space, source.name, holders, facts);
  const report = await writeHaul(space, source, { ...haul, facts }, request.onStep);
  if (SCHEDULERS.has(source.kind)) keepSpoken(space, source, haul, request.firstTriedAt);
  if (request.lookStepS === undefined) dropFirstLook(space, source.name);
  return { report, learnt: { bindings, nodes: listedNodes(haul, source) } };
}

/**
 * A device an exporter no longer shows is still in its machine while an inventory lists that: a dead exporter must not make cost
 * vanish. Only another device in its place says that it is gone.
 */
function withLastingDevices(
  space: WriteSpace,
  facts: FactRows,
  names: NodeNames,
  fresh: NonNullable<Haul['bindings']>,
): FactRows {
  const ended = facts.rows.filter((row) => row['present_until'] !== undefined && row['present_until'] !== null);
  const nodeIds = [...new Set(ended.map((row) => textOf(row, 'node_id')))].filter((nodeId) => names.isKnown(nodeId));
  if (nodeIds.length === 0) return facts;
  const places = [...space.sources.bindings({ nodeIds }), ...fresh];
  const isReplaced = (row: FactRow): boolean => {
    const own = places.filter(({ deviceId, gpuIndex }) => deviceId === row['device_id'] && gpuIndex !== undefined);
    const last = Math.max(...own.map(({ until }) => until.getTime()));
    return places.some(
      (each) =>
        each.deviceId !== row['device_id'] &&
        each.until.getTime() > last &&
        own.some(({ nodeId, gpuIndex }) => nodeId === each.nodeId && gpuIndex === each.gpuIndex),
    );
  };
  return {
    ...facts,
    rows: facts.rows.map((row) => {
      const isSlice = typeof row['parent_device_id'] === 'string';
      const lasts = nodeIds.includes(textOf(row, 'node_id')) && !isSlice && !isReplaced(row);
      return lasts ? { ...row, present_until: undefined } : row;
    }),
  };
}

function dropFirstLook({ manifest }: WriteSpace, sourceName: string): void {
  const looked = manifest.snapshot().batches.filter(({ name }) => name.startsWith(`${sourceName}/${LOOK_BATCH}`));
  if (looked.length > 0) manifest.commit({ dropBatches: looked.map(({ table, name }) => ({ table, name })) });
}

/** Notes in which span a scheduler has spoken for its clusters: what was free beyond it nobody knows. */
function keepSpoken({ manifest }: WriteSpace, source: Source, haul: Haul, firstTriedAt: Date): void {
  const { name, reads, priority, pollS } = source;
  const table = 'allocation';
  const batch = `${name}/spoken`;
  const before = manifest.snapshot().batches.find((each) => each.table === table && each.name === batch);
  const told = haul.facts
    .filter((facts) => facts.table === 'node' || facts.table === table)
    .flatMap(({ rows }) => rows.map((row) => textOf(row, 'cluster')));
  const clusters = [...new Set([...(before?.clusters ?? []), ...told])].filter((each) => each !== null && each !== '');
  if (clusters.length === 0) return;
  const from = printTime(haul.coveredFrom ?? firstTriedAt);
  const until = printTime(new Date(haul.coveredUntil.getTime() + 2 * pollS * 1000));
  const spoken = {
    from: before?.spoken !== undefined && before.spoken.from < from ? before.spoken.from : from,
    until: before?.spoken !== undefined && before.spoken.until > until ? before.spoken.until : until,
  };
  const times = { observedAt: spoken.until, firstAt: null, newestAt: null };
  manifest.commit({
    addBatches: [
      { table, name: batch, origin: batch, importedFrom: reads, priority, clusters, files: [], spoken, ...times },
    ],
  });
}
