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

/** `$12k`, `$950` on an axis, where a table says the rest. */
export function axisUsd(usd: number): string {
  const size = Math.abs(usd);
  if (size >= 1e6) return `$${Number((usd / 1e6).toPrecision(3))}M`;
  return size >= 1000 ? `$${Number((usd / 1000).toPrecision(3))}k` : `$${Number(usd.toPrecision(3))}`;
}
