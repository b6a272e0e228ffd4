import { paidTogether } from './paid-holdings.ts';
import type { Paid, PaidHolding } from './paid-holdings.ts';
import type { WorkDone } from './work-done.ts';

/** All that was held for one purpose: the replicas of a service, the lives of a job, a machine. */
export interface HeldGroup {
  readonly key: string;
  readonly name: string;
  readonly team: string | null;
  readonly class: string | null;
  readonly paid: Paid;
  readonly heldSeconds: bigint;
}

/** What was achieved under one name (a model, a run) by one or several groups, and its part of what they cost. */
export interface Achieved {
  /** The served model or the run; undefined where neither is known. */
  readonly modelName: string | undefined;
  readonly run: string | undefined;
  readonly team: string | null;
  /** By unit, in millionths. */
  readonly units: ReadonlyMap<string, bigint>;
  /** Undefined: nothing that was held is known to have done it, or its cost cannot be told from that of others. */
  readonly paid: Paid | undefined;
  /** Seconds that counters covered, of those that were held. */
  readonly countedSeconds: bigint;
  readonly heldSeconds: bigint;
  /** It shares what was held with others: its part is by this unit. */
  readonly sharedBy: string | undefined;
}

export interface Meeting {
  readonly achieved: readonly Achieved[];
  /** Inference that was paid for and that no counter speaks of. */
  readonly uncounted: readonly HeldGroup[];
}

/** Work that may share what was held is divided by the first of these that all of it has. */
const DIVIDED_BY = ['token', 'inference', 'request'];

interface Piece {
  readonly modelName: string | undefined;
  readonly run: string | undefined;
  readonly groups: ReadonlySet<string>;
  readonly units: Map<string, bigint>;
  /** By what was counted at: seconds its counters cover. */
  readonly seconds: Map<string, bigint>;
}

/**
 * Question: which work was done by what was held, and what is its part of the cost?
 *
 * Work names its job, else its pod, its run or its machine. Replicas of a service are one group, because traffic is spread over
 * them; the lives of a job are one. Where several models share a group, its money is split by their tokens, to the micro.
 */
export function meetWork(
  work: readonly WorkDone[],
  holdings: readonly PaidHolding[],
  onNodes: readonly { readonly nodeId: string; readonly subject: string }[],
): Meeting {
  const groups = groupsOf(holdings);
  const find = finder(holdings, onNodes);
  const pieces = new Map<string, Piece>();
  for (const row of work) {
    const found = find(row);
    const name = row.modelName ?? row.run ?? undefined;
    const key = JSON.stringify([name ?? null, [...found].toSorted()]);
    const piece = pieces.get(key) ?? {
      modelName: row.modelName ?? undefined,
      run: row.run ?? undefined,
      groups: found,
      units: new Map<string, bigint>(),
      seconds: new Map<string, bigint>(),
    };
    pieces.set(key, piece);
    piece.units.set(row.unit, (piece.units.get(row.unit) ?? 0n) + row.quantityMillionths);
    // Several counters of one pod cover the same time: the longest counts.
    const place = row.allocationId ?? row.pod ?? row.nodeId ?? row.workId;
    const covered = piece.seconds.get(`${place} ${row.unit}`) ?? 0n;
    piece.seconds.set(`${place} ${row.unit}`, row.pod === null ? covered + row.seconds : greater(covered, row.seconds));
  }
  for (const { units } of pieces.values()) addTokens(units);
  const byGroup = new Map<string, Piece[]>();
  for (const piece of pieces.values()) {
    for (const group of piece.groups) byGroup.set(group, [...(byGroup.get(group) ?? []), piece]);
  }
  const achieved = [...pieces.values()].map((piece) => achievedBy(piece, groups, byGroup));
  const uncounted = [...groups.values()].filter((group) => group.class === 'inference' && !byGroup.has(group.key));
  return { achieved, uncounted };
}

/** Tokens are those that came and those that went, unless somebody counts them together. */
export function addTokens(units: Map<string, bigint>): void {
  const parts = [units.get('prompt_token'), units.get('generation_token')].filter((part) => part !== undefined);
  if (parts.length === 0 || units.has('token')) return;
  units.set(
    'token',
    parts.reduce((sum, part) => sum + part, 0n),
  );
}

function achievedBy(
  piece: Piece,
  groups: ReadonlyMap<string, HeldGroup>,
  byGroup: ReadonlyMap<string, readonly Piece[]>,
): Achieved {
  const parts: Paid[] = [];
  const teams: HeldGroup[] = [];
  let [heldSeconds, sharedBy, isTold] = [0n, undefined as string | undefined, piece.groups.size > 0];
  for (const key of piece.groups) {
    const group = groups.get(key);
    const sharers = byGroup.get(key) ?? [];
    if (group === undefined) continue;
    teams.push(group);
    heldSeconds += group.heldSeconds;
    if (sharers.length === 1) {
      parts.push(group.paid);
      continue;
    }
    const unit = dividingUnit(sharers);
    if (unit === undefined) isTold = false;
    else {
      sharedBy = unit;
      parts.push(partOf(group.paid, sharers, piece, unit));
    }
  }
  return {
    modelName: piece.modelName,
    run: piece.run,
    team: dearest(teams)?.team ?? null,
    units: piece.units,
    paid: isTold && parts.length > 0 ? paidTogether(parts) : undefined,
    countedSeconds: countedSeconds(piece.seconds),
    heldSeconds,
    sharedBy,
  };
}

function dearest(groups: readonly HeldGroup[]): HeldGroup | undefined {
  return groups.toSorted((a, b) => Number((b.paid.usdMicros ?? 0n) - (a.paid.usdMicros ?? 0n)))[0];
}

/** Of each place, the unit that was counted longest. */
function countedSeconds(seconds: ReadonlyMap<string, bigint>): bigint {
  const byPlace = new Map<string, bigint>();
  for (const [key, covered] of seconds) {
    const place = key.slice(0, key.lastIndexOf(' '));
    byPlace.set(place, greater(byPlace.get(place) ?? 0n, covered));
  }
  return [...byPlace.values()].reduce((sum, covered) => sum + covered, 0n);
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function dividingUnit(sharers: readonly Piece[]): string | undefined {
  const others = [...(sharers[0]?.units.keys() ?? [])].filter((unit) => !DIVIDED_BY.includes(unit)).toSorted();
  return [...DIVIDED_BY, ...others].find(
    (unit) =>
      sharers.every(({ units }) => units.has(unit)) && sharers.some(({ units }) => (units.get(unit) ?? 0n) > 0n),
  );
}

/** The split of the ledger: parts of every amount add up to it. */
function partOf(paid: Paid, sharers: readonly Piece[], piece: Piece, unit: string): Paid {
  const weights = sharers.map(({ units }) => units.get(unit) ?? 0n);
  const place = sharers.indexOf(piece);
  const before = weights.slice(0, place).reduce((sum, weight) => sum + weight, 0n);
  const upTo = before + (weights[place] ?? 0n);
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  const part = (amount: bigint): bigint => (amount * upTo) / total - (amount * before) / total;
  const money = (amount: bigint | null): bigint | null => (amount === null ? null : part(amount));
  return {
    usdMicros: money(paid.usdMicros),
    activeUsdMicros: money(paid.activeUsdMicros),
    unknownUsdMicros: money(paid.unknownUsdMicros),
    gpuUnits: part(paid.gpuUnits),
    computingUnits: part(paid.computingUnits),
    unknownUnits: part(paid.unknownUnits),
    unpricedUnits: part(paid.unpricedUnits),
  };
}

/** Replicas of a service go by its name; everything else by its job, in all its lives. */
function groupKey(holding: PaidHolding): string {
  const { subject, source, allocationId, cluster, namespace, workloadName } = holding;
  if (source === null || allocationId === null) return subject;
  if (holding.class === 'inference' && workloadName !== null) {
    return JSON.stringify(['service', cluster, namespace, workloadName]);
  }
  return `job ${source}/${allocationId}`;
}

function groupsOf(holdings: readonly PaidHolding[]): ReadonlyMap<string, HeldGroup> {
  const members = new Map<string, PaidHolding[]>();
  for (const holding of holdings) {
    const key = groupKey(holding);
    members.set(key, [...(members.get(key) ?? []), holding]);
  }
  return new Map(
    [...members].map(([key, of]) => {
      const first = of.toSorted((a, b) => Number((b.usdMicros ?? 0n) - (a.usdMicros ?? 0n)))[0];
      return [
        key,
        {
          key,
          name: first?.workloadName ?? first?.allocationId ?? first?.subject ?? key,
          team: first?.team ?? null,
          class: first?.class ?? null,
          paid: paidTogether(of),
          heldSeconds: of.reduce((sum, { heldSeconds }) => sum + heldSeconds, 0n),
        },
      ];
    }),
  );
}

/** Finds the groups a row of work was done by: by job, by pod, by run, by machine. None where nobody can say. */
function finder(
  holdings: readonly PaidHolding[],
  onNodes: readonly { readonly nodeId: string; readonly subject: string }[],
): (work: WorkDone) => ReadonlySet<string> {
  const byJob = new Map<string, Set<string>>();
  const byPlace = new Map<string, Set<string>>();
  const byRun = new Map<string, Set<string>>();
  const bySubject = new Map<string, string>();
  const add = (map: Map<string, Set<string>>, name: string | null, key: string): void => {
    if (name !== null && name !== '') map.set(name, (map.get(name) ?? new Set()).add(key));
  };
  for (const holding of holdings) {
    const key = groupKey(holding);
    const { source, allocationId, namespace, workloadName, runLabel } = holding;
    bySubject.set(holding.subject, key);
    add(byJob, allocationId, key);
    if (source !== null && allocationId !== null) add(byJob, `${source}/${allocationId}`, key);
    if (namespace !== null && workloadName !== null) add(byPlace, `${namespace}/${workloadName}`, key);
    add(byRun, workloadName, key);
    add(byRun, runLabel, key);
  }
  const byNode = new Map<string, Set<string>>();
  for (const { nodeId, subject } of onNodes) {
    const key = bySubject.get(subject);
    if (key !== undefined) add(byNode, nodeId, key);
  }
  return ({ allocationId, namespace, pod, run, nodeId }) =>
    (allocationId === null ? undefined : byJob.get(allocationId)) ??
    (namespace === null || pod === null ? undefined : byPod(namespace, pod, byJob, byPlace)) ??
    (run === null ? undefined : byRun.get(run)) ??
    (nodeId === null || pod !== null ? undefined : byNode.get(nodeId)) ??
    new Set<string>();
}

/** `chat-7f9c-x2x4l` is a pod of `chat`: its owner's name is what is left when its last parts are taken off, the longest that is known. */
function byPod(
  namespace: string,
  pod: string,
  byJob: ReadonlyMap<string, ReadonlySet<string>>,
  byPlace: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> | undefined {
  const exact = byJob.get(`${namespace}/${pod}`);
  if (exact !== undefined) return exact;
  for (let name = pod; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('-')))) {
    const found = byPlace.get(`${namespace}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
