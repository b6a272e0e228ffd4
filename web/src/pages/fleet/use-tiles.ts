import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { apiAddress, ask, askBytes } from '../../ask.ts';
import type { Problem, Query } from '../../ask.ts';
import type { FleetReply } from '../../../../src/api/routes/fleet/fleet.ts';
import type { Device } from './layout.ts';
import { readTile } from './tile.ts';
import type { Tile } from './tile.ts';

/** The map as bytes, read once. */
export function useTile(query: Query, isWanted: boolean): UseQueryResult<Tile, Problem> {
  const address = apiAddress('/fleet/tiles', query);
  return useQuery<Tile, Problem>({
    queryKey: ['answer', address],
    queryFn: async () => readTile(await askBytes(address)),
    placeholderData: keepPreviousData,
    enabled: isWanted,
  });
}

export type OpenedNodes = ReadonlyMap<string, { readonly devices: readonly Device[]; readonly tile: Tile }>;

/** GPUs of the machines that were opened, each asked for by itself. */
export function useOpenedNodes(query: Query, nodes: readonly string[]): OpenedNodes {
  return useQueries({
    queries: nodes.map((node) => {
      const tiles = apiAddress('/fleet/tiles', { ...query, node, rows: 'gpus' });
      const listed = apiAddress('/fleet', { window: query['window'], asOf: query['asOf'], node });
      return {
        queryKey: ['answer', tiles, listed],
        queryFn: async () => {
          const [bytes, reply] = await Promise.all([askBytes(tiles), ask<FleetReply>(listed)]);
          const devices = reply.data.groups.flatMap((group) => group.nodes.flatMap((each) => each.devices));
          return { node, devices, tile: readTile(bytes) };
        },
      };
    }),
    combine: toMap,
  });
}

function toMap(
  results: readonly UseQueryResult<{ node: string; devices: readonly Device[]; tile: Tile }>[],
): OpenedNodes {
  return new Map(results.flatMap(({ data }) => (data === undefined ? [] : [[data.node, data] as const])));
}
