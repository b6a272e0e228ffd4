/** What a job was given or asked for, as far as its cost depends on it. Undefined is not said, never 0. */
export interface Tres {
  readonly cpus?: number;
  readonly memoryBytes?: number;
  readonly nodes?: number;
  /** GPUs in all, whatever their type. */
  readonly gpus?: number;
  /** The same GPUs by type, where Slurm accounts for types. */
  readonly gpuTypes: ReadonlyMap<string, number>;
  /** Parts of GPUs (`gres/shard`): how many make a GPU is in the node's configuration only. */
  readonly shards?: number;
}

/** GPUs of one type on one machine, with the places the driver gives them where Slurm tells. */
export interface GresItem {
  readonly type?: string;
  readonly count: number;
  readonly indices?: readonly number[];
}

const MEMORY_UNITS: Readonly<Record<string, number>> = {
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
  p: 1024 ** 5,
};
const COUNT_MAX = 1_000_000_000;

/**
 * Reads `billing=400,cpu=2,gres/gpu:h100=4,gres/gpu=4,mem=2000M,node=2`; undefined where nothing is said.
 *
 * `gres/gpu` and `gres/gpu:h100` count the same GPUs: types are added up only where the total is missing.
 */
export function parseTres(text: string): Tres | undefined {
  const amounts = new Map<string, string>();
  for (const entry of text.split(',')) {
    const at = entry.indexOf('=');
    if (at > 0) amounts.set(entry.slice(0, at).trim().toLowerCase(), entry.slice(at + 1).trim());
  }
  if (amounts.size === 0) return undefined;
  return tresOf(
    amounts,
    (value) => wholeNumber(value),
    (value) => memoryBytes(value),
  );
}

/** The same from the list of JSON replies, whose memory is a number of MiB. */
export function tresFromCounts(counts: ReadonlyMap<string, number>): Tres | undefined {
  if (counts.size === 0) return undefined;
  return tresOf(
    counts,
    (value) => (isCount(value) ? value : undefined),
    (value) => (isCount(value) ? value * 1024 ** 2 : undefined),
  );
}

function tresOf<Value>(
  amounts: ReadonlyMap<string, Value>,
  countOf: (value: Value) => number | undefined,
  bytesOf: (value: Value) => number | undefined,
): Tres {
  const read = (name: string, reader: (value: Value) => number | undefined): number | undefined => {
    const value = amounts.get(name);
    return value === undefined ? undefined : reader(value);
  };
  const gpuTypes = new Map<string, number>();
  for (const [name, value] of amounts) {
    const type = /^gres\/gpu:(.+)$/.exec(name)?.[1];
    const count = type === undefined ? undefined : countOf(value);
    if (type !== undefined && count !== undefined) gpuTypes.set(type, count);
  }
  const typed = gpuTypes.size === 0 ? undefined : sum(gpuTypes.values());
  const [cpus, memory, nodes, gpus, shards] = [
    read('cpu', countOf),
    read('mem', bytesOf),
    read('node', countOf),
    read('gres/gpu', countOf) ?? typed,
    read('gres/shard', countOf),
  ];
  return {
    gpuTypes,
    ...(cpus !== undefined && { cpus }),
    ...(memory !== undefined && { memoryBytes: memory }),
    ...(nodes !== undefined && { nodes }),
    ...(gpus !== undefined && { gpus }),
    ...(shards !== undefined && { shards }),
  };
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= COUNT_MAX;
}

function wholeNumber(text: string): number | undefined {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return isCount(count) ? count : undefined;
}

/** `64G`, `62.50G`, `2000M`; a bare number is in MiB, as everywhere in Slurm. */
export function memoryBytes(text: string): number | undefined {
  const [, amount, unit = 'm'] = /^(\d+(?:\.\d+)?)([kmgtp]?)[nc]?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Math.round(Number(amount) * (MEMORY_UNITS[(unit === '' ? 'm' : unit).toLowerCase()] ?? 1));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/**
 * Reads the GPUs of `gpu:h100:2(IDX:0-1),gpu:a100:1(S:0)`, in any of the spellings Slurm has for it: `gres:gpu:2`,
 * `gres/gpu:h100:2`, `gpu:8`, `gpu`. Other resources are passed over; undefined where the text is none of Slurm's.
 */
export function parseGres(text: string): readonly GresItem[] | undefined {
  const gres = text.trim();
  if (gres === '' || gres === '(null)' || gres === 'N/A') return [];
  const items: GresItem[] = [];
  for (const part of gres.split(/,(?![^(]*\))/)) {
    const shape = /^(?:gres[:/])?([\w.-]+)(?::([^:()=]+))?(?:[:=](\d+))?(?:\(([^)]*)\))?$/i.exec(part.trim());
    if (shape === null) return undefined;
    const [, name = '', second, third, bracket] = shape;
    if (name.toLowerCase() !== 'gpu') continue;
    // `gpu:8` has no type, `gpu:h100` no count.
    const isCounted = third === undefined && second !== undefined && /^\d+$/.test(second);
    const type = isCounted ? undefined : second;
    const indices = /^IDX:(.+)$/.exec(bracket ?? '')?.[1];
    const places = indices === undefined || indices === 'N/A' ? undefined : indexList(indices);
    const written = isCounted ? second : third;
    // Old versions list the places without a count.
    const count = written === undefined ? (places?.length ?? 1) : wholeNumber(written);
    if (count === undefined) return undefined;
    items.push({
      count,
      ...(type !== undefined && { type }),
      ...(places !== undefined && { indices: places }),
    });
  }
  return items;
}

const INDEX_MAX = 4095;

function indexList(text: string): readonly number[] | undefined {
  const indices: number[] = [];
  for (const range of text.split(',')) {
    const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(range.trim()) ?? [];
    if (first === undefined || Number(last) < Number(first) || Number(last) > INDEX_MAX) return undefined;
    for (let index = Number(first); index <= Number(last); index += 1) indices.push(index);
  }
  return indices;
}

const SLOTS_OF_PROFILE: Readonly<Record<string, number>> = { 1: 1, 2: 2, 3: 4, 4: 4, 7: 8 };
/** A `1g` with these sizes has the memory of two. */
const DOUBLE_GIGABYTES = new Set(['20', '24', '35', '45', '47']);
const WHOLE_SLOTS = 8;

/** How many of the eight memory slots a GPU type such as `a100_3g.20gb` stands for; undefined for a whole GPU. */
export function migSlots(type: string): number | undefined {
  const [, compute = '', gigabytes = ''] = /(?:^|[^\d])([12347])g\.(\d+)gb/i.exec(type) ?? [];
  if (compute === '') return undefined;
  if (compute === '1' && DOUBLE_GIGABYTES.has(gigabytes)) return 2;
  return Math.min(SLOTS_OF_PROFILE[compute] ?? WHOLE_SLOTS, WHOLE_SLOTS);
}
