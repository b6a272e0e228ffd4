import { gpuSeconds, isoTime, UNITS_PER_GPU } from './figures.ts';

/** What a team's day was, in one category. */
export interface TeamGauge {
  readonly team: string;
  readonly category: string;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** The figures of /metrics; null where nobody can say. */
export interface FleetGauges {
  readonly generation: number;
  readonly staleRows: number;
  readonly horizon: Date | null;
  readonly sources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly pollSeconds: number;
    readonly lastOkAt: Date | null;
    readonly isFailing: boolean;
  }[];
  /** The day `teams` is about. */
  readonly day: string | null;
  readonly teams: readonly TeamGauge[];
  readonly heldGpus: number | null;
  readonly silentGpus: number | null;
  readonly idleGpuUnits: bigint | null;
  readonly idleUsdMicrosPerHour: bigint | null;
  readonly openFindings: readonly { readonly kind: string; readonly count: number }[];
  readonly billDifferenceUsdMicros: bigint | null;
}

const HELD = new Set(['unknown', 'idle', 'starved', 'lost', 'computing']);

/** The figures for programs: money as text, shares of a GPU as numbers. */
export function fleetGaugesJson(gauges: FleetGauges): unknown {
  const { horizon, sources, teams, idleGpuUnits, idleUsdMicrosPerHour, billDifferenceUsdMicros, ...rest } = gauges;
  return {
    ...rest,
    horizon: horizon === null ? null : isoTime(horizon),
    sources: sources.map(({ lastOkAt, ...source }) => ({
      ...source,
      lastOkAt: lastOkAt === null ? null : isoTime(lastOkAt),
    })),
    teams: teams.map(({ team, category, usdMicros, gpuUnits, unpricedUnits }) => ({
      team,
      category,
      costUsdMicros: text(usdMicros),
      gpuSeconds: gpuSeconds(gpuUnits),
      unpricedSeconds: gpuSeconds(unpricedUnits),
    })),
    unknownPermille: unknownPermille(teams),
    idleGpus: idleGpuUnits === null ? null : Number(idleGpuUnits) / Number(UNITS_PER_GPU),
    idleUsdMicrosPerHour: text(idleUsdMicrosPerHour),
    billDifferenceUsdMicros: text(billDifferenceUsdMicros),
  };
}

/** Of the time that was held, the part of which nobody knows what it did; null where nothing was held. */
function unknownPermille(teams: readonly TeamGauge[]): number | null {
  const unitsOf = (keep: (category: string) => boolean): bigint =>
    teams.filter(({ category }) => keep(category)).reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n);
  const held = unitsOf((category) => HELD.has(category));
  return held === 0n ? null : Number((unitsOf((category) => category === 'unknown') * 1000n) / held);
}

function text(micros: bigint | null): string | null {
  return micros === null ? null : String(micros);
}
