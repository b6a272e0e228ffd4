import { SHARE_UNITS } from '../../facts/column.ts';

const PROFILE = /^(?:MIG )?(\d)g\.(\d+)gb(?:[+.-].*)?$/;
const SLOTS_OF_EIGHT: Readonly<Record<string, number>> = { '1': 1, '2': 2, '3': 4, '4': 4, '7': 8 };
const SLOTS_IN_QUARTERS: Readonly<Record<string, number>> = { '1': 2, '2': 4, '4': 8 };
const DOUBLE_MEMORY_GB = new Set(['20', '24', '35', '45', '47']);

/**
 * The share of a GPU a MIG profile takes, in 63,000ths, as `migShareSql` has it: its memory slots of eight. Undefined if the
 * profile is not known.
 */
export function migShareUnits(profile: string, model = ''): number | undefined {
  const slots = migSlots(profile, model);
  return slots === undefined ? undefined : (SHARE_UNITS / 8) * slots;
}

function migSlots(profile: string, model: string): number | undefined {
  const [, compute = '', gigabytes = ''] = PROFILE.exec(profile) ?? [];
  if (/\bA30\b|RTX PRO 6000/i.test(model)) return SLOTS_IN_QUARTERS[compute];
  const isDouble = DOUBLE_MEMORY_GB.has(gigabytes) || (gigabytes === '10' && /40\s?GB/i.test(model));
  return compute === '1' && isDouble ? 2 : SLOTS_OF_EIGHT[compute];
}
