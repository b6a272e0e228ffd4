import { smiCsvHeader } from '../smi/smi-csv.ts';
import { smiWallMs } from '../smi/smi-value.ts';

export type SectionKind = 'csv' | 'query' | 'table' | 'list' | 'xml' | 'monitor' | 'other';

/** A piece of a log: what one command printed, and the heading above it. */
export interface SmiSection {
  readonly command: string | undefined;
  readonly heading: readonly string[];
  readonly body: readonly string[];
  readonly kind: SectionKind;
}

const BAR = /^[#=*-]{20,}$/;
const PROMPT = /^(?:#\s*)?(?:[\w@.:~/-]*[$#>%]|\$)\s+((?:sudo\s+)?(?:nvidia-smi|rocm-smi)\b.*)$/;
const HEADING_LINES_MAX = 12;

/**
 * The outputs a log holds one after the other. A heading is a line that shows the command as a shell does, or the lines
 * between two bars; a text without headings is one output.
 */
export function smiSections(lines: readonly string[]): SmiSection[] {
  const sections: { command: string | undefined; heading: string[]; body: string[] }[] = [
    { command: undefined, heading: [], body: [] },
  ];
  for (let at = 0; at < lines.length; at += 1) {
    const headingEnd = headingFrom(lines, at);
    if (headingEnd === undefined) {
      sections.at(-1)?.body.push(lines[at] ?? '');
      continue;
    }
    const heading = lines.slice(at, headingEnd);
    const command = heading.map((line) => PROMPT.exec(line)?.[1]).find((found) => found !== undefined);
    sections.push({ command, heading, body: [] });
    at = headingEnd - 1;
  }
  return sections
    .filter(({ heading, body }) => heading.length + body.length > 0)
    .map((section) => ({ ...section, kind: kindOf(section.body) }));
}

/** The line after the heading that begins here; undefined if none does. */
function headingFrom(lines: readonly string[], at: number): number | undefined {
  const line = lines[at] ?? '';
  if (PROMPT.test(line)) return at + 1;
  if (!/^#{20,}$/.test(line)) return undefined;
  for (let end = at + 1; end < lines.length && end <= at + HEADING_LINES_MAX; end += 1) {
    if (BAR.test(lines[end] ?? '')) return end + 1;
    if (!(lines[end] ?? '').startsWith('#')) return at + 1;
  }
  return at + 1;
}

function kindOf(body: readonly string[]): SectionKind {
  const said = body.filter((line) => line.trim() !== '');
  const [first = ''] = said;
  if (said.slice(0, 3).some((line) => /^=+NVSMI LOG=+$/.test(line.trim()))) return 'query';
  if (said.slice(0, 6).some((line) => /^\|\s*NVIDIA-SMI\s/.test(line))) return 'table';
  if (/^<\?xml|^<!DOCTYPE nvidia_smi_log|^<nvidia_smi_log/.test(first.trim())) return 'xml';
  if (/^GPU \d+: .*\(UUID: /.test(first)) return said.every(isOfList) ? 'list' : 'other';
  if (/^#\s*gpu\s/.test(first)) return 'monitor';
  return smiCsvHeader(first) === undefined ? 'other' : 'csv';
}

/** The header of `dmon` and `pmon`, with `-o DT` and with `--format csv` as well. */
const MONITOR_HEADER = /^#\s*(?:date[\s,]+)?(?:time[\s,]+)?gpu[\s,]+(?:id[\s,]+)?(pid[\s,])?/i;

/** Which program of nvidia-smi wrote this log: one of those that watch GPUs line by line; undefined if neither did. */
export function monitorOf(lines: readonly string[]): 'dmon' | 'pmon' | undefined {
  const [first = ''] = lines.filter((line) => line.trim() !== '');
  const header = MONITOR_HEADER.exec(first);
  return header === null ? undefined : header[1] === undefined ? 'dmon' : 'pmon';
}

function isOfList(line: string): boolean {
  return /\(UUID: /.test(line);
}

/** The outputs of a command that was run again and again, each with the line it begins at, from 0. */
export function repeatedOutputs(kind: SectionKind, body: readonly string[]): (readonly string[])[] {
  const begins = (line: string): boolean =>
    kind === 'query' ? /^=+NVSMI LOG=+$/.test(line.trim()) : kind === 'table' && smiWallMs(line) !== undefined;
  const outputs: string[][] = [[]];
  for (const line of body) {
    if (begins(line) && (outputs.at(-1)?.some((each) => each.trim() !== '') ?? false)) outputs.push([]);
    outputs.at(-1)?.push(line);
  }
  return outputs;
}
