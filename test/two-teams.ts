import { csv } from './fleet-folder.ts';
import { at, samples } from './idle-fleet.ts';

/**
 * Two teams in one Slurm account and one cluster, with one job name: only a label tells them apart. Their runs of train-7b fail on one
 * machine at $3 a GPU and hour. 947 ‰ of it is lost: $51.138 of nlp (101, 103) and $56.82 of zeta (102, 104), which is one finding that
 * is the platform's. Each has an idle notebook too: $36 of nlp (105), $45 of zeta (106). The people of zeta are zulu
 * and zoe, and its notebook is sketchbook.
 */
export const TWO_TEAMS: Readonly<Record<string, string>> = {
  nodes: csv(`
    node_id|present_from|provider|region   |resource_id|purchase |cluster|gpu_count|model
    m1     |${at(0)}    |AWS     |us-east-1|i-m1       |on-demand|a      |2        |H100
    m2     |${at(0)}    |AWS     |us-east-1|i-m2       |on-demand|a      |1        |H100
    m3     |${at(0)}    |AWS     |us-east-1|i-m3       |on-demand|a      |1        |H100`),
  devices: csv(`
    device_id|node_id|model
    m1-0|m1|H100
    m1-1|m1|H100
    m2-0|m2|H100
    m3-0|m3|H100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|namespace|user_name|workload_kind|workload_name|outcome|labels
    slurm|101|m1|m1-0|${at(0)}|${at(12)}|1|a|lab| |mchen|Job|train-7b|failed|{"team": "nlp"}
    slurm|102|m1|m1-1|${at(0)}|${at(11)}|1|a|lab| |zulu|Job|train-7b|failed|{"team": "zeta"}
    slurm|103|m1|m1-0|${at(12)}|${at(18)}|1|a|lab| |kim|Job|train-7b|failed|{"team": "nlp"}
    slurm|104|m1|m1-1|${at(13)}|${at(22)}|1|a|lab| |zoe|Job|train-7b|failed|{"team": "zeta"}
    kubernetes|105|m2|m2-0|${at(8)}| |1|a| |lab|mchen|Notebook|notes|   |{"team": "nlp"}
    kubernetes|106|m3|m3-0|${at(5)}| |1|a| |lab|zulu|Notebook|sketchbook| |{"team": "zeta"}`),
  rates: csv(`
    model|usd_per_gpu_hour
    H100|3.00`),
  samples: csv(`
    device_id|ts|step_s|engine_permille
    ${samples('m1-0', 0, 18, 900)}
    ${samples('m1-1', 0, 11, 900)}
    ${samples('m1-1', 13, 22, 900)}
    ${samples('m2-0', 8, 10, 700)}
    ${samples('m2-0', 10, 22, 0)}
    ${samples('m3-0', 5, 7, 700)}
    ${samples('m3-0', 7, 22, 0)}`),
};
