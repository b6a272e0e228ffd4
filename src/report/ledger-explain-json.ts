import type { DeviceHour, EntryValue, ExplainedEntry, Explanation } from './explanation.ts';
import { gpuSeconds, isoTime } from './figures.ts';

const SPLIT_COLUMNS: Readonly<Record<string, string>> = {
  splitOfUsdMicros: 'ofUsdMicros',
  splitBefore: 'before',
  splitWeight: 'weight',
  splitTotal: 'total',
};

/**
 * The whole way of a figure for programs: a script of twenty lines works it out again from this alone
 * (`test/explain-recompute.test.ts` is one).
 */
export function explanationJson(explanation: Explanation): unknown {
  const { window, filter, figure } = explanation;
  return {
    figure: {
      usdMicros: text(figure.usdMicros),
      marginalUsdMicros: text(figure.marginalUsdMicros),
      gpuSeconds: gpuSeconds(figure.units),
      unpricedSeconds: gpuSeconds(figure.unpricedUnits),
    },
    scope: { window: { from: isoTime(window.from), until: isoTime(window.until) }, filter },
    truncated: explanation.truncated.length > 0,
    truncatedParts: explanation.truncated,
    parts: explanation.parts.map(({ category, basis, usdMicros, marginalUsdMicros, units, rows }) => ({
      category,
      basis,
      usdMicros: text(usdMicros),
      marginalUsdMicros: text(marginalUsdMicros),
      gpuSeconds: gpuSeconds(units),
      rows: Number(rows),
    })),
    entries: explanation.entries.map(({ columns, categories, countedUsdMicros, countedUnits, ...owner }) => ({
      ...entryColumns(columns),
      split: splitOf(columns),
      categories: categories.map(({ category, reason, usdMicros, units, ...seconds }) => ({
        category,
        reason,
        usdMicros: text(usdMicros),
        units: String(units),
        split: categorySplit(columns, category, reason),
        fate: fateSplit(category, seconds),
      })),
      counted: text(countedUsdMicros),
      countedUnits: String(countedUnits),
      owner,
    })),
    chargeHours: explanation.chargeHours.map((line) => ({ ...line, hour: iso(line.hour) })),
    pools: explanation.pools.map((pool) => ({ ...pool, hour: iso(pool.hour) })),
    charges: explanation.charges.map((charge) => ({
      ...charge,
      ordinal: Number(charge.ordinal),
      effective: trimmed(charge.effective),
      usd: trimmed(charge.usd),
      usdUpto: trimmed(charge.usdUpto),
      from: iso(charge.from),
      until: iso(charge.until),
      hours: charge.hours.map((part) => ({ ...part, hour: iso(part.hour) })),
    })),
    deviceHours: deviceHours(explanation),
    machines: explanation.machines,
    shared: explanation.shared,
    held: explanation.held.map((piece) => ({
      ...piece,
      from: iso(piece.from),
      until: iso(piece.until),
      seconds: Number(piece.seconds),
      shareUnits: Number(piece.shareUnits),
      attempt: piece.attempt === null ? null : Number(piece.attempt),
    })),
    runs: explanation.runs.map((run) => ({ ...run, from: iso(run.from), until: iso(run.until) })),
    samples: explanation.samples.map((sample) => ({ ...sample, ts: iso(sample.ts) })),
  };
}

/** Where a bill charges the node, with the numbers by which its price is split over the devices that were there. */
function deviceHours({ deviceHours: devices, chargeHours }: Explanation): unknown[] {
  const charged = new Set(chargeHours.map(({ hour, nodeId }) => JSON.stringify([hour, nodeId])));
  const totals = new Map<string, number>();
  const keyOf = ({ hour, nodeId }: DeviceHour): string => JSON.stringify([hour, nodeId]);
  const split = devices.map((device) => {
    const before = totals.get(keyOf(device)) ?? 0;
    totals.set(keyOf(device), before + Number(device.presentSeconds));
    return { before, weight: Number(device.presentSeconds) };
  });
  return devices.map((device, place) => ({
    ...device,
    hour: iso(device.hour),
    presentSeconds: Number(device.presentSeconds),
    split: charged.has(keyOf(device)) ? { ...split[place], total: totals.get(keyOf(device)) ?? 0 } : null,
  }));
}

function entryColumns(columns: Readonly<Record<string, EntryValue>>): Record<string, EntryValue | number> {
  return Object.fromEntries(
    Object.entries(columns)
      .filter(([name]) => SPLIT_COLUMNS[name] === undefined)
      .map(([name, value]) => {
        if (name === 'hourStart' && typeof value === 'string') return [name, iso(value)];
        if (name === 'attempt' && value !== null) return [name, Number(value)];
        return [name, typeof value === 'bigint' ? String(value) : value];
      }),
  );
}

function splitOf(columns: Readonly<Record<string, EntryValue>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(SPLIT_COLUMNS).map(([column, name]) => {
      const value = columns[column] ?? null;
      return [name, value === null ? null : String(value)];
    }),
  );
}

/** Held money goes to its parts in the order of the ledger's README; any other entry is all in one category. */
function categorySplit(
  columns: Readonly<Record<string, EntryValue>>,
  category: string,
  reason: string | null,
): Record<string, string> {
  if (columns['disposition'] !== 'held') return { before: '0', weight: '1', total: '1' };
  const numberOf = (name: string): bigint => BigInt(String(columns[name] ?? 0));
  const [total, computing, idle, pause, gap, exchange] = [
    numberOf('splitWeight'),
    numberOf('splitComputing'),
    numberOf('splitIdle'),
    numberOf('splitPause'),
    numberOf('splitGap'),
    numberOf('splitExchange'),
  ];
  const isServing = columns['manner'] === 'serving';
  const parts: readonly (readonly [name: string, weight: bigint])[] = [
    ['unknown', total - computing - idle],
    ['idle', idle - pause],
    ['idle between-requests', isServing ? gap : 0n],
    ['starved pause', pause],
    ['starved gap', isServing ? 0n : gap],
    ['starved exchange', exchange],
    ['computing', computing - gap - exchange],
  ];
  // What is lost is a part of what computed, and divided once more.
  const isComputing = category === 'lost' || category === 'computing';
  const isNamed = category === 'starved' || reason === 'between-requests';
  const place = parts.findIndex(
    ([name]) => name === (isComputing ? 'computing' : isNamed ? `${category} ${reason}` : category),
  );
  const before = parts.slice(0, place).reduce((sum, [, weight]) => sum + weight, 0n);
  return { before: String(before), weight: String(parts[place]?.[1] ?? 0n), total: String(total) };
}

/** Computing time of an attempt that ended badly: what is lost first, by its seconds in the hour; null where nothing is. */
function fateSplit(
  category: string,
  { lostSeconds, attemptSeconds }: Pick<ExplainedEntry['categories'][number], 'lostSeconds' | 'attemptSeconds'>,
): Record<string, string> | null {
  if (lostSeconds === null || attemptSeconds === null) return null;
  const [before, weight] = category === 'lost' ? [0n, lostSeconds] : [lostSeconds, attemptSeconds - lostSeconds];
  return { before: String(before), weight: String(weight), total: String(attemptSeconds) };
}

function text(amount: bigint | null): string | null {
  return amount === null ? null : String(amount);
}

function iso(time: string): string {
  return `${time.replace(' ', 'T')}Z`;
}

/** Without the zeros nobody wrote. */
function trimmed(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
