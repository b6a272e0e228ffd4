import type { Detector } from '../facts/detector.ts';
import { emptyNodes } from './empty-nodes.ts';
import { finishedHolders } from './finished-holders.ts';
import { forgottenResources } from './forgotten-resources.ts';
import { fragmentedNodes } from './fragmented-nodes.ts';
import { idleSessions } from './idle-sessions.ts';
import { lostWork } from './lost-work.ts';
import { lyingSensors } from './lying-sensors.ts';
import { oversizedGpus } from './oversized-gpus.ts';
import { rareCheckpoints } from './rare-checkpoints.ts';
import { runawayJobs } from './runaway-jobs.ts';
import { inefficientServing } from './serving/inefficient-serving.ts';
import { oversizedServing } from './serving/oversized-serving.ts';
import { starvedRuns } from './starved-runs.ts';
import { strandedCommitments } from './stranded-commitments.ts';
import { telemetryGaps } from './telemetry-gaps.ts';
import { unavailableNodes } from './unavailable-nodes.ts';
import { unhealthyGpus } from './unhealthy-gpus.ts';
import { unheldGpus } from './unheld-gpus.ts';
import { unlistedMachines } from './unlisted-machines.ts';
import { untaggedSpend } from './untagged-spend.ts';
import { untouchedGpus } from './untouched-gpus.ts';

/** All questions that are asked, in the order in which their claims are settled within a category: the surest first. */
export const DETECTORS: readonly Detector[] = [
  strandedCommitments,
  unavailableNodes,
  unheldGpus,
  emptyNodes,
  fragmentedNodes,
  unlistedMachines,
  lyingSensors,
  telemetryGaps,
  forgottenResources,
  finishedHolders,
  untouchedGpus,
  idleSessions,
  oversizedServing,
  inefficientServing,
  unhealthyGpus,
  rareCheckpoints,
  starvedRuns,
  lostWork,
  oversizedGpus,
  runawayJobs,
  untaggedSpend,
];
