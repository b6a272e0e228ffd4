/** What is unknown is a hatch, never a colour: a colour would look measured. */
export function Hatches() {
  return (
    <svg className="definitions" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="5" height="5" className="hatch-ground" />
          <path d="M0 0V5" className="hatch-ink" />
        </pattern>
        <pattern id="hatch-small" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="4" height="4" className="hatch-ground" />
          <path d="M0 0V4" className="hatch-ink" />
        </pattern>
      </defs>
    </svg>
  );
}
