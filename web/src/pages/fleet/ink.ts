import { LEVELS } from './tile.ts';

/** Colours of the map as the theme has them now; a canvas cannot name a token. */
export interface Ink {
  readonly heat: readonly string[];
  readonly ink: string;
  readonly ink2: string;
  readonly ink3: string;
  readonly bad: string;
  readonly grid: string;
  readonly dots: string;
  readonly hatch: string;
  readonly ground: string;
  readonly sunk: string;
  readonly cursor: string;
  readonly sans: string;
  readonly mono: string;
}

const NAMES = ['ink', 'ink2', 'ink3', 'bad', 'grid', 'dots', 'hatch', 'ground', 'sunk', 'cursor'] as const;

/** Reads the tokens through elements that wear them: of `light-dark()` only what is painted says which of the two it is. */
export function readInk(): Ink {
  const probe = document.createElement('span');
  probe.className = 'ink-probe';
  document.body.append(probe);
  const colour = (name: string): string => {
    probe.className = `ink-probe ink-${name}`;
    return getComputedStyle(probe).color;
  };
  const heat = Array.from({ length: LEVELS }, (_, level) => colour(`heat-${level}`));
  const others = Object.fromEntries(NAMES.map((name) => [name, colour(name)])) as Record<
    (typeof NAMES)[number],
    string
  >;
  const family = (name: string): string => {
    probe.className = `ink-probe ${name}`;
    return getComputedStyle(probe).fontFamily;
  };
  const ink = { heat, ...others, sans: family('sans'), mono: family('mono') };
  probe.remove();
  return ink;
}

/** Calls back when the theme changes, by the system or by the reader. */
export function onThemeChange(listener: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const observer = new MutationObserver(listener);
  system.addEventListener('change', listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', listener);
    observer.disconnect();
  };
}

/** `rgb(251, 210, 142)` as numbers. */
export function rgbOf(colour: string): readonly [number, number, number] {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue];
}
