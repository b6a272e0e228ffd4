import { PAGE_TOKENS } from './look-page-style.ts';

const RULES = `
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); font: 400 var(--text-s)/1.4 var(--sans); font-variant-numeric: tabular-nums; }
body { margin: 0 auto; padding: 24px; max-width: 860px; overflow-wrap: anywhere; }
h1 { font-size: var(--text-xl); line-height: 1.2; font-weight: 600; margin: 0; }
h2 { font-size: var(--text-m); line-height: 1.25; font-weight: 600; margin: 14px 0 3px; }
p, ul, dl, dd { margin: 0; padding: 0; }
header { display: flex; justify-content: space-between; gap: 24px; }
.soft, .note { color: var(--ink-2); }
.note { margin-top: 4px; font-size: 11px; }
.demo { background: var(--warn-wash); color: var(--warn); padding: 4px 8px; margin-bottom: 10px; font-weight: 600; }
.verdict { font-size: var(--text-l); line-height: 1.35; margin: 12px 0 0; text-wrap: pretty; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 1px 10px; font-size: 11px; max-width: 400px; }
dt { color: var(--ink-3); }
.cols { display: grid; grid-template-columns: 1.75fr 1fr; gap: 0 26px; }
table { border-collapse: collapse; width: 100%; }
th { font-weight: 500; font-size: 11px; color: var(--ink-3); text-align: left; padding: 2px 6px; border-bottom: 1px solid var(--line-strong); white-space: nowrap; }
td, tbody th { padding: 2px 6px; border-bottom: 1px solid var(--line); vertical-align: baseline; }
tbody th { font-weight: 400; color: var(--ink); font-size: var(--text-s); white-space: normal; }
th:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
.n { text-align: right; white-space: nowrap; }
tr.sum th, tr.sum td { font-weight: 600; border-bottom: 0; border-top: 1px solid var(--line-strong); }
tr.due th, tr.due td { font-size: var(--text-m); }
svg.sw { width: 9px; height: 9px; margin-right: 6px; }
.defs { position: absolute; width: 0; height: 0; }
code { font-family: var(--mono); font-size: 10.5px; background: var(--sunk); padding: 1px 3px; }
footer { margin-top: 14px; padding-top: 6px; border-top: 1px solid var(--line); color: var(--ink-3); font-size: 10.5px; }
.computing { fill: none; stroke: var(--ink-2); stroke-width: 2; }
.idle { fill: var(--step-idle); } .unallocated { fill: var(--step-unallocated); } .stranded { fill: var(--step-stranded); }
.beside { fill: var(--step-beside); } .unknown { fill: url(#hatch); stroke: var(--ink-2); stroke-width: 1; }
.ground { fill: var(--hatch-ground); } .hatch { stroke: var(--hatch-ink); stroke-width: 1.1; }
@page { size: A4; margin: 12mm 13mm; }
@media print {
  body { padding: 0; max-width: none; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  tr, dl { break-inside: avoid; }
  h2 { break-after: avoid; }
}
@media screen and (max-width: 700px) { .cols, header { display: block; } body { padding: 12px; } }`;

export const STATEMENT_PAGE_STYLE = `${PAGE_TOKENS}${RULES}\n`;
