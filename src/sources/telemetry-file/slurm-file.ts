import { readSlurmText } from '../slurm/recognise.ts';
import { PartCount } from './telemetry-file.ts';
import type { TelemetryContext, TelemetryFile } from './telemetry-file.ts';

/** What a saved output of Slurm says of machines, holdings and who waits; undefined where it is nothing of Slurm's. */
export function readSlurmFile(text: string, { zone, at, writtenAt }: TelemetryContext): TelemetryFile | undefined {
  const found = readSlurmText(text, {
    writtenAt: Math.floor((at ?? writtenAt).getTime() / 1000),
    ...(zone !== undefined && { zone }),
  });
  if (found === undefined) return undefined;
  const count = new PartCount();
  const skipped = found.skipped.reduce((sum, each) => sum + each.count, 0);
  const table = found.taken.find(({ rows }) => rows.length > 0)?.table;
  count.add('read', found.entriesRead - skipped, table === undefined ? {} : { table });
  for (const { reason, count: n, example } of found.skipped) count.add(reason, n, { example });
  return {
    kind: `of Slurm: ${found.kind}`,
    isRecognised: true,
    unit: 'entry',
    units: 'entries',
    total: found.entriesRead,
    parts: count.parts(),
    readings: [],
    facts: found.taken,
    notes: ['a Slurm source in bursar.yaml reads this from Slurm itself, with its history: bursar init finds it'],
  };
}
