import { CELL } from './tile.ts';

export const MEASURES = ['activity', 'memory', 'wasted'] as const;
export type Measure = (typeof MEASURES)[number];

export const MEASURE_WORDS: Readonly<Record<Measure, string>> = {
  activity: 'Activity',
  memory: 'Memory',
  wasted: 'Money wasted',
};

const SHARES = ['< 1%', '1–15', '15–30', '30–50', '50–70', '70–90', '≥ 90%'];

/** What each level is, in the order of the ramp. */
export const LEVEL_WORDS: Readonly<Record<Measure, readonly string[]>> = {
  activity: ['idle, < 1%', ...SHARES.slice(1)],
  memory: ['free, < 1%', ...SHARES.slice(1)],
  wasted: ['< $0.10 / h', '0.10–0.25', '0.25–0.50', '0.50–1', '1–2', '2–4', '≥ $4 / h'],
};

/** A cell in a word, where there is room for one. */
export function shortWords(value: number, measure: Measure): string {
  if (value === CELL.free) return 'free';
  if (value === CELL.unknown) return 'unknown';
  if (value === CELL.nothing) return '$0';
  if (value === CELL.priceless) return 'no price';
  if (value === CELL.absent) return '–';
  const level = LEVEL_WORDS[measure][value] ?? '';
  if (measure === 'wasted') return /^\d/.test(level) ? `$${level}` : level.replace(' / h', '');
  return value === 0 ? (level.split(',')[0] ?? level) : `${level.replace('%', '')}%`;
}

/** A cell in words, for who cannot see its colour. */
export function cellWords(value: number, measure: Measure): string {
  if (value === CELL.free) return 'unallocated';
  if (value === CELL.unknown) return 'not measured: unknown, not idle';
  if (value === CELL.nothing) return 'nothing wasted';
  if (value === CELL.priceless) return 'no price';
  if (value === CELL.absent) return 'not there';
  const level = LEVEL_WORDS[measure][value] ?? '';
  return measure === 'activity'
    ? `${level.replace(/^idle, /, 'idle, ')}${value === 0 ? '' : `${level.endsWith('%') ? '' : '%'} active`}`
    : measure === 'memory'
      ? `${level}${level.endsWith('%') ? '' : '%'} of its memory`
      : `${level.startsWith('<') || level.startsWith('≥') ? level : `$${level} / h`} wasted`;
}
