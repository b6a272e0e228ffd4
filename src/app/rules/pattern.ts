import { RE2JS } from 're2js';
import { quote } from '../../lake/engine.ts';
import type { Condition, Pattern } from './rule.ts';

/** Met by whatever is there. */
const IS_ANYTHING = /^\*+$/;

/** Far below what the engine of the lake refuses. */
const PROGRAM_SIZE_MAX = 10_000;

/** `nlp`, `nlp-*`, `/^svc-(.+)$/`, and each of them with a `!` before it. */
export function parsePattern(written: string): Pattern {
  const isNegated = written.startsWith('!');
  const text = isNegated ? written.slice(1) : written;
  const regex = /^\/(.+)\/$/s.exec(text)?.[1];
  if (regex !== undefined) return { kind: 'regex', isNegated, text: regex };
  return { kind: /[*?]/.test(text) ? 'glob' : 'exact', isNegated, text };
}

/** The pattern as people write it. */
export function patternText({ kind, isNegated, text }: Pattern): string {
  return `${isNegated ? '!' : ''}${kind === 'regex' ? `/${text}/` : text}`;
}

/** Why a regex cannot be used; undefined where it can. Patterns of this engine take time in proportion to the text, always. */
export function regexFault(text: string): string | undefined {
  try {
    return RE2JS.compile(text).programSize() > PROGRAM_SIZE_MAX ? 'it is too large' : undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** How many groups a regex has. */
export function groupCount(text: string): number {
  return RE2JS.compile(text).groupCount();
}

/** Whether a text meets a pattern, leaving its `!` aside. */
export function meets(pattern: Pattern, value: string): boolean {
  if (pattern.kind === 'exact') return value === pattern.text;
  if (pattern.kind === 'glob' && IS_ANYTHING.test(pattern.text)) return value !== '';
  return RE2JS.compile(pattern.kind === 'glob' ? globRegex(pattern.text) : pattern.text)
    .matcher(value)
    .find();
}

function globRegex(glob: string): string {
  const literal = glob.replaceAll(/[!-/:-@[-^`{-~]/g, '\\$&');
  return `(?s)^${literal.replaceAll('\\*', '.*').replaceAll('\\?', '.')}$`;
}

/** The condition in SQL, over the expression of its attribute. Never NULL. */
export function conditionSql({ patterns }: Condition, value: string): string {
  const plain = patterns.filter(({ isNegated }) => !isNegated).map((pattern) => patternSql(pattern, value));
  const negated = patterns.filter(({ isNegated }) => isNegated).map((pattern) => `NOT ${patternSql(pattern, value)}`);
  const parts = [...(plain.length > 0 ? [`(${plain.join(' OR ')})`] : []), ...negated];
  return parts.length === 0 ? 'TRUE' : parts.join(' AND ');
}

function patternSql({ kind, text }: Pattern, value: string): string {
  if (kind === 'regex') return `COALESCE(regexp_matches(${value}, ${quote(text)}), FALSE)`;
  if (kind === 'exact') {
    return text === '' ? `(COALESCE(${value}, '') = '')` : `COALESCE(${value} = ${quote(text)}, FALSE)`;
  }
  if (IS_ANYTHING.test(text)) return `(COALESCE(${value}, '') <> '')`;
  const isPlain = !/[?%_\\]/.test(text);
  const test = isPlain
    ? `${value} LIKE ${quote(text.replaceAll(/\*+/g, '%'))}`
    : `regexp_matches(${value}, ${quote(globRegex(text))})`;
  return `COALESCE(${test}, FALSE)`;
}
