import type { DeviceBinding, FactRow, Haul, PullRequest, Source } from '../src/facts/source.ts';
import { collectOnce } from '../src/app/collect/collect.ts';
import type { CollectReport, CollectRequest } from '../src/app/collect/collect.ts';
import { withReader } from '../src/app/workspace.ts';

/** The day of the made-up sources, at noon of which they are asked. */
export const DAY = '2026-11-02';
export const at = (time: string): Date => new Date(`${DAY}T${time}Z`);

interface Script {
  readonly name?: string;
  readonly kind?: Source['kind'];
  readonly priority?: number;
  readonly pull: (cursor: unknown, request: PullRequest) => AsyncIterable<Haul>;
}

export function sourceOf({ name = 'tele', kind = 'scrape', priority = 10, pull }: Script): Source {
  return {
    name,
    kind,
    priority,
    pollS: 60,
    reads: `${kind} ${name}`,
    check: async () => ({ state: 'ok', says: '', advice: [] }),
    pull,
  };
}

/** Gives these hauls one after the other, each with the cursor of how many were given. */
export function hauls(all: readonly Partial<Haul>[]): Script['pull'] {
  return async function* pull(cursor) {
    for (const [index, haul] of all.entries()) {
      if (index < Number(cursor ?? 0)) continue;
      yield { facts: [], coveredUntil: at('12:00:00'), ...haul, cursor: index + 1 };
    }
  };
}

export const holding = (row: FactRow): FactRow => ({
  source: 'slurm',
  allocation_id: '1',
  node_id: 'n1',
  held_from: at('08:00:00'),
  held_until: at('10:00:00'),
  observed_at: at('11:00:00'),
  gpu_count: 1,
  ...row,
});

export const place = (deviceId: string, gpuIndex: number, from = '07:00:00', until = '11:00:00'): DeviceBinding => ({
  deviceId,
  nodeId: 'n1',
  gpuIndex,
  from: at(from),
  until: at(until),
});

export function collect(
  dataDir: string,
  sources: readonly Source[],
  extra: Partial<CollectRequest> = {},
): Promise<CollectReport> {
  return collectOnce({
    dataDir,
    sources,
    now: () => at('12:00:00'),
    signal: new AbortController().signal,
    progress: () => undefined,
    ...extra,
  });
}

export async function rowsOf(dataDir: string, table: string, columns: string): Promise<Record<string, unknown>[]> {
  return withReader(dataDir, (space) =>
    space.ask({ tables: [{ table }], sql: `SELECT ${columns} FROM ${table} ORDER BY ${columns}` }),
  );
}
