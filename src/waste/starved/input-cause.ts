import { permilleOf } from '../run-words.ts';

const HOUR_S = 3600;
/** A level of cores speaks with at least so many GPU-hours, and so much of what its kind computed: one short run is an accident. */
const LEVEL_GPU_HOURS_MIN = 2;
const LEVEL_PERMILLE_MIN = 10;
/** Cores explain the waiting where they explain half of it: the larger part names the cause. */
const EXPLAINED_PERMILLE_MIN = 500;
/** A core among many feeds at least this much of what one among few feeds, while cores are what is short. */
const PROPORTION_PERMILLE_MIN = 800;
/** Levels of cores that are less than half apart tell little: what they differ by is what kernels differ by anyhow. */
const isApart = (few: number, many: number): boolean => many * 2 >= few * 3;

/** Runs of one kind that asked for as many cores for each GPU, on one machine or on several. */
export interface CoreLevel {
  /** Whole cores for each GPU; null where nobody said. */
  readonly cores: number | null;
  /** Cores the machine has for each of its GPUs; null where nobody said. */
  readonly coresThere: number | null;
  readonly isSpread: boolean;
  readonly runs: number;
  readonly computingS: number;
  readonly gapS: number;
}

/**
 * Why work waits for its input.
 *
 * cores: runs with more cores wait less. few-cores: all have about the same, and less than the machine has for each GPU. nodes: runs over several
 * machines wait more than those on one, at the same cores. loader: none of these, so the loader itself or what it reads from.
 */
export type InputCause = 'cores' | 'few-cores' | 'nodes' | 'loader';

export interface InputDiagnosis {
  readonly cause: InputCause;
  /** Gap of the runs that have what others lack; the least that was seen. */
  readonly floorPermille: number;
  /** The least cores for each GPU at which the gap is flat; null where that is not the cause or was not seen. */
  readonly enoughCores: number | null;
  /** Whether runs with more than that exist too, so that flat is more than the best there was. */
  readonly isFlatSeen: boolean;
  /** The least and the most cores of runs that computed long enough to speak; null where nobody said. */
  readonly tried: CoreGroup['cores'];
  /** Two groups that were compared: what the cause rests on. */
  readonly compared: { readonly worse: CoreGroup; readonly better: CoreGroup } | null;
}

export interface CoreGroup {
  readonly cores: readonly [least: number | null, most: number | null];
  readonly runs: number;
  readonly gapPermille: number;
}

/** Question: what do the runs of a kind that wait less have, that the others have not? */
export function diagnoseInput(
  levels: readonly CoreLevel[],
  { flatPermille, effectPermilleMin }: { readonly flatPermille: number; readonly effectPermilleMin: number },
): InputDiagnosis {
  const all = groupOf(levels);
  const known = speaking(levels);
  const tried = groupOf(known).cores;
  const byNodes = comparedByNodes(levels, effectPermilleMin);
  if (byNodes !== null) {
    return {
      cause: 'nodes',
      floorPermille: byNodes.better.gapPermille,
      enoughCores: null,
      isFlatSeen: false,
      tried,
      compared: byNodes,
    };
  }
  const byCores = comparedByCores(levels, flatPermille, effectPermilleMin);
  if (byCores !== null) return { cause: 'cores', ...byCores, tried };
  const floorPermille = Math.min(all.gapPermille, ...known.map((level) => gapOf([level])));
  const hasRoom = known.every(({ cores, coresThere }) => cores !== null && coresThere !== null && cores < coresThere);
  const cause = known.length > 0 && hasRoom && isAboutOneLevel(known) ? 'few-cores' : 'loader';
  return { cause, floorPermille, enoughCores: null, isFlatSeen: false, tried, compared: null };
}

type Found = Omit<InputDiagnosis, 'cause' | 'tried'>;

/** Whether all have about as many cores, and a few more feed about as many times more: nothing speaks against cores. */
function isAboutOneLevel(known: readonly CoreLevel[]): boolean {
  const [least, most] = groupOf(known).cores;
  if (least === most) return true;
  if (isApart(least ?? 0, most ?? 0)) return false;
  const [few, more] = [known.filter(({ cores }) => cores === least), known.filter(({ cores }) => cores !== least)];
  const coresPermille = permilleOf(meanCores(more), meanCores(few));
  const busyPermille = permilleOf(1000 - gapOf(more), 1000 - gapOf(few));
  return busyPermille * 2 >= 1000 + coresPermille;
}

/** Thousandths of a core for each GPU, on average over the time computed. */
function meanCores(levels: readonly CoreLevel[]): number {
  const coreS = levels.reduce((sum, { cores, computingS }) => sum + (cores ?? 0) * computingS, 0);
  return permilleOf(coreS, sumOf(levels, 'computingS'));
}

/** Splits the levels where the gap becomes flat, if what lies below it explains the waiting. */
function comparedByCores(levels: readonly CoreLevel[], flatPermille: number, effectPermilleMin: number): Found | null {
  const known = speaking(levels).toSorted((a, b) => (a.cores ?? 0) - (b.cores ?? 0));
  const steps = [...new Set(known.map(({ cores }) => cores ?? 0))];
  if (steps.length < 2) return null;
  const from = (least: number): readonly CoreLevel[] => known.filter(({ cores }) => (cores ?? 0) >= least);
  const floorPermille = Math.min(...steps.map((least) => gapOf(from(least))));
  const enoughCores = steps.find(
    (least) =>
      gapOf(from(least)) <= floorPermille + flatPermille &&
      gapOf(known.filter(({ cores }) => cores === least)) <= floorPermille + 2 * flatPermille,
  );
  if (enoughCores === undefined) return null;
  const [below, above] = [known.filter(({ cores }) => (cores ?? 0) < enoughCores), from(enoughCores)];
  if (below.length === 0) return null;
  const [worse, better] = [groupOf(below), groupOf(above)];
  const excessS = below.reduce(
    (sum, level) => sum + Math.max(0, level.gapS - (level.computingS * floorPermille) / 1000),
    0,
  );
  if (worse.gapPermille - better.gapPermille < effectPermilleMin) return null;
  const isMoreTried = steps.some((cores) => cores > enoughCores);
  const isFlatSeen =
    isMoreTried && (floorPermille <= flatPermille || steps.some((cores) => isApart(enoughCores, cores)));
  const compared = { worse, better };
  if (permilleOf(excessS, sumOf(levels, 'gapS')) >= EXPLAINED_PERMILLE_MIN) {
    return { floorPermille, enoughCores, isFlatSeen, compared };
  }
  // Nothing is flat yet, and each core feeds as much as before: the best runs wait for cores too.
  return !isFlatSeen && isInProportion(below, above)
    ? { floorPermille, enoughCores: neededCores(above), isFlatSeen, compared }
    : null;
}

/** What one core keeps busy, in thousandths of a GPU, on average over the time computed. */
function fedByCore(levels: readonly CoreLevel[]): number {
  const coreS = levels.reduce((sum, { cores, computingS }) => sum + (cores ?? 0) * computingS, 0);
  return permilleOf(sumOf(levels, 'computingS') - sumOf(levels, 'gapS'), coreS);
}

function isInProportion(below: readonly CoreLevel[], above: readonly CoreLevel[]): boolean {
  const [few, many] = [fedByCore(below), fedByCore(above)];
  return many * 1000 >= few * PROPORTION_PERMILLE_MIN;
}

/** Cores that would keep a GPU busy all the time, at what each feeds now. */
function neededCores(levels: readonly CoreLevel[]): number {
  return Math.ceil(1000 / Math.max(1, fedByCore(levels)));
}

/** Runs over several machines against those on one, at the same cores for each GPU, so that only the machines differ. */
function comparedByNodes(levels: readonly CoreLevel[], effectPermilleMin: number): Found['compared'] {
  const both = speaking(levels, true).filter(({ cores, isSpread }) =>
    levels.some((other) => other.cores === cores && other.isSpread !== isSpread && isEnough(other, levels)),
  );
  const [spread, single] = [both.filter(({ isSpread }) => isSpread), both.filter(({ isSpread }) => !isSpread)];
  if (spread.length === 0 || single.length === 0) return null;
  const [worse, better] = [groupOf(spread), groupOf(single)];
  const explainedS = spread.reduce((sum, level) => {
    const twins = single.filter(({ cores }) => cores === level.cores);
    return sum + Math.max(0, level.gapS - (level.computingS * gapOf(twins)) / 1000);
  }, 0);
  const isCause =
    worse.gapPermille - better.gapPermille >= effectPermilleMin &&
    permilleOf(explainedS, sumOf(levels, 'gapS')) >= EXPLAINED_PERMILLE_MIN;
  return isCause ? { worse, better } : null;
}

/** Levels that computed long enough to be compared; those whose cores nobody said only where asked for. */
function speaking(levels: readonly CoreLevel[], isUnknownToo = false): readonly CoreLevel[] {
  return levels.filter((level) => (isUnknownToo || level.cores !== null) && isEnough(level, levels));
}

function isEnough({ computingS }: CoreLevel, levels: readonly CoreLevel[]): boolean {
  return (
    computingS >= LEVEL_GPU_HOURS_MIN * HOUR_S &&
    permilleOf(computingS, sumOf(levels, 'computingS')) >= LEVEL_PERMILLE_MIN
  );
}

function groupOf(levels: readonly CoreLevel[]): CoreGroup {
  const cores = levels.flatMap((level) => level.cores ?? []);
  return {
    cores: cores.length === 0 ? [null, null] : [Math.min(...cores), Math.max(...cores)],
    runs: sumOf(levels, 'runs'),
    gapPermille: gapOf(levels),
  };
}

function gapOf(levels: readonly CoreLevel[]): number {
  return permilleOf(sumOf(levels, 'gapS'), sumOf(levels, 'computingS'));
}

function sumOf(levels: readonly CoreLevel[], what: 'runs' | 'computingS' | 'gapS'): number {
  return levels.reduce((sum, level) => sum + level[what], 0);
}
