import { withReader } from '../src/app/workspace.ts';
import { NO_RULES } from '../src/app/rules/rule.ts';
import { findFindings } from '../src/app/findings/find-findings.ts';
import type { FindingsRequest } from '../src/app/findings/find-findings.ts';
import { decideNow } from '../src/app/now.ts';
import { ledgerWindow } from '../src/app/window.ts';
import type { FindingsAnswer } from '../src/report/finding-answer.ts';
import { csv } from './fleet-folder.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { at, samples } from './idle-fleet.ts';

export const SAMPLE_HEADER = 'device_id|ts|step_s|engine_permille';

/**
 * Six GPUs at $3 an hour: a rented machine of one with a notebook, one of two that a notebook shares with a job, an owned machine of
 * two of which nobody measures one, and a rented box no scheduler knows.
 */
export const SIX_GPUS = {
  nodes: csv(`
    node_id|present_from|provider|region   |resource_id|purchase |cluster|gpu_count|model
    k1     |${at(0)}    |AWS     |us-east-1|i-k1       |on-demand|a      |1        |H100
    k2     |${at(0)}    |AWS     |us-east-1|i-k2       |on-demand|a      |2        |H100
    own1   |${at(0)}    |        |         |           |owned    |a      |2        |H100
    box1   |${at(0)}    |AWS     |us-east-1|i-box      |on-demand|loose  |1        |H100`),
  devices: csv(`
    device_id|node_id|model
    k1-0|k1|H100
    k2-0|k2|H100
    k2-1|k2|H100
    own-0|own1|H100
    own-1|own1|H100
    box-0|box1|H100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|namespace|user_name|workload_kind|workload_name
    kubernetes|u1|k1  |k1-0 |${at(8)}| |1|a|nlp   |mchen |Notebook  |notes
    kubernetes|u2|k2  |k2-0 |${at(8)}| |1|a|vision|apatel|Notebook  |sketch
    kubernetes|u3|k2  |k2-1 |${at(8)}| |1|a|vision|lopez |PyTorchJob|train
    kubernetes|u4|own1|own-0|${at(8)}| |1|a|nlp   |kim   |Notebook  |probe
    kubernetes|u5|own1|own-1|${at(8)}| |1|a|nlp   |kim   |Notebook  |dark`),
  rates: csv(`
    model|usd_per_gpu_hour
    H100|3.00`),
  samples: csv(`
    ${SAMPLE_HEADER}
    ${samples('k1-0', 8, 10, 700)}
    ${samples('k1-0', 10, 20, 0)}
    ${samples('k2-0', 8, 12, 700)}
    ${samples('k2-0', 12, 20, 0)}
    ${samples('k2-1', 8, 20, 900)}
    ${samples('own-0', 8, 10, 700)}
    ${samples('own-0', 10, 20, 0)}
    ${samples('box-0', 0, 2, 500)}
    ${samples('box-0', 2, 20, 0)}`),
};

/** What is found in it. */
export type Look = Partial<FindingsRequest> & { windowText?: string; asOf?: Date };
export const lookAt = ({ dataDir }: Pick<FleetFolder, 'dataDir'>, over: Look = {}): Promise<FindingsAnswer> =>
  withReader(
    dataDir,
    (space) => {
      const { windowText = '30d', asOf, ...request } = over;
      const now = decideNow(asOf, space.scope?.horizon, new Date('2026-05-01T00:00:00Z'));
      const window = ledgerWindow(windowText, now.at, space.scope);
      return findFindings(space, { window, now: now.at, nowBy: now.by, ...request });
    },
    { rules: NO_RULES },
  );
export const sessionOf = (answer: FindingsAnswer, subject: string) =>
  answer.findings.find((each) => each.detector === 'idle-sessions' && each.ownerSubject === subject);
export const [NOTES, SKETCH, PROBE, DARK] = [1, 2, 4, 5].map((no) => `job kubernetes/u${no}/0`) as [
  string,
  string,
  string,
  string,
];
export const USD = 1_000_000n;
