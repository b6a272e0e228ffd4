import { linePath } from './scale.ts';

interface SparkProps {
  readonly values: readonly (number | null)[];
  readonly label: string;
  readonly width?: number;
}

const [HEIGHT, PAD] = [18, 3];

/** The shape of a series in a row of a table. */
export function Spark({ values, label, width = 88 }: SparkProps) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <span className="muted">–</span>;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (place: number): number => PAD + (place * (width - 2 * PAD)) / (values.length - 1);
  const y = (value: number): number => HEIGHT - PAD - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * PAD);
  const last = values.findLastIndex((value) => value !== null);
  return (
    <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
      <path d={linePath(values, x, y)} className="line-now" />
      <circle cx={x(last)} cy={y(values[last] ?? low)} r="2" className="dot-now" />
    </svg>
  );
}
