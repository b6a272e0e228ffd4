import { z } from 'zod';
import { detector, type Claim, type Take } from '../facts/detector.ts';
import { nameWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay, sqlTexts, sqlTime, textsInOne } from '../facts/sql-row.ts';
import { ofWholeGpus, placed } from './placed-sql.ts';
import { commentLine } from './stop-command.ts';
import { countWords, daysWords, gpuHourWords, someWords, timeWords } from './wording.ts';

const CAUSES = ['silent', 'fields', 'by-count'] as const;

/** GPUs of a cluster of which something is missing for the same cause, all that were seen in the window; slices count as the GPU they are of. */
const Gap = z.object({
  cluster: z.string().nullable(),
  cause: z.enum(CAUSES),
  source: z.string().nullable(),
  gpus: sqlCount,
  nodes: z.array(z.string().nullable()),
  unknownGpuS: sqlCount,
  firstDay: sqlDay,
  lastDay: sqlDay,
  /** GPUs of which nothing is known at the end of the window, and when the last of them was heard; null: not in the window. */
  missingNow: sqlCount,
  heardAt: sqlTime.nullable(),
  /** GPUs that were silent when they were last held, missing now or held by nobody since, and those of them whose machine is gone; where the others are, and when the last of all was heard. */
  unheard: sqlCount,
  gone: sqlCount,
  unheardNodes: z.array(z.string().nullable()).nullable(),
  unheardSince: sqlTime.nullable(),
});
type Gap = z.infer<typeof Gap>;

/** Holders with unknown time, each by the cause most of it has. */
const UnknownSubjects = z.object({
  cluster: z.string().nullable(),
  cause: z.enum(CAUSES),
  /** First day, last day, subject. */
  takes: sqlTexts,
});

/**
 * Days of a holder and device of which more is unknown than a scrape now and then. No sample at all is a silent exporter, samples of
 * which none says anything are missing fields; what disagrees with itself is said by lying-sensors.
 */
const UNKNOWN = `
  WITH counted AS (
    SELECT DISTINCT day, 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) AS subject
    FROM holding WHERE device_id IS NULL AND node_id <> ''
  ), unknown_day AS (
    SELECT s.day, s.subject, s.device_id, COALESCE(s.root_device_id, s.device_id) AS gpu_id, s.node_id, s.cluster, s.source, s.held_s, ${ofWholeGpus('s', 'unknown_s')} AS unknown_s,
           s.known_until, s.held_until,
           CASE WHEN s.samples > 0 AND c.subject IS NOT NULL THEN 'by-count'
                WHEN s.samples > 0 AND s.computing_s + s.idle_s = 0 THEN 'fields' ELSE 'silent' END AS cause
    FROM stint_day s LEFT JOIN counted c ON s.day = c.day AND s.subject = c.subject
    WHERE s.unknown_s > 0 AND s.unknown_s * 1000 > s.held_s * $unknownPermilleMin AND s.lying_samples = 0
  ), ${placed('unknown_day')}`;

/** GPUs of a cluster that say how long some kernel ran, and nothing of what it did meanwhile. */
const Blurred = z.object({
  cluster: z.string().nullable(),
  gpus: sqlCount,
  nodes: z.array(z.string().nullable()),
  computingGpuS: sqlCount,
});
type Blurred = z.infer<typeof Blurred>;

/** Profiling fields are means of time that computed: only such days can show that they are missing. */
const BLURRED = `
  WITH device AS (
    SELECT device_id, min(COALESCE(root_device_id, device_id)) AS gpu_id, min(cluster) AS cluster, min(node_id) AS node_id, CAST(sum(computing_s) AS BIGINT) AS computing_s
    FROM stint_day WHERE computing_s > 0 AND util_permille IS NOT NULL
    GROUP BY device_id HAVING count(engine_permille) = 0 AND count(sm_permille) = 0
  )
  SELECT cluster, count(DISTINCT gpu_id) AS gpus, array_agg(DISTINCT node_id ORDER BY node_id) AS nodes, CAST(sum(computing_s) AS BIGINT) AS "computingGpuS"
  FROM device GROUP BY cluster HAVING sum(computing_s) >= $computingSecondsMin ORDER BY cluster`;

const GAPS = `${UNKNOWN}, device AS (
    SELECT k.cluster, u.cause, u.device_id, min(u.gpu_id) AS gpu_id, min(u.node_id) AS node_id, min(u.source) AS source,
           CAST(sum(u.unknown_s) AS BIGINT) AS unknown_s, min(u.day) AS first_day, max(u.day) AS last_day,
           max(u.known_until) AS known_until, max(u.held_until) AS held_until
    FROM unknown_day u LEFT JOIN known k ON u.subject = k.subject GROUP BY k.cluster, u.cause, u.device_id
  ), heard AS (
    SELECT device_id, max(known_until) AS heard_at, max(held_until) AS last_held FROM stint_day
    WHERE device_id IN (SELECT device_id FROM device) GROUP BY device_id
  ), there AS (
    SELECT DISTINCT node_id FROM presence WHERE until_at >= $until - INTERVAL '1' HOUR
  ), judged AS (
    SELECT device.*, heard.heard_at, there.node_id IS NULL AND device.held_until < $until - INTERVAL '1' HOUR AS is_gone, device.held_until >= $until - INTERVAL '1' HOUR
             AND (device.known_until IS NULL OR date_diff('second', device.known_until, device.held_until) > $freshSeconds) AS is_missing,
           heard.heard_at IS NULL OR date_diff('second', heard.heard_at, heard.last_held) > $freshSeconds AS is_unheard
    FROM device JOIN heard ON device.device_id = heard.device_id LEFT JOIN there ON device.node_id = there.node_id
  )
  SELECT cluster, cause, min(source) AS source, count(DISTINCT gpu_id) AS gpus, array_agg(DISTINCT node_id ORDER BY node_id) AS nodes,
         CAST(sum(unknown_s) AS BIGINT) AS "unknownGpuS", min(first_day) AS "firstDay", max(last_day) AS "lastDay",
         count(DISTINCT CASE WHEN is_missing THEN gpu_id END) AS "missingNow",
         max(CASE WHEN is_missing THEN known_until END) AS "heardAt", count(DISTINCT CASE WHEN is_unheard THEN gpu_id END) AS unheard,
         count(DISTINCT CASE WHEN is_unheard AND is_gone THEN gpu_id END) AS gone,
         array_agg(DISTINCT node_id ORDER BY node_id) FILTER (WHERE is_unheard AND NOT is_gone) AS "unheardNodes", max(CASE WHEN is_unheard THEN heard_at END) AS "unheardSince"
  FROM judged GROUP BY cluster, cause HAVING sum(unknown_s) >= $unknownSecondsMin ORDER BY cluster, cause`;

const TAKE = `CAST(r.first_day AS VARCHAR) || ' ' || CAST(r.last_day AS VARCHAR) || ' ' || r.subject`;

const SUBJECTS = `${UNKNOWN}, part AS (
    SELECT subject, cause, CAST(sum(unknown_s) AS BIGINT) AS unknown_s, min(day) AS first_day, max(day) AS last_day
    FROM unknown_day GROUP BY subject, cause
  ), ranked AS (
    SELECT part.*, row_number() OVER (PARTITION BY subject ORDER BY unknown_s DESC, cause) AS place FROM part
  )
  SELECT k.cluster, r.cause, ${textsInOne(`array_agg(${TAKE} ORDER BY r.subject)`)} AS takes
  FROM ranked r LEFT JOIN known k ON r.subject = k.subject WHERE r.place = 1 GROUP BY k.cluster, r.cause ORDER BY k.cluster, r.cause`;

/**
 * Question: of which GPUs is it not known what they did, why, and what does that cost?
 *
 * It claims no saving: it says what nothing is said about, and asks where a field that is off would sharpen what is said. One finding for each cluster and
 * cause, because one repair mends it.
 *
 * Reads: stint_day, holding, subject, presence.
 */
export const telemetryGaps = detector({
  name: 'telemetry-gaps',
  title: 'GPUs that send no activity',
  category: 'unknown',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 0,
  blast: 'Nothing that runs is touched: only the exporter.',
  effort: 'one command for each node',
  options: z.object({
    unknownPermilleMin: z.number().int().default(50), // Below this the verdicts stand, and nothing is missing.
    gpuHoursMin: z.number().default(8), // A reboot in a month is nobody's problem.
    freshMinutes: z.number().int().default(60), // Sources are asked every few minutes.
  }),
  ask: ({ unknownPermilleMin, gpuHoursMin, freshMinutes }) => ({
    gaps: {
      row: Gap,
      tables: ['stint_day', 'holding', 'subject', 'presence'],
      params: {
        unknownPermilleMin,
        unknownSecondsMin: Math.round(gpuHoursMin * 3600),
        freshSeconds: freshMinutes * 60,
      },
      sql: GAPS,
    },
    subjects: {
      row: UnknownSubjects,
      tables: ['stint_day', 'holding', 'subject'],
      params: { unknownPermilleMin },
      sql: SUBJECTS,
    },
    blurred: {
      row: Blurred,
      tables: ['stint_day'],
      params: { computingSecondsMin: Math.round(gpuHoursMin * 3600) },
      sql: BLURRED,
    },
  }),
  judge: ({ gaps, subjects, blurred }, { now }) => [
    ...gaps.flatMap((gap) => {
      const own = subjects.find(({ cluster, cause }) => cluster === gap.cluster && cause === gap.cause);
      return own === undefined ? [] : [claimOf(gap, own.takes, now)];
    }),
    ...blurred.map(blurredQuestion),
  ],
});

function claimOf(gap: Gap, takes: readonly string[], now: Date): Claim {
  const { cluster, cause, gpus, missingNow, heardAt } = gap;
  const nodes = gap.nodes.flatMap((node) => node ?? []);
  const place = cluster === null ? '' : ` of ${cluster}`;
  return {
    about: `${cluster ?? ''}/${cause}`,
    ownerSubject: null,
    what: whatOf(gap, place),
    because: [
      `${gpuHourWords(gap.unknownGpuS)} of ${countWords(gpus, 'GPU')} seen in the window unknown ${daysWords(gap.firstDay, gap.lastDay)}${nodes.length === 0 ? '' : `, on ${someWords(nodes)}`}.`,
      ...(cause === 'by-count'
        ? ['They send their samples; whose these are nobody says.']
        : missingNow === 0
          ? silenceWords(gap, now)
          : [
              heardAt === null
                ? `${countWords(missingNow, 'GPU')} ${cause === 'fields' ? 'without a sample of activity' : 'not heard of'} in the whole window.`
                : `${countWords(missingNow, 'GPU')} missing now; the last of them was heard ${timeWords(heardAt, now)}.`,
            ]),
      'None of it counts as idle.',
    ],
    fix: fixOf(gap),
    unless: 'Another system reads them: then its samples can be imported.',
    takes: takes.map(takeOf),
  };
}

/** Of `2026-03-02 2026-03-05 node box 1`. */
function takeOf(text: string): Take {
  const [firstDay = '', lastDay = '', ...subject] = text.split(' ');
  return { subject: subject.join(' '), firstDay, lastDay, category: 'unknown' };
}

function blurredQuestion({ cluster, gpus, nodes: named, computingGpuS }: Blurred): Claim {
  const nodes = named.flatMap((node) => node ?? []);
  return {
    about: `${cluster ?? ''}/profiling`,
    ownerSubject: null,
    what: `${countWords(gpus, 'GPU')}${cluster === null ? '' : ` of ${cluster}`} ${gpus === 1 ? 'sends' : 'send'} utilisation and no profiling fields: can they be turned on?`,
    because: [
      `${gpuHourWords(computingGpuS)} that computed are known by GPU_UTIL alone${nodes.length === 0 ? '' : `, on ${someWords(nodes)}`}: it counts all of a second in which some kernel ran.`,
      'What would sharpen the answers: engine activity (waits for input), SM and tensor activity (GPUs that are too large), NVLink (exchange between GPUs).',
    ],
    fix: PROFILING_FIELDS,
    unless: 'These GPUs have no such counters (GeForce, before Volta), or another profiler needs them.',
    takes: [],
    isQuestion: true,
  };
}

/** Lines of the exporter's own format. */
const PROFILING_FIELDS = [
  commentLine('lines for the counters file of dcgm-exporter:'),
  'DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, Ratio of time the graphics engine is active.',
  'DCGM_FI_PROF_SM_ACTIVE, gauge, Ratio of cycles an SM has at least 1 warp assigned.',
  'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, Ratio of cycles the tensor pipe is active.',
  'DCGM_FI_PROF_NVLINK_TX_BYTES, gauge, Bytes sent over NVLink a second.',
];

/** It counts the GPUs its money is of; how many of them it goes on with stands beside. */
function whatOf({ cause, gpus: count, missingNow }: Gap, place: string): string {
  const gpus = `${countWords(count, 'GPU')}${place}`;
  const [send, them] = count === 1 ? ['sends', 'it'] : ['send', 'them'];
  const isAll = missingNow === count;
  const now = missingNow === 0 || isAll ? '' : `, ${missingNow} of them now`;
  switch (cause) {
    case 'silent':
      return isAll
        ? `${gpus} ${send} no activity: nothing is said about ${them}`
        : `${gpus} sent no activity for hours${now}: nothing is said about ${now === '' ? them : 'those hours'}`;
    case 'fields':
      return isAll
        ? `${gpus} ${send} samples without activity: nothing is said about ${them}`
        : `${gpus} sent samples without activity${now}: nothing is said about ${now === '' ? them : 'those hours'}`;
    case 'by-count':
      return `${gpus} on nodes of which jobs hold some by count: which ones a job has is not known`;
  }
}

/** Of GPUs that nobody holds now, silence is not seen; that they are back is only said of those that were heard again. */
function silenceWords({ unheard, gone, unheardSince }: Gap, now: Date): string[] {
  if (unheard === 0) return [];
  const today = gone === unheard ? 'no longer known to be there' : 'held by nobody now';
  return [
    unheardSince === null
      ? `${countWords(unheard, 'GPU')} not heard of in the whole window, and ${today}.`
      : `${countWords(unheard, 'GPU')} silent when last held, and ${today}; the last of them was heard ${timeWords(unheardSince, now)}.`,
  ];
}

function fixOf({ cause, source, gone, unheardNodes }: Gap): string[] {
  const named = (unheardNodes ?? []).flatMap((node) => node ?? []).slice(0, 8);
  switch (cause) {
    case 'silent':
      if (named.length === 0)
        return [
          commentLine(`they are ${gone === 0 ? 'back' : 'gone or back'}; next time an alert says so within minutes:`),
          'expr: absent_over_time(DCGM_FI_DEV_GPU_UTIL[15m]) or up{job=~".*dcgm.*"} == 0',
        ];
      if (source === 'kubernetes')
        return [
          ...named.map(
            (node) =>
              `kubectl delete pod -n gpu-operator -l app=nvidia-dcgm-exporter --field-selector spec.nodeName=${nameWord(node)}`,
          ),
          commentLine('then: bursar doctor'),
        ];
      return [
        ...named.map((node) => `ssh ${nameWord(node)} sudo systemctl restart nvidia-dcgm-exporter`),
        commentLine('then: bursar doctor'),
      ];
    case 'fields':
      return [
        commentLine('lines for the counters file of dcgm-exporter:'),
        'DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, Ratio of time the graphics engine is active.',
        'DCGM_FI_PROF_SM_ACTIVE, gauge, Ratio of cycles an SM has at least 1 warp assigned.',
        'DCGM_FI_DEV_GPU_UTIL, gauge, GPU utilization.',
      ];
    case 'by-count':
      return [
        source === 'slurm'
          ? commentLine(
              'collect while jobs run: scontrol show job -d names the GPU indices, accounting does not (docs/sources/slurm.md)',
            )
          : source === 'kubernetes'
            ? commentLine('collect the GPU of each pod: DCGM_EXPORTER_KUBERNETES=true on dcgm-exporter')
            : commentLine('name the device of each holding: column device_id (docs/FACTS.md)'),
      ];
  }
}
