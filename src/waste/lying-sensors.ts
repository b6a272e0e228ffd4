import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { sqlCount, sqlDay } from '../facts/sql-row.ts';
import { ofWholeGpus, placed } from './placed-sql.ts';
import { commentLine } from './stop-command.ts';
import { countWords, gpuHourWords, someWords } from './wording.ts';

const LIES = ['profiling', 'power', 'stuck'] as const;

/** A GPU under one holder whose signals contradict each other. */
const Contradiction = z.object({
  lie: z.enum(LIES),
  cluster: z.string().nullable(),
  subject: z.string(),
  deviceId: z.string(),
  nodeId: z.string().nullable(),
  firstDay: sqlDay,
  lastDay: sqlDay,
  unknownS: sqlCount,
  samples: sqlCount,
  powerMax: sqlCount.nullable(),
});
type Contradiction = z.infer<typeof Contradiction>;

const SQL = `
  WITH told AS (
    SELECT subject, device_id, node_id, cluster, day, ${ofWholeGpus('s', 'unknown_s')} AS unknown_s, lying_samples, power_w_max,
           CASE WHEN lying_samples * 1000 >= samples * $lyingPermilleMin AND lying_samples >= $lyingSamplesMin THEN 'profiling'
                WHEN lying_samples = 0 AND computing_s = 0 AND idle_s > 0 AND unknown_s * 1000 > held_s * $unknownPermilleMin
                  AND power_w_max * 10 > power_w_min * 13 THEN 'power'
                WHEN power_w_max = power_w_min AND computing_s >= $stuckSeconds AND idle_s >= $stuckSeconds THEN 'stuck' END AS lie
    FROM stint_day s WHERE samples > 0
  ), found AS (
    SELECT lie, subject, device_id, min(node_id) AS node_id, min(cluster) AS cluster, min(day) AS first_day, max(day) AS last_day,
           CAST(sum(unknown_s) AS BIGINT) AS unknown_s, CAST(sum(lying_samples) AS BIGINT) AS samples, max(power_w_max) AS power_max
    FROM told WHERE lie IS NOT NULL AND subject NOT IN (
      SELECT 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) FROM holding WHERE device_id IS NULL AND node_id <> ''
    ) GROUP BY lie, subject, device_id
  ), ${placed('found')}
  SELECT f.lie, k.cluster, f.subject, f.device_id AS "deviceId", f.node_id AS "nodeId", f.first_day AS "firstDay",
         f.last_day AS "lastDay", f.unknown_s AS "unknownS", f.samples, f.power_max AS "powerMax"
  FROM found f LEFT JOIN known k ON f.subject = k.subject ORDER BY f.lie, f.device_id, f.subject`;

/**
 * Question: which sensors say things that cannot all be true?
 *
 * Profiling fields that read 0 beside a utilisation of a half and more, power far above rest while nothing is said to run, power that does
 * not move while work comes and goes. Such time is unknown, never idle: this says what it costs not to know. Of jobs that hold GPUs by count nobody knows
 * whose sensors they are: nothing is said of them.
 *
 * Reads: stint_day, holding, subject.
 */
export const lyingSensors = detector({
  name: 'lying-sensors',
  title: 'sensors that contradict each other',
  category: 'unknown',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 0,
  blast: 'Nothing that runs is touched: only the exporter, or a profiler that was left on.',
  effort: 'one command for each node',
  options: z.object({
    lyingPermilleMin: z.number().int().default(20), // A sample at the edge of a run may disagree.
    lyingSamplesMin: z.number().int().default(3), // One or two are chance.
    unknownPermilleMin: z.number().int().default(50), // Below this nothing is lost by it.
    stuckHours: z.number().default(2), // Work and rest of that length draw different power.
    gpuHoursMin: z.number().default(4), // Less is one profiler's run.
  }),
  ask: ({ lyingPermilleMin, lyingSamplesMin, unknownPermilleMin, stuckHours }) => ({
    contradictions: {
      row: Contradiction,
      tables: ['stint_day', 'holding', 'subject'],
      params: { lyingPermilleMin, lyingSamplesMin, unknownPermilleMin, stuckSeconds: Math.round(stuckHours * 3600) },
      sql: SQL,
    },
  }),
  judge: ({ contradictions }, { options }) => {
    const groups = new Map<string, Contradiction[]>();
    for (const each of contradictions) {
      const key = `${each.cluster ?? ''}/${each.lie}`;
      groups.set(key, [...(groups.get(key) ?? []), each]);
    }
    return [...groups].flatMap(([about, group]) => {
      const unknownS = group.reduce((sum, each) => sum + each.unknownS, 0);
      const isStuck = group[0]?.lie === 'stuck';
      return isStuck || unknownS >= options.gpuHoursMin * 3600 ? [claimOf(about, group, unknownS)] : [];
    });
  },
});

function claimOf(about: string, group: readonly Contradiction[], unknownS: number): Claim {
  const lie = group[0]?.lie ?? 'profiling';
  const cluster = group[0]?.cluster ?? null;
  const devices = [...new Set(group.map(({ deviceId }) => deviceId))];
  const nodes = [...new Set(group.flatMap(({ nodeId }) => nodeId ?? []))].toSorted();
  const days = `${group.map(({ firstDay }) => firstDay).toSorted()[0]} to ${group
    .map(({ lastDay }) => lastDay)
    .toSorted()
    .at(-1)}`;
  const gpus = `${countWords(devices.length, 'GPU')}${cluster === null ? '' : ` of ${cluster}`}`;
  const where = `${someWords(nodes.length > 0 ? nodes : devices)}, ${days}`;
  return {
    about,
    ownerSubject: null,
    what: `${gpus}: ${wordsOf(lie)}`,
    because: [
      lie === 'profiling'
        ? `Engine and SM read 0 beside a GPU_UTIL of 50 % and more in ${countWords(
            group.reduce((sum, { samples }) => sum + samples, 0),
            'sample',
          )}: ${where}.`
        : lie === 'power'
          ? `Power up to ${Math.max(...group.map(({ powerMax }) => powerMax ?? 0))} W, more than these GPUs draw at rest, also with memory held, while every activity field reads 0: ${where}.`
          : `One and the same power for a day in which work came and went: ${where}.`,
      lie === 'stuck'
        ? 'Power is the second signal of every verdict on these GPUs, and says nothing.'
        : `${gpuHourWords(unknownS)} count as unknown for it, not as idle.`,
    ],
    fix: fixOf(lie),
    unless:
      lie === 'profiling'
        ? 'Somebody measured with Nsight or DCGM’s own profiler in that time: only one can.'
        : 'A job draws power without the parts these fields watch (copies, encoders).',
    takes:
      lie === 'stuck'
        ? []
        : group.map(({ subject, deviceId, firstDay, lastDay }) => ({
            subject,
            deviceId,
            firstDay,
            lastDay,
            category: 'unknown',
          })),
    ...(lie === 'stuck' && { isQuestion: true }),
  };
}

function wordsOf(lie: (typeof LIES)[number]): string {
  switch (lie) {
    case 'profiling':
      return 'profiling reads 0 while utilisation is high';
    case 'power':
      return 'power is above rest while all activity reads 0';
    case 'stuck':
      return 'power does not move while work comes and goes';
  }
}

function fixOf(lie: (typeof LIES)[number]): string[] {
  if (lie === 'profiling')
    return [
      commentLine('a profiler that was left on keeps the counters from DCGM:'),
      'dcgmi profile --resume',
      'sudo systemctl restart nvidia-dcgm-exporter',
    ];
  return ['nvidia-smi -q -d POWER,UTILIZATION', 'sudo systemctl restart nvidia-dcgm-exporter'];
}
