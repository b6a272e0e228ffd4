import { usePathname } from 'wouter/use-browser-location';

/**
 * The name that a place of the path holds, decoded once. The router decodes a path before it matches, and a second time would
 * make `A` of a team called `%41`, and nothing at all of one called `50%`.
 */
export function useSegment(place: number): string {
  return segmentOf(usePathname(), place);
}

export function segmentOf(path: string, place: number): string {
  const raw = path.split('/')[place + 1] ?? '';
  try {
    return decodeURIComponent(raw);
  } catch {
    // Typed by hand: a percent sign that is only that.
    return raw;
  }
}
