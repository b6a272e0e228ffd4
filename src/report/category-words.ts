import type { Category } from '../ledger/waterfall.ts';

/** In the order of screens: what is good first, then by what can be done about it. */
export const CATEGORY_LINES: readonly (readonly [category: Category, name: string])[] = [
  ['computing', 'computing'],
  ['idle', 'idle, held'],
  ['unallocated', 'unallocated'],
  ['starved', 'starved'],
  ['stranded', 'stranded'],
  ['lost', 'lost'],
  ['unknown', 'unknown'],
  ['beside', 'beside the GPU'],
];

/** What was paid and did nothing for anyone. What is unknown is not waste, and what stands beside the GPU is not either. */
export const WASTE_CATEGORIES: readonly Category[] = ['idle', 'unallocated', 'starved', 'stranded', 'lost'];

/** What fleets reach, after surveys of GPU fleets and what large training labs say of themselves; no single study has it. */
export const COMPUTE_SHARE_RANGES = 'unmanaged 15–40 %, well run 60–80 %';
export const COMPUTE_SHARE_REFERENCE = `rule of thumb: ${COMPUTE_SHARE_RANGES}`;

/** The reasons the ledger gives within a category, in the words of screens; a reason that is not here is its own word. */
const REASON_WORDS: Readonly<Partial<Record<Category, Readonly<Record<string, string>>>>> = {
  computing: {
    'memory-bound': 'memory-bound (DRAM)',
    'launch-bound': 'launch-bound (SMs low)',
    throttled: 'throttled (heat, power)',
    '': 'not split (fields missing)',
  },
  idle: {
    parked: 'parked (memory held)',
    bare: 'bare',
    'between-requests': 'between requests',
    '': 'memory not measured',
  },
  starved: { gap: 'gaps', pause: 'pauses', exchange: 'exchange (modelled)' },
  unallocated: { 'mig-rest': 'rest of MIG', spare: 'spare (on purpose)' },
  stranded: { absent: 'machine not there', '': 'commitment unused' },
  unknown: { absent: 'charged, nothing there', ahead: 'charged ahead', '': 'not measured' },
  beside: {
    transfer: 'egress',
    credit: 'credits',
    host: 'hosts without GPUs',
    'unused-commitment': 'commitments for other things, unused',
  },
};

/** What a reason is called; the category itself where the ledger gives none. */
export function reasonWords(category: Category, reason: string | null): string {
  return REASON_WORDS[category]?.[reason ?? ''] ?? reason ?? 'no reason known';
}

/** What a category is called. */
export function categoryWords(category: Category): string {
  return CATEGORY_LINES.find(([each]) => each === category)?.[1] ?? category;
}
