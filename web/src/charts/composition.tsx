interface Part {
  /** The class of its colour: `step-idle`, `cat-3`, `unknown`. */
  readonly of: string;
  readonly word: string;
  readonly value: number;
}

interface CompositionProps {
  readonly parts: readonly Part[];
  readonly width?: number;
  readonly height?: number;
}

const ROW = 18;

/** One bar cut into its parts, with ground between them. */
export function Composition({ parts, width = 218, height = 10 }: CompositionProps) {
  const shown = parts.filter(({ value }) => value > 0);
  const sum = shown.reduce((total, { value }) => total + value, 0);
  if (sum === 0) return <span className="muted">–</span>;
  const label = shown.map(({ word, value }) => `${word} ${Math.round((value / sum) * 100)}%`).join(', ');
  const widths = shown.map(({ value }) => (value / sum) * width);
  return (
    <svg width={width} height={ROW} viewBox={`0 0 ${width} ${ROW}`} role="img" aria-label={label}>
      {shown.map(({ of }, place) => {
        const x = widths.slice(0, place).reduce((total, each) => total + each, 0);
        const wide = widths[place] ?? 0;
        const isUnknown = of.endsWith('unknown');
        const box = { x: x.toFixed(1), width: Math.max(0.6, wide - 1).toFixed(1) };
        return (
          <g key={of}>
            <rect {...box} y={(ROW - height) / 2} height={height} className={isUnknown ? 'f-unknown' : `f-${of}`} />
            {isUnknown && wide > 3 ? (
              <rect
                x={(x + 0.5).toFixed(1)}
                y={(ROW - height) / 2 + 0.5}
                width={(wide - 2).toFixed(1)}
                height={height - 1}
                className="outline"
              />
            ) : null}
          </g>
        );
      })}
    </svg>
  );
}
