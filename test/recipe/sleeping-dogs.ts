import { z } from 'zod';
import { detector } from '../../src/facts/detector.ts';
import { sqlCount, sqlDay } from '../../src/facts/sql-row.ts';
import { LIVES, LIVES_READ } from '../../src/waste/runs-sql.ts';
import { stopCommand } from '../../src/waste/stop-command.ts';
import { spanWords } from '../../src/waste/wording.ts';

const Dog = z.object({
  subject: z.string(),
  source: z.string(),
  allocationId: z.string(),
  cluster: z.string().nullable(),
  namespace: z.string().nullable(),
  wallS: sqlCount,
  lastDay: sqlDay,
});

/**
 * Question: which jobs hold GPUs for hours and have never started a kernel?
 *
 * The detector of CONTRIBUTING's recipe, as small as one can be. Only its test asks it: `untouched-gpus` knows more of the same.
 *
 * Reads: life_day.
 */
export const sleepingDogs = detector({
  name: 'sleeping-dogs',
  title: 'jobs that never start a kernel',
  category: 'idle',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 2,
  blast: 'The job ends before it has begun.',
  effort: 'one command',
  options: z.object({
    heldHoursMin: z.number().positive().default(2), // Images, data and models load within that.
    unknownPermilleMax: z.number().int().default(50), // Beyond this nothing is said: telemetry-gaps does.
  }),
  ask: ({ heldHoursMin, unknownPermilleMax }) => ({
    dogs: {
      row: Dog,
      tables: LIVES_READ,
      params: { heldSeconds: Math.round(heldHoursMin * 3600), unknownPermilleMax },
      sql: `
        WITH ${LIVES}
        SELECT subject, source, allocation_id AS "allocationId", cluster, namespace, wall_s AS "wallS", last_day AS "lastDay"
        FROM life WHERE ended_at IS NULL AND computing_s = 0 AND wall_s >= $heldSeconds
          AND unknown_s * 1000 <= held_s * $unknownPermilleMax
        ORDER BY subject`,
    },
  }),
  judge: ({ dogs }, { from }) =>
    dogs.map((dog) => ({
      about: dog.subject,
      ownerSubject: dog.subject,
      what: `job ${dog.source}/${dog.allocationId} has never started a kernel`,
      because: [`No kernel in ${spanWords(dog.wallS)} (engine, else SM, else utilisation).`],
      fix: [stopCommand({ ...dog, kind: null, name: null })],
      unless: 'It is about to start.',
      // Before its first day a job has no rows that could be taken.
      takes: [
        { subject: dog.subject, firstDay: from.toISOString().slice(0, 10), lastDay: dog.lastDay, category: 'idle' },
      ],
    })),
});
