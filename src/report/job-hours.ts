import { gpuSeconds, isoTime } from './figures.ts';

/** When a job spent its money and what its GPUs did then. */
export interface JobHoursAnswer {
  readonly window: { readonly from: Date; readonly until: Date };
  /** Times as the ledger has them: UTC, without saying so. */
  readonly hours: readonly {
    readonly hour: string;
    readonly category: string;
    readonly usdMicros: bigint | null;
    readonly gpuUnits: bigint;
    readonly unpricedUnits: bigint;
  }[];
  readonly stepSeconds: number;
  readonly lines: readonly { readonly deviceId: string; readonly nodeId: string | null; readonly cells: string }[];
  readonly rule: string | null;
}

/** What stands beside a job's sums, for its page and for programs. */
export function jobHoursJson({ window, hours, stepSeconds, lines, rule }: JobHoursAnswer): object {
  return {
    rule,
    hours: hours.map(({ hour, category, usdMicros, gpuUnits, unpricedUnits }) => ({
      hour: `${hour.replace(' ', 'T')}Z`,
      category,
      costUsdMicros: usdMicros,
      gpuSeconds: gpuSeconds(gpuUnits),
      unpricedSeconds: gpuSeconds(unpricedUnits),
    })),
    activity: {
      from: isoTime(window.from),
      until: isoTime(window.until),
      stepSeconds,
      rows: lines.map(({ deviceId, nodeId, cells }) => ({ deviceId, node: nodeId, cells })),
    },
  };
}
