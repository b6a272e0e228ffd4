/** Round steps of an axis from 0 or from just below the least value: at most `most` of them. */
export function ticksOf(low: number, high: number, most = 4): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const first = Math.floor(low / step) * step;
  const ticks: number[] = [];
  for (let tick = first; tick <= high + step * 0.999; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

/** A line through what is known; it breaks where nothing is. */
export function linePath(
  ys: readonly (number | null)[],
  x: (place: number) => number,
  y: (value: number) => number,
): string {
  return ys
    .map((value, place) => {
      if (value === null) return '';
      const starts = place === 0 || ys[place - 1] === null;
      return `${starts ? 'M' : 'L'}${x(place).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}

const DIGITS_MAX = 6;

/** `$12k`, `$950` on an axis, where a table says the rest; with as many digits as its ticks need to differ. */
export function axisUsd(usd: number, ticks: readonly number[]): string {
  const size = Math.abs(usd);
  const [unit, letter] = size >= 1e6 ? [1e6, 'M'] : size >= 1000 ? [1000, 'k'] : [1, ''];
  const [first = 0, second = usd] = ticks;
  const step = Math.abs(second - first) / unit;
  let digits = 0;
  while (digits < DIGITS_MAX && !isWhole(step * 10 ** digits)) digits += 1;
  return `$${Number((usd / unit).toFixed(digits))}${letter}`;
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}
