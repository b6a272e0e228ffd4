import { posix } from 'node:path';
import type { Detector } from '../../src/facts/detector.ts';
import type { FactTable } from '../../src/facts/fact-table.ts';
import { lineAt, type Rule } from './tree.ts';

/** Decisions are numbered without gaps, and their titles say so. */
export const decisionNumbers: Rule = (files) =>
  files
    .filter(({ path }) => posix.dirname(path) === 'docs/decisions' && posix.basename(path) !== 'README.md')
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path, text }, i) => {
      const want = String(i + 1).padStart(4, '0');
      const number = /^(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md$/.exec(posix.basename(path))?.[1];
      if (number === undefined) return [`${path}:1: is not named NNNN-title.md`];
      if (number !== want) return [`${path}:1: should be number ${want}`];
      return text.startsWith('# ') ? [] : [`${path}:1: starts with its title`];
    });

/** A relative link leads to a file that is there and, after #, to a heading of it. */
export const links: Rule = (files) => {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const exists = (path: string) =>
    texts.has(path) || path === '' || files.some((file) => file.path.startsWith(`${path}/`));
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...withoutCode(text).matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm)].flatMap((match) => {
        const target = match[1] ?? match[2] ?? '';
        if (/^[a-z][a-z+.-]*:/i.test(target)) return [];
        const at = `${path}:${lineAt(text, match.index)}`;
        const [file = '', heading] = target.split('#');
        const resolved =
          file === '' ? path : posix.join(posix.dirname(path), decodeURI(file)).replace(/^\.?\/?|\/$/g, '');
        if (!exists(resolved)) return [`${at}: nothing at ${target}`];
        const headings = heading === undefined ? undefined : headingsOf(texts.get(resolved) ?? '');
        return headings === undefined || headings.has(heading ?? '') ? [] : [`${at}: no heading for ${target}`];
      }),
    );
};

/**
 * Every fact table has a section in docs/FACTS.md with an example file in a fenced block: its header line names
 * columns of the table only, and all that are required.
 */
export function factExamples(tables: readonly FactTable[]): Rule {
  return (files) => {
    const path = 'docs/FACTS.md';
    const text = files.find((file) => file.path === path)?.text ?? '';
    const sections = text.split(/^(?=#{1,6} )/m);
    return tables.flatMap((table) => {
      const section = sections.find((candidate) => {
        const title = candidate.split('\n', 1)[0] ?? '';
        return title.startsWith('#') && new RegExp(`(^|[^\\w])${table.name}($|[^\\w])`).test(title);
      });
      if (section === undefined) return [`${path}:1: no section for ${table.name}`];
      const wants = [...section.matchAll(/^```[^\n]*\n(.+)$/gm)].map((block) => headerOffence(table, block[1] ?? ''));
      if (wants.length === 0) return [`${path}:1: no example file for ${table.name}`];
      return wants.includes(undefined) ? [] : [`${path}:1: the example for ${table.name} ${wants[0]}`];
    });
  };
}

function headerOffence(table: FactTable, header: string): string | undefined {
  const names = header.split(',').map((name) => name.trim());
  const known = new Set(table.columns.flatMap((c) => [c.name, ...(c.alsoKnownAs ?? []).map((other) => other.name)]));
  const stranger = names.find((name) => !known.has(name.replace(/^"|"$/g, '')));
  if (stranger !== undefined) return `has the unknown column ${stranger}`;
  const absent = table.columns.find(
    (c) =>
      c.required && ![c.name, ...(c.alsoKnownAs ?? []).map((other) => other.name)].some((name) => names.includes(name)),
  );
  return absent === undefined ? undefined : `lacks the column ${absent.name}`;
}

/**
 * The table of detectors in ARCHITECTURE.md is the list that is asked: a row for each category, with the names of its detectors in their order.
 */
export function detectorTable(detectors: readonly Pick<Detector, 'name' | 'category'>[]): Rule {
  return (files) => {
    const path = 'ARCHITECTURE.md';
    const text = files.find((file) => file.path === path)?.text ?? '';
    const table = /^\| category \| detectors \|\n\|[-|]+\|\n((?:\|.*\|\n?)*)/m.exec(text);
    if (table === null) return [`${path}:1: no table of detectors by category`];
    const rows = (table[1] ?? '').trimEnd().split('\n');
    const told = rows.map((row, i) => {
      const [, category = '', cell = ''] = row.split('|').map((part) => part.trim());
      const names = [...cell.matchAll(/`([^`]+)`/g)].map((name) => name[1]).join(', ');
      return { category, names, at: `${path}:${lineAt(text, table.index) + 2 + i}` };
    });
    const asked = new Map<string, string>();
    for (const { name, category } of detectors) {
      const before = asked.get(category);
      asked.set(category, before === undefined ? name : `${before}, ${name}`);
    }
    return [
      ...told
        .filter(({ category, names }) => asked.get(category) !== names)
        .map(
          ({ category, names, at }) => `${at}: ${category} has ${names}, asked are ${asked.get(category) ?? 'none'}`,
        ),
      ...[...asked.keys()]
        .filter((category) => told.filter((row) => row.category === category).length !== 1)
        .map((category) => `${path}:1: not one row of detectors for ${category}`),
    ];
  };
}

/** A word of the glossary is explained once; where two rooms need it, it says in brackets whose it is. */
export const glossaryWords: Rule = (files) => {
  const path = 'docs/GLOSSARY.md';
  const text = files.find((file) => file.path === path)?.text ?? '';
  const words = [...text.matchAll(/^\| \*\*(.+?)\*\* \|/gm)].flatMap((row) =>
    (row[1] ?? '').split(', ').map((word) => ({ word, line: lineAt(text, row.index) })),
  );
  if (words.length === 0) return [`${path}:1: explains no word`];
  return words
    .filter(({ word }, i) => words.findIndex((other) => other.word === word) < i)
    .map(({ word, line }) => `${path}:${line}: ${word} is explained before`);
};

/** Blanks code, keeping line numbers: a link in an example is not a link. */
function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```|`[^`\n]*`/gm, (code) => code.replaceAll(/[^\n]/g, ' '));
}

/** Headings the way web hosts turn them into anchors. */
function headingsOf(text: string): Set<string> {
  const titles = [...text.matchAll(/^#{1,6} +(.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}
