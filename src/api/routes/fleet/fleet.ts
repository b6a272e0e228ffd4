import { z } from 'zod';
import { parseFilters } from '../../../app/filter.ts';
import type { Filter } from '../../../app/filter.ts';
import { fleetRows, gpusIn } from '../../../app/fleet/fleet-sums.ts';
import type { FleetPart, FleetRow } from '../../../app/fleet/fleet-sums.ts';
import { moneyWindow } from '../../../app/window.ts';
import type { LedgerWindow } from '../../../app/window.ts';
import { gpuSeconds, isoTime } from '../../../report/figures.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { route } from '../../route.ts';
import type { Asked } from '../../route.ts';
import { AsOf, Filter as FilterText, Instant, Micros, NoParams } from '../question.ts';
import { microsOf, microsText } from '../../plain-json.ts';

/** Above this many, GPUs are listed only of the machine that is asked for. */
export const LISTED_GPUS_MAX = 2000;

export const MapWindow = z.string().default('today').meta({
  description: 'today is the last day of the data; also 2026-11-14, 7d, 30d, FROM/UNTIL; UTC',
});
export const MapNode = z.string().optional().meta({ description: 'Only this machine, GPU by GPU' });

const Query = z.object({ window: MapWindow, asOf: AsOf, filter: FilterText, node: MapNode });

const Sums = z.object({
  gpus: z.number().meta({ description: 'GPUs; slices of one count once' }),
  costUsdMicros: Micros.nullable(),
  activeUsdMicros: Micros.nullable().meta({
    description: 'Held while the GPU did something: computing, starved and lost; null where nothing of it has a price',
  }),
  idleUsdMicros: Micros.nullable(),
  unallocatedUsdMicros: Micros.nullable(),
  unknownUsdMicros: Micros.nullable(),
  unpricedSeconds: z.number(),
  activeUnpricedSeconds: z
    .number()
    .meta({ description: 'GPU time in it that has no price: the amount is a lower bound' }),
  idleUnpricedSeconds: z.number(),
  unallocatedUnpricedSeconds: z.number(),
  unknownUnpricedSeconds: z.number(),
  heldSeconds: z.number(),
  knownSeconds: z.number().meta({ description: 'Held and measured, of slices and sharers each by itself' }),
  activePermille: z.number().nullable().meta({ description: 'Mean of the SMs over the time held and measured' }),
});
const Device = Sums.extend({ deviceId: z.string() });
const Node = Sums.extend({
  node: z.string().nullable(),
  state: z.string().nullable(),
  devices: z.array(Device).meta({ description: 'Empty where there are too many GPUs: ask with node=' }),
});
const Group = Sums.extend({
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  purchases: z.array(z.string()),
  nodes: z.array(Node),
});
const Fleet = z.object({
  window: z.object({ from: Instant, until: Instant }),
  asOf: Instant,
  newestFactAt: Instant.nullable(),
  hasGpus: z.boolean().meta({ description: 'Whether GPUs are listed one by one' }),
  total: Sums,
  groups: z.array(Group),
});
export type FleetReply = z.infer<typeof Fleet>;
export type FleetSumsReply = z.infer<typeof Sums>;

/** The window and filters of the map, and whether its GPUs are listed one by one. */
export async function askedMap({
  space,
  now,
  clock,
  query,
}: Asked<{ window: string; filter?: string | undefined; node?: string | undefined }, object>): Promise<{
  readonly window: LedgerWindow;
  readonly filters: readonly Filter[];
  readonly gpus: number;
}> {
  const window = moneyWindow(query.window, now, clock, space.scope);
  const node = query.node === undefined ? [] : parseFilters([`node=${escaped(query.node)}`]);
  const filters = [...parseFilters(query.filter === undefined ? [] : [query.filter]), ...node];
  return { window, filters, gpus: await gpusIn(space, window, filters) };
}

const escaped = (value: string): string => value.replaceAll(/[\\,|]/g, String.raw`\$&`);

export const fleetRoute = route({
  path: '/api/v1/fleet',
  name: 'getFleet',
  summary: 'What every machine and GPU cost in a window, and how active it was',
  page: 'fleet',
  access: { role: 'viewer', sees: 'fleet' },
  query: Query,
  params: NoParams,
  reply: Fleet,
  command: ({ window, filter, node }) =>
    [
      `bursar spend --by device,category --window ${shellWord(window)}`,
      ...(filter === undefined ? [] : [`--filter ${shellWord(filter)}`]),
      ...(node === undefined ? [] : [`--filter ${shellWord(`node=${escaped(node)}`)}`]),
    ].join(' '),
  answer: async (asked) => {
    const { window, filters, gpus } = await askedMap(asked);
    const hasGpus = gpus <= LISTED_GPUS_MAX;
    const rows = await fleetRows(asked.space, { window, filters, withGpus: hasGpus });
    return {
      window: { from: isoTime(window.from), until: isoTime(window.until) },
      asOf: isoTime(asked.now.at),
      newestFactAt: asked.space.scope === undefined ? null : isoTime(asked.space.scope.horizon),
      hasGpus,
      total: sumsOf(rows),
      groups: groupsOf(rows),
    };
  },
  csv: ({ groups }) =>
    [
      csvLine(CSV_COLUMNS),
      ...groups.flatMap(({ cluster, model, nodes }) =>
        nodes.flatMap(({ node, devices, ...sums }) =>
          (devices.length === 0 ? [{ ...sums, deviceId: null }] : devices).map((each) =>
            csvLine([
              cluster,
              model,
              node,
              each.deviceId,
              microsOf(each.costUsdMicros),
              microsOf(each.activeUsdMicros),
              microsOf(each.idleUsdMicros),
              microsOf(each.unallocatedUsdMicros),
              microsOf(each.unknownUsdMicros),
              each.unpricedSeconds,
              each.activePermille,
            ]),
          ),
        ),
      ),
    ].join(''),
});

const CSV_COLUMNS = [
  'cluster',
  'model',
  'node',
  'device',
  'costUsdMicros',
  'activeUsdMicros',
  'idleUsdMicros',
  'unallocatedUsdMicros',
  'unknownUsdMicros',
  'unpricedSeconds',
  'activePermille',
];

function groupsOf(rows: readonly FleetRow[]): FleetReply['groups'] {
  return [...groupedBy(rows, ({ cluster, model }) => JSON.stringify([cluster, model])).values()].map((group) => ({
    cluster: group[0]?.cluster ?? null,
    model: group[0]?.model ?? null,
    purchases: [...new Set(group.flatMap(({ purchases }) => purchases?.split(' ') ?? []))]
      .filter((word) => word !== '')
      .toSorted(),
    ...sumsOf(group),
    nodes: [...groupedBy(group, ({ nodeId }) => nodeId ?? '').values()].map((node) => ({
      node: node[0]?.nodeId ?? null,
      state: node[0]?.state ?? null,
      ...sumsOf(node),
      devices: node.flatMap((row) => (row.deviceId === null ? [] : [{ deviceId: row.deviceId, ...sumsOf([row]) }])),
    })),
  }));
}

function groupedBy(rows: readonly FleetRow[], keyOf: (row: FleetRow) => string): Map<string, FleetRow[]> {
  const groups = new Map<string, FleetRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function sumsOf(rows: readonly FleetRow[]): FleetSumsReply {
  const sum = (of: (row: FleetRow) => bigint): bigint => rows.reduce((total, row) => total + of(row), 0n);
  // Null only where there is something of it and none of that has a price.
  const part = (of: (row: FleetRow) => FleetPart): string | null => {
    const micros = sum((row) => of(row).usdMicros ?? 0n);
    return microsText(micros === 0n && rows.some((row) => of(row).unpricedUnits > 0n) ? null : micros);
  };
  const isPriced = rows.some(({ usdMicros }) => usdMicros !== null);
  const [known, weighed] = [sum((row) => row.knownSeconds), sum((row) => row.weighed)];
  return {
    gpus: rows.reduce((total, { gpus }) => total + gpus, 0),
    costUsdMicros: microsText(isPriced ? sum(({ usdMicros }) => usdMicros ?? 0n) : rows.length === 0 ? 0n : null),
    activeUsdMicros: part(({ active }) => active),
    idleUsdMicros: part(({ idle }) => idle),
    unallocatedUsdMicros: part(({ unallocated }) => unallocated),
    unknownUsdMicros: part(({ unknown }) => unknown),
    unpricedSeconds: gpuSeconds(sum((row) => row.unpricedUnits)),
    activeUnpricedSeconds: gpuSeconds(sum(({ active }) => active.unpricedUnits)),
    idleUnpricedSeconds: gpuSeconds(sum(({ idle }) => idle.unpricedUnits)),
    unallocatedUnpricedSeconds: gpuSeconds(sum(({ unallocated }) => unallocated.unpricedUnits)),
    unknownUnpricedSeconds: gpuSeconds(sum(({ unknown }) => unknown.unpricedUnits)),
    heldSeconds: gpuSeconds(sum((row) => row.heldUnits)),
    knownSeconds: Number(known),
    activePermille: known === 0n ? null : Number(weighed / known),
  };
}
