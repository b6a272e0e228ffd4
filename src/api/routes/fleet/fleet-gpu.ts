import { z } from 'zod';
import { mapStep } from '../../../app/fleet/map-step.ts';
import { oneGpu } from '../../../app/fleet/one-gpu.ts';
import { moneyWindow } from '../../../app/window.ts';
import { gpuSeconds, isoTime } from '../../../report/figures.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { route } from '../../route.ts';
import { MapWindow } from './fleet.ts';
import { instantText, microsText } from '../../plain-json.ts';
import { AsOf, Instant, Micros } from '../question.ts';

const Gpu = z.object({
  window: z.object({ from: Instant, until: Instant }),
  deviceId: z.string(),
  node: z.string().nullable(),
  place: z.number().meta({ description: 'Which of its machine’s it is, from 0' }),
  model: z.string().nullable(),
  cluster: z.string().nullable(),
  purchase: z.string().nullable(),
  state: z.string().nullable(),
  memoryMib: z.number().nullable().meta({ description: 'Memory of its model; null where the model is not known' }),
  health: z.object({
    samples: z.number(),
    throttledSamples: z.number(),
    lyingSamples: z.number().meta({ description: 'Samples whose signals contradict each other' }),
    xid: z.number().nullable(),
    lastKnownAt: Instant.nullable(),
  }),
  stepSeconds: z.number(),
  cells: z
    .string()
    .meta({ description: 'A letter for each step: 0–6 a level, f nobody has it, x not measured, - not there' }),
  hours: z.array(z.object({ hour: Instant, activePermille: z.number().nullable(), memoryMib: z.number().nullable() })),
  holders: z.array(
    z.object({
      isHeld: z.boolean(),
      source: z.string().nullable(),
      allocationId: z.string().nullable(),
      job: z.string().nullable(),
      team: z.string().nullable(),
      user: z.string().nullable(),
      from: Instant,
      until: Instant,
      activePermille: z.number().nullable(),
      costUsdMicros: Micros.nullable(),
      unpricedSeconds: z.number(),
    }),
  ),
  categories: z.array(
    z.object({
      category: z.string(),
      reason: z.string().nullable(),
      costUsdMicros: Micros.nullable(),
      gpuSeconds: z.number(),
      unpricedSeconds: z.number(),
    }),
  ),
  costUsdMicros: Micros.nullable(),
  unpricedSeconds: z.number(),
  findings: z.array(z.object({ number: z.number(), what: z.string(), state: z.string() })),
});
export type GpuReply = z.infer<typeof Gpu>;

export const fleetGpuRoute = route({
  path: '/api/v1/fleet/gpus/{gpu}',
  name: 'getGpu',
  summary: 'What one GPU did in a window, for whom, and where its money went',
  page: 'fleet',
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({ window: MapWindow, asOf: AsOf }),
  params: z.object({ gpu: z.string().min(1) }),
  reply: Gpu,
  command: ({ window }, { gpu }) =>
    `bursar spend --by category,reason --window ${shellWord(window)} --filter ${shellWord(`device=${gpu.replaceAll(/[\\,|]/g, String.raw`\$&`)}`)}`,
  answer: async ({ space, now, clock, query, params }) => {
    const window = moneyWindow(query.window, now, clock, space.scope);
    const stepSeconds = await mapStep(space, undefined, { window, measure: 'activity', gpus: 1 });
    const { place, health, hours, holders, categories, ...rest } = await oneGpu(space, params.gpu, window, stepSeconds);
    const priced = categories.flatMap(({ usdMicros }) => usdMicros ?? []);
    return {
      window: { from: isoTime(window.from), until: isoTime(window.until) },
      deviceId: place.deviceId,
      node: place.nodeId,
      place: place.place,
      model: place.model,
      cluster: place.cluster,
      purchase: place.purchase,
      state: place.state,
      memoryMib: rest.memoryMib,
      health: {
        samples: health.samples,
        throttledSamples: health.throttledSamples,
        lyingSamples: health.lyingSamples,
        xid: health.xid,
        lastKnownAt: health.lastSampleAt === null ? null : instantText(health.lastSampleAt),
      },
      stepSeconds,
      cells: rest.cells,
      hours: hours.map(({ at, ...hour }) => ({ hour: instantText(at), ...hour })),
      holders: holders.map(({ name, from, until, usdMicros, unpricedUnits, ...holder }) => ({
        ...holder,
        job: name,
        from: instantText(from),
        until: instantText(until),
        costUsdMicros: microsText(usdMicros),
        unpricedSeconds: gpuSeconds(unpricedUnits),
      })),
      categories: categories.map(({ category, reason, usdMicros, gpuUnits, unpricedUnits }) => ({
        category,
        reason,
        costUsdMicros: microsText(usdMicros),
        gpuSeconds: gpuSeconds(gpuUnits),
        unpricedSeconds: gpuSeconds(unpricedUnits),
      })),
      costUsdMicros: microsText(priced.length === 0 ? null : priced.reduce((sum, each) => sum + each, 0n)),
      unpricedSeconds: gpuSeconds(categories.reduce((sum, { unpricedUnits }) => sum + unpricedUnits, 0n)),
      findings: [...rest.findings],
    };
  },
});
