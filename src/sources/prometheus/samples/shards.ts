/** A part of the devices, read and written on its own. */
export interface Shard {
  /** Part of the batch's name; empty for all devices. */
  readonly name: string;
  readonly matcher?: string;
}

/** Rows of an hour held in memory at once; some 60 bytes each. */
const ROWS_MAX = 4_000_000;

/**
 * Into which parts is an hour of this fleet cut, so that memory stays bounded?
 *
 * By the last character of the device's id, which spreads evenly and is the same on every day; what ends otherwise, or has no
 * id, is a part of its own, so that the parts are always the whole.
 */
export function shardsFor(series: number, stepS: number, deviceLabel: string | undefined): Shard[] {
  const rows = (series * 3600) / stepS;
  if (deviceLabel === undefined || rows <= ROWS_MAX) return [{ name: '' }];
  const width = rows <= 4 * ROWS_MAX ? 4 : 1;
  const digits = '0123456789abcdef';
  const groups = Array.from({ length: 16 / width }, (_, place) => digits.slice(place * width, (place + 1) * width));
  return [
    ...groups.map((group) => ({ name: group, matcher: `${deviceLabel}=~".*[${group}${group.toUpperCase()}]"` })),
    { name: 'others', matcher: `${deviceLabel}!~".*[0-9a-fA-F]"` },
  ];
}
