import { csv } from './fleet-folder.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-02T00:00:00Z');
export const at = (hour: number): string => `${new Date(START + hour * HOUR_MS).toISOString().slice(0, 19)}Z`;

/** Samples every half hour of the hours from one to the other. */
export const samples = (device: string, from: number, until: number, permille: number): string =>
  Array.from({ length: (until - from) * 2 }, (_, half) => `${device}|${at(from + half / 2)}|1800|${permille}`).join(
    '\n',
  );

/**
 * Three GPUs at $3 an hour, from 8 to 20 o'clock: a notebook of nlp that has its rented machine to itself and is idle from 10 on, one of
 * vision that shares a machine with a job and is idle from 12 on.
 */
export const IDLE_FLEET: Readonly<Record<string, string>> = {
  nodes: csv(`
    node_id|present_from|provider|region   |resource_id|purchase |cluster|gpu_count|model
    k1     |${at(0)}    |AWS     |us-east-1|i-k1       |on-demand|a      |1        |H100
    k2     |${at(0)}    |AWS     |us-east-1|i-k2       |on-demand|a      |2        |H100`),
  devices: csv(`
    device_id|node_id|model
    k1-0|k1|H100
    k2-0|k2|H100
    k2-1|k2|H100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|namespace|user_name|workload_kind|workload_name
    kubernetes|u1|k1|k1-0|${at(8)}| |1|a|nlp   |mchen |Notebook  |<img src=x>
    kubernetes|u2|k2|k2-0|${at(8)}| |1|a|vision|apatel|Notebook  |sketch
    kubernetes|u3|k2|k2-1|${at(8)}| |1|a|vision|lopez |PyTorchJob|train`),
  rates: csv(`
    model|usd_per_gpu_hour
    H100|3.00`),
  samples: csv(`
    device_id|ts|step_s|engine_permille
    ${samples('k1-0', 8, 10, 700)}
    ${samples('k1-0', 10, 20, 0)}
    ${samples('k2-0', 8, 12, 700)}
    ${samples('k2-0', 12, 20, 0)}
    ${samples('k2-1', 8, 20, 900)}`),
};
