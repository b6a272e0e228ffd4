import type { z } from 'zod';
import type { RunawayAnswer, RunawayJob } from '../report/runaway-list.ts';
import { findRunaways, kindFor, runawayJobs, runawayWords } from '../waste/runaway-jobs.ts';
import type { LiveJob, Past, Runaway } from '../waste/runaway-jobs.ts';
import { evidenceOf, judgedSpan } from './findings/ask-detectors.ts';
import { parseDimensions } from './filter.ts';
import { fleetGpus } from './findings/find-findings.ts';
import { subjectOwners } from './findings/finding-owners.ts';
import type { Now } from './now.ts';
import { lastKnownMoment } from './now.ts';
import { spend } from './spend.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

/**
 * Question: what spends far above its own kind right now, and which command stops it?
 *
 * The detector `runaway-jobs` asked by itself, over a longer past: from sums by day, so that it is quick enough to ask every few
 * minutes. Bursar stops nothing. Reads: life_day, ownership, spend_day.
 */
export async function runaway(space: ReadSpace, now: Now, window: LedgerWindow): Promise<RunawayAnswer> {
  const options = runawayJobs.options.parse({});
  const nothing: RunawayAnswer = {
    asOf: now.at,
    asOfBy: now.by,
    newestFact: space.scope?.horizon,
    window: { asked: window.asked, from: window.from, days: window.days.length },
    runaways: [],
    liveJobs: 0,
    comparedJobs: 0,
    finishedJobs: 0,
    finishedMin: options.finishedMin,
    gpus: 0,
    usdMicrosByBasis: new Map(),
    knownUnits: 0n,
    heldUnits: 0n,
  };
  if (space.scope === undefined || window.days.length === 0) return nothing;
  if (lastKnownMoment(now.at, space.scope.horizon) === undefined) return nothing;
  const span = judgedSpan(window, now.at);
  const asked = runawayJobs.ask(options);
  const live = (await evidenceOf(space, asked.live, span)) as readonly z.infer<typeof asked.live.row>[];
  const past = (await evidenceOf(space, asked.past, span)) as readonly z.infer<typeof asked.past.row>[];
  const found = findRunaways(live, past, options, now.at);
  const owners = await subjectOwners(space, new Set(found.map(({ job }) => job.subject)), span);
  const compared = live.filter((job) => kindFor(job, past, options) !== undefined);
  return {
    ...nothing,
    runaways: found.map((each) => told(each, owners.get(each.job.subject)?.team ?? null)),
    liveJobs: live.length,
    comparedJobs: compared.length,
    finishedJobs: finishedOf(compared, past),
    ...(await restsOn(space, window)),
  };
}

/** What a figure of it is worth: how much of the time is known, and whether money is billed or by list. Reads: spend_day, subject_day. */
async function restsOn(
  space: ReadSpace,
  window: LedgerWindow,
): Promise<Pick<RunawayAnswer, 'gpus' | 'usdMicrosByBasis' | 'knownUnits' | 'heldUnits'>> {
  const { rows, usdMicrosByBasis } = await spend(space, { by: parseDimensions('category'), window, filters: [] });
  const units = (categories: readonly string[]): bigint =>
    rows
      .filter(({ values }) => categories.includes(values[0] ?? ''))
      .reduce((sum, { heldUnits }) => sum + heldUnits, 0n);
  const knownUnits = units(['idle', 'starved', 'lost', 'computing']);
  return {
    gpus: await fleetGpus(space, window),
    usdMicrosByBasis,
    knownUnits,
    heldUnits: knownUnits + units(['unknown']),
  };
}

/** Finished jobs behind the comparison, each once: those of a name, whoever's. */
function finishedOf(compared: readonly LiveJob[], past: readonly Past[]): number {
  return past
    .filter(({ user, home, stem }) => user === null && compared.some((job) => job.home === home && job.stem === stem))
    .reduce((sum, { jobs }) => sum + jobs, 0);
}

function told(found: Runaway, team: string | null): RunawayJob {
  const { job, kind, by, heldS, stop } = found;
  return {
    source: job.source,
    allocationId: job.allocationId,
    attempt: job.attempt,
    name: job.name,
    team,
    user: job.user,
    model: job.model,
    shareUnits: job.shareUnits,
    heldSince: job.heldSince,
    heldSeconds: heldS,
    usdMicrosSoFar: job.usdMicros,
    usdMicrosPerHour: job.usdMicrosPerHour,
    by,
    kind: {
      name: kind.stem ?? '',
      user: kind.user,
      jobs: kind.jobs,
      medianSeconds: kind.medianS,
      p99Seconds: kind.p99S,
      mostSeconds: kind.mostS,
      medianUsdMicros: kind.medianUsdMicros,
      p99UsdMicros: kind.p99UsdMicros,
      mostUsdMicros: kind.mostUsdMicros,
      medianShareUnits: kind.medianUnits,
      p99ShareUnits: kind.p99Units,
      mostShareUnits: kind.mostUnits,
    },
    because: runawayWords(found),
    stop,
  };
}
