import { takeTelemetry } from '../app/import-telemetry.ts';
import { telemetryReport } from '../report/telemetry-report.ts';
import type { Output } from './output.ts';
import { dataFlag } from './question-options.ts';

/** What `bursar import telemetry` takes beside its files. */
export interface TelemetryFlags {
  readonly data: string;
  readonly node?: string;
  readonly at?: Date;
  readonly zone?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Takes saved scrapes and outputs of nvidia-smi and rocm-smi, and tells where each of their lines went. */
export async function importTelemetry(files: readonly string[], flags: TelemetryFlags, output: Output): Promise<void> {
  const { data, node, at, zone, dryRun } = flags;
  const report = await takeTelemetry({
    dataDir: data,
    files,
    ...(node !== undefined && { node }),
    ...(at !== undefined && { at }),
    ...(zone !== undefined && { zone }),
    ...(dryRun !== undefined && { dryRun }),
  });
  if (flags.json) output.json(report);
  else output.data(telemetryReport(report, dataFlag(data)));
}
