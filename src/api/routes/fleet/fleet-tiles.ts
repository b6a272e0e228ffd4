import { z } from 'zod';
import { cells } from '../../../app/fleet/cells.ts';
import { MEASURES } from '../../../app/fleet/cell.ts';
import { mapStep, stepsOf } from '../../../app/fleet/map-step.ts';
import { TILE_LAYOUT, tileBytes } from '../../../app/fleet/tile-bytes.ts';
import { route } from '../../route.ts';
import { askedMap, LISTED_GPUS_MAX, MapNode, MapWindow } from './fleet.ts';
import { AsOf, Filter, NoParams } from '../question.ts';

const Query = z.object({
  window: MapWindow,
  asOf: AsOf,
  filter: Filter,
  node: MapNode,
  measure: z.enum(MEASURES).default('activity'),
  step: z
    .string()
    .optional()
    .meta({ description: '5m, 10m, 15m, 30m, 1h, 2h, 3h, 6h, 12h, 1d; chosen by the window where not said' }),
  rows: z.enum(['nodes', 'gpus']).optional().meta({ description: 'GPUs where there are at most 2,000, else machines' }),
});

export const fleetTilesRoute = route({
  path: '/api/v1/fleet/tiles',
  name: 'getFleetTiles',
  summary: 'What every GPU did in every step of a window, as bytes',
  page: 'fleet',
  access: { role: 'viewer', sees: 'fleet' },
  query: Query,
  params: NoParams,
  reply: z.string().meta({ description: TILE_LAYOUT, format: 'binary' }),
  answer: async () => TILE_LAYOUT,
  bytes: async (asked) => {
    const { window, filters, gpus } = await askedMap(asked);
    const { measure, step, rows = gpus > LISTED_GPUS_MAX ? 'nodes' : 'gpus', node } = asked.query;
    // The opened machine of a large fleet has the steps of the map it is opened in.
    const all =
      node === undefined ? gpus : (await askedMap({ ...asked, query: { ...asked.query, node: undefined } })).gpus;
    const stepSeconds = await mapStep(asked.space, step, { window, measure, gpus: all });
    const lines = await cells(asked.space, {
      window,
      measure,
      stepSeconds,
      filters,
      by: rows === 'nodes' ? 'node' : 'gpu',
    });
    return tileBytes({ from: window.from, stepSeconds, steps: stepsOf(window, stepSeconds), lines });
  },
});
