/** A machine as kube-state-metrics lists it. Times are seconds of the epoch. */
export interface Machine {
  /** It stood without a break from here on, as far as we read. */
  readonly fromS: number;
  /** Undefined: it was there when kube-state-metrics was last heard. */
  readonly untilS?: number;
  /** How many GPUs it has; undefined where its count is one of slices. */
  readonly gpus?: number;
}

export type Machines = ReadonlyMap<string, Machine>;

export const NO_MACHINES: Machines = new Map();

/** As the cursor holds it. */
export type KeptMachine = readonly [nodeId: string, fromS: number, untilS: number | null, gpus: number | null];

/** What a row of the table `node` tells of a machine here. */
export interface MachineRow {
  readonly node_id: string;
  readonly present_from: Date;
  readonly present_until: Date | undefined;
  readonly gpus: number | undefined;
}

const DAY_S = 86_400;

/**
 * The machines after another stretch of kube-state-metrics was read: those of `rows`, and for a day those it no longer lists.
 *
 * A machine that goes on from the stretch before keeps its beginning. One that nobody listed before may have been made long ago: it
 * reaches back to the first word of kube-state-metrics (`heardS`), later a day at most. What stood under its name earlier is forgotten
 * here, and must not be told twice.
 */
export function machinesAfter(
  before: Machines,
  rows: readonly MachineRow[],
  { fromS, untilS, heardS = fromS }: { readonly fromS: number; readonly untilS: number; readonly heardS?: number },
): Machines {
  const after = new Map<string, Machine>();
  for (const row of rows.toSorted((a, b) => a.present_from.getTime() - b.present_from.getTime())) {
    const rowFromS = secondsOf(row.present_from);
    const endS = row.present_until && secondsOf(row.present_until);
    const known = after.get(row.node_id) ?? before.get(row.node_id);
    const goesOn = known !== undefined && rowFromS <= (known.untilS ?? fromS);
    after.set(row.node_id, {
      fromS: goesOn ? known.fromS : Math.max(rowFromS, before.size === 0 ? heardS : fromS - DAY_S),
      ...(endS !== undefined && endS < untilS && { untilS: endS }),
      ...(row.gpus !== undefined && { gpus: row.gpus }),
    });
  }
  for (const [nodeId, machine] of before) {
    const endS = machine.untilS ?? fromS;
    if (!after.has(nodeId) && endS >= fromS - DAY_S) after.set(nodeId, { ...machine, untilS: endS });
  }
  return after;
}

/** The names of machines that were there when they were last heard of. */
export function standing(machines: Machines): Set<string> {
  return new Set([...machines].filter(([, { untilS }]) => untilS === undefined).map(([nodeId]) => nodeId));
}

export function keptMachines(machines: Machines): KeptMachine[] {
  return [...machines].map(([nodeId, { fromS, untilS, gpus }]) => [nodeId, fromS, untilS ?? null, gpus ?? null]);
}

export function machinesOf(kept: readonly KeptMachine[]): Machines {
  return new Map(
    kept.map(([nodeId, fromS, untilS, gpus]) => [
      nodeId,
      { fromS, ...(untilS !== null && { untilS }), ...(gpus !== null && { gpus }) },
    ]),
  );
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
