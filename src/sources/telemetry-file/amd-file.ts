import { isRocmSmi, parseAmdSmi, parseRocmSmi } from '../smi/rocm-json.ts';
import { smiReadings } from '../smi/smi-gpu.ts';
import { PartCount } from './telemetry-file.ts';
import type { TelemetryContext, TelemetryFile } from './telemetry-file.ts';

/** Reads what rocm-smi or amd-smi printed as JSON; counted are the values of its cards. It has no time of its own. */
export function readAmdFile(value: unknown, context: TelemetryContext): TelemetryFile {
  const isRocm = isRocmSmi(value);
  const snapshot = isRocm ? parseRocmSmi(value) : parseAmdSmi([value]);
  const at = context.at ?? context.writtenAt;
  const nodeId = context.nodeId ?? context.stem;
  const readings = smiReadings(snapshot, nodeId, at);
  const { total, ofCards } = isRocm ? countValues(value) : countLeaves(value);
  const taken = readings.reduce((sum, { values }) => sum + Object.keys(values).length, 0);
  const count = new PartCount();
  count.add('values taken', taken, { table: 'gpu_sample' });
  count.add('values of cards without a column: clocks, temperatures, firmware, ids', ofCards - taken);
  count.add('values about the system', total - ofCards);
  const programs = snapshot.processes.length;
  return {
    kind: isRocm ? 'rocm-smi --json' : 'amd-smi --json',
    isRecognised: true,
    unit: 'value',
    units: 'values',
    total,
    parts: count.parts(),
    readings,
    notes: [
      ...(context.at === undefined
        ? [`taken at ${at.toISOString().slice(0, 19)}Z, when the file was written: --at TIME says otherwise`]
        : []),
      ...(context.nodeId === undefined
        ? [`no machine is named in it: taken as ${nodeId}, --node NAME says otherwise`]
        : []),
      ...(programs > 0
        ? ['programs on GPUs are not taken as holders: their owners are not in it (bursar watch knows them)']
        : []),
    ],
  };
}

function countValues(cards: Readonly<Record<string, unknown>>): { total: number; ofCards: number } {
  let [total, ofCards] = [0, 0];
  for (const [key, card] of Object.entries(cards)) {
    const values = countLeaves(card).total;
    total += values;
    if (/^card\d+$/.test(key)) ofCards += values;
  }
  return { total, ofCards };
}

function countLeaves(value: unknown): { total: number; ofCards: number } {
  let total = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) total += 1;
    // A value with its unit is one value.
    else if ('value' in next && 'unit' in next) total += 1;
    else waiting.push(...Object.values(next));
  }
  return { total, ofCards: total };
}
