/** A list that names more machines than any cluster has was not written by Slurm. */
const NODES_MAX = 100_000;
const NOBODY = new Set(['', 'none assigned', 'none', '(null)', 'n/a', 'unknown']);

/**
 * Question: which machines does `gpu-[01-02,05],cpu7` name, in order?
 *
 * Empty where Slurm says that there are none; undefined where the text is no list of Slurm's, so that a row is reported
 * instead of being put on a machine that does not exist.
 */
export function expandNodeList(text: string): readonly string[] | undefined {
  const list = text.trim();
  if (NOBODY.has(list.toLowerCase())) return [];
  const names: string[] = [];
  for (const part of splitOutsideBrackets(list) ?? ['']) {
    const expanded = expandName(part);
    if (expanded === undefined || names.length + expanded.length > NODES_MAX) return undefined;
    for (const name of expanded) names.push(name);
  }
  return [...new Set(names)];
}

function splitOutsideBrackets(text: string): string[] | undefined {
  const parts: string[] = [];
  let [depth, begin] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index];
    if (letter === '[') depth += 1;
    if (letter === ']') depth -= 1;
    if (depth < 0 || depth > 1) return undefined;
    if (letter === ',' && depth === 0) {
      parts.push(text.slice(begin, index));
      begin = index + 1;
    }
  }
  parts.push(text.slice(begin));
  return depth === 0 ? parts : undefined;
}

/** `rack[1-2]-gpu[01-04]`: every bracket multiplies. */
function expandName(name: string): readonly string[] | undefined {
  const pieces = name.split(/\[([^[\]]*)\]/);
  let names = [''];
  for (const [index, piece] of pieces.entries()) {
    // Odd pieces stood in brackets.
    const choices = index % 2 === 0 ? plainPiece(piece) : numbersOf(piece);
    if (choices === undefined || names.length * choices.length > NODES_MAX) return undefined;
    names = names.flatMap((before) => choices.map((choice) => before + choice));
  }
  return names.includes('') ? undefined : names;
}

function plainPiece(piece: string): readonly string[] | undefined {
  return /^[\w.:-]*$/.test(piece) ? [piece] : undefined;
}

/** `01-03,7` as 01, 02, 03, 7: as wide as the first number is written. */
function numbersOf(ranges: string): readonly string[] | undefined {
  const numbers: string[] = [];
  for (const range of ranges.split(',')) {
    const [, first = '', last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range.trim()) ?? [];
    if (first === '' || Number(last) < Number(first)) return undefined;
    if (numbers.length + Number(last) - Number(first) >= NODES_MAX) return undefined;
    for (let number = Number(first); number <= Number(last); number += 1) {
      numbers.push(String(number).padStart(first.length, '0'));
    }
  }
  return numbers;
}

const TASKS_RANGE = /^(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?$/;

/** The tasks of `5-9%2`, `[1-20:5]` or `1,3,7`, at most `max` of them, and how many there are in all. */
export function expandTasks(text: string, max: number): { tasks: readonly number[]; count: number } | undefined {
  const spec = text.trim().replace(/^\[/, '').replace(/\]$/, '').replace(/%\d+$/, '');
  const tasks: number[] = [];
  let count = 0;
  for (const range of spec.split(',')) {
    // Slurm itself cuts a long list off with dots.
    if (range === '...') continue;
    const [, first, last = first, step = '1'] = TASKS_RANGE.exec(range.trim()) ?? [];
    if (first === undefined || Number(last) < Number(first) || Number(step) === 0) return undefined;
    count += Math.floor((Number(last) - Number(first)) / Number(step)) + 1;
    for (let task = Number(first); task <= Number(last) && tasks.length < max; task += Number(step)) tasks.push(task);
  }
  return { tasks, count };
}
