import { SHARE_UNITS } from '../../facts/column.ts';

const SLOT_UNITS = SHARE_UNITS / 8;
const PROFILE = String.raw`^(?:MIG )?(\d)g\.(\d+)gb(?:[+.-].*)?$`;

/**
 * The share of a GPU a MIG profile takes, in 63,000ths: its memory slots of eight. NULL if the profile is not known.
 *
 * Memory, not compute, is what a slice keeps others from using: `3g` takes four of the eight slots. A `1g` with double memory takes
 * two: told by its size, and for the 10 GB profile by the size of the GPU. Parts cut in four have no `3g` and `7g`.
 */
export function migShareSql(profile: string, model: string): string {
  const compute = `regexp_extract(${profile}, '${PROFILE}', 1)`;
  const gigabytes = `regexp_extract(${profile}, '${PROFILE}', 2)`;
  const inQuarters = `regexp_matches(COALESCE(${model}, ''), '(?i)\\bA30\\b|RTX PRO 6000')`;
  const isDouble = `(${gigabytes} IN ('20', '24', '35', '45', '47')
    OR ${gigabytes} = '10' AND regexp_matches(COALESCE(${model}, ''), '(?i)40\\s?GB'))`;
  return `${SLOT_UNITS} * CASE
    WHEN ${inQuarters} THEN CASE ${compute} WHEN '1' THEN 2 WHEN '2' THEN 4 WHEN '4' THEN 8 END
    ELSE CASE ${compute} WHEN '1' THEN CASE WHEN ${isDouble} THEN 2 ELSE 1 END
      WHEN '2' THEN 2 WHEN '3' THEN 4 WHEN '4' THEN 4 WHEN '7' THEN 8 END END`;
}
