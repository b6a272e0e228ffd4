/**
 * The colours, sizes and spaces of the dashboard, as far as one page needs them. One value, one meaning; the rules below name no
 * raw colour. The page follows the reader's system, prints light, and needs nothing from elsewhere.
 */
export const PAGE_TOKENS = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #12161b); --sunk: light-dark(#f5f6f8, #1a1f26);
  --line: light-dark(#e2e5e9, #2a313a); --line-strong: light-dark(#868f9a, #66707c);
  --ink: light-dark(#16191d, #e8eaed); --ink-2: light-dark(#4a525c, #b3bac3); --ink-3: light-dark(#636c77, #929ba6);
  --warn: light-dark(#8a5200, #e9b04a); --warn-wash: light-dark(#fdf3e0, #2c2415);
  --step-beside: light-dark(#8d969f, #5f6974); --step-stranded: light-dark(#432a93, #6f61d2);
  --step-unallocated: light-dark(#b98f0a, #f2c95f); --step-idle: light-dark(#bd5504, #ec842a);
  --step-starved: light-dark(#1f7a8c, #4fb3c8); --step-lost: light-dark(#a3213f, #e5677f);
  --hatch-ink: light-dark(#7d8691, #7f8a96); --hatch-ground: light-dark(#ffffff, #12161b);
  --sans: Inter, -apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", system-ui, sans-serif;
  --mono: ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
  --text-s: 12px; --text-m: 13px; --text-l: 15px; --text-xl: 20px; --measure: 92ch;
}
@media (prefers-contrast: more) { :root { --ink-2: var(--ink); --ink-3: var(--ink); --line: var(--line-strong); } }
@media print { :root { color-scheme: light; } }`;

const RULES = `
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); font: 400 var(--text-m)/1.45 var(--sans); font-variant-numeric: tabular-nums; }
body { margin: 0 auto; padding: 32px 24px; max-width: 1120px; overflow-wrap: anywhere; }
h1 { font-size: var(--text-xl); line-height: 1.35; font-weight: 450; letter-spacing: -0.012em; margin: 4px 0 16px; text-wrap: pretty; }
h2 { font-size: var(--text-l); line-height: 1.25; font-weight: 600; margin: 32px 0 8px; }
p, ul, dl, dd { margin: 0; padding: 0; }
.brand { color: var(--ink-3); font-size: var(--text-s); }
.demo { background: var(--warn-wash); color: var(--warn); padding: 8px 12px; margin-bottom: 16px; font-weight: 600; }
.part { background: var(--warn-wash); color: var(--ink); padding: 8px 12px; margin-bottom: 16px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; font-size: var(--text-s); }
dt { color: var(--ink-3); }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--line-strong); outline-offset: 1px; }
table { border-collapse: collapse; width: 100%; }
th { font-weight: 500; font-size: var(--text-s); color: var(--ink-3); text-align: left; padding: 4px 8px; border-bottom: 1px solid var(--line-strong); white-space: nowrap; }
td { padding: 4px 8px; border-bottom: 1px solid var(--line); vertical-align: middle; }
th:first-child { padding-left: 0; }
tbody th { font-weight: 400; color: var(--ink); font-size: var(--text-m); border-bottom: 1px solid var(--line); }
td:last-child { padding-right: 0; color: var(--ink-2); font-size: var(--text-s); min-width: 22ch; }
.n { text-align: right; white-space: nowrap; }
.bar { width: 248px; }
tr.sum th, tr.sum td { font-weight: 600; }
tr.sum td:last-child { font-weight: 400; }
svg { display: block; overflow: visible; }
.defs { position: absolute; width: 0; height: 0; }
ul { list-style: none; max-width: var(--measure); }
li { padding: 4px 0; border-bottom: 1px solid var(--line); }
code { font-family: var(--mono); font-size: var(--text-s); background: var(--sunk); padding: 1px 4px; }
footer { margin-top: 32px; color: var(--ink-3); font-size: var(--text-s); }
.paid { fill: var(--ink-3); }
.computing { fill: none; stroke: var(--ink-2); stroke-width: 1; shape-rendering: crispEdges; }
.idle { fill: var(--step-idle); } .unallocated { fill: var(--step-unallocated); } .stranded { fill: var(--step-stranded); }
.starved { fill: var(--step-starved); } .lost { fill: var(--step-lost); }
.beside { fill: var(--step-beside); } .unknown { fill: url(#hatch); stroke: var(--ink-2); stroke-width: 1; shape-rendering: crispEdges; }
.ground { fill: var(--hatch-ground); } .hatch { stroke: var(--hatch-ink); stroke-width: 1.1; }
@page { size: A4; margin: 14mm; }
@media print {
  body { padding: 0; max-width: none; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  tr, li, dl { break-inside: avoid; }
  h2 { break-after: avoid; }
  .bar { width: 150px; }
  .bar svg { width: 150px; }
  .scroll { overflow: visible; }
}
@media screen and (max-width: 700px) { .bar { display: none; } body { padding: 16px; } }`;

export const LOOK_PAGE_STYLE = `${PAGE_TOKENS}${RULES}\n`;
