import { formatUsdMicros } from '../money/usd.ts';
import { counted, gpuHours, gpuSeconds, isoTime, minute } from './figures.ts';

export interface ExportAnswer {
  readonly rows: number;
  readonly effectiveUsdMicros: bigint;
  readonly unpricedUnits: bigint;
  readonly out: string | null;
  readonly window: { readonly from: Date; readonly until: Date };
}

export function exportLines({ rows, effectiveUsdMicros, unpricedUnits, out, window }: ExportAnswer): string[] {
  return [
    `${counted(rows, 'row')} of FOCUS 1.2, ${minute(window.from)} to ${minute(window.until)} UTC: EffectiveCost ` +
      `${formatUsdMicros(effectiveUsdMicros)}, as in the ledger${out === null ? '' : `; written to ${out}`}`,
    ...(unpricedUnits === 0n ? [] : [`${gpuHours(unpricedUnits)} have no price, so no cost: they are not in it`]),
  ];
}

export function exportJson({ rows, effectiveUsdMicros, unpricedUnits, out, window }: ExportAnswer): unknown {
  return {
    window: { from: isoTime(window.from), until: isoTime(window.until) },
    rows,
    effectiveUsdMicros,
    unpricedSeconds: gpuSeconds(unpricedUnits),
    file: out,
  };
}
