import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLError,
} from 'yaml';
import type { z } from 'zod';
import { OperationError } from '../operation-error.ts';
import { pathText, type FileProblem } from './file-problem.ts';
import { unreadablePart, type Located } from './readable-text.ts';
import { schemaProblems, valueText } from './schema-problems.ts';
import { schemaAt, type IsOne, type Path } from './schema-walk.ts';

const SHOWN_MAX = 20;
/** A few aliases are a convenience; aliases of aliases can stand for more than any memory holds. */
const ALIASES_MAX = 100;
const NAMES_MAX = 10_000;

/** A kind of file people write, and what to say about one that is wrong. */
export interface YamlKind<Shape extends z.ZodObject> {
  /** `a world`. */
  readonly noun: string;
  readonly schema: Shape;
  /** What is wrong although every field is right. */
  readonly check?: (value: z.infer<Shape>) => readonly FileProblem[];
  readonly isOne?: IsOne;
  /** Places that may hold a secret: what stands there is not shown. */
  readonly hides?: (path: Path) => boolean;
  readonly errorCode: string;
  readonly hint: string;
}

/**
 * What a file says. Whatever is wrong with it is told at once, each problem with its line and column, what stands there,
 * and the sentence of the field.
 */
export function readYaml<Shape extends z.ZodObject>(
  text: string,
  label: string,
  kind: YamlKind<Shape>,
): z.infer<Shape> {
  const reading = readingOf(text, kind);
  if (reading.problems !== undefined) throw failure(reading.problems, text, label, kind);
  return reading.value;
}

type Reading<Value> =
  | { readonly value: Value; readonly problems?: undefined }
  | { readonly value?: undefined; readonly problems: readonly Located[] };

function readingOf<Shape extends z.ZodObject>(text: string, kind: YamlKind<Shape>): Reading<z.infer<Shape>> {
  const unreadable = unreadablePart(text, kind.noun);
  if (unreadable !== undefined) return { problems: [unreadable] };
  // The message of a pretty error holds a copy of the line, which the position makes needless.
  // The library compares each name of a map with all others, which for many takes minutes.
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true, uniqueKeys: false });
  const names = namesIn(document);
  if (names.tooMany !== undefined) return { problems: [names.tooMany] };
  const complaints = [...document.errors, ...document.warnings, ...names.repeated];
  if (complaints.length > 0) return { problems: syntaxProblems(complaints, kind.noun) };
  const wrong = wrongContents(document, kind) ?? badAlias(document);
  if (wrong !== undefined) return { problems: [wrong] };

  const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
  const parsed = kind.schema.safeParse(value);
  const problems = parsed.success
    ? (kind.check?.(parsed.data) ?? [])
    : schemaProblems(parsed.error.issues, { ...kind, value });
  if (parsed.success && problems.length === 0) return { value: parsed.data };
  const pairOf = createPairFinder();
  return { problems: problems.map((problem) => locate(problem, document, { kind, value, pairOf })) };
}

/** Where the library speaks to programmers. */
const YAML_WORDS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here; THIS is one',
  DUPLICATE_KEY: 'this name stands twice in the same map',
  NON_STRING_KEY: 'a name must be text',
};

/** After these the parser is still where the writer is; after any other it only guesses. */
const HARMLESS = new Set(['DUPLICATE_KEY', 'NON_STRING_KEY', 'TAG_RESOLVE_FAILED']);

type Complaint = Pick<YAMLError, 'code' | 'pos' | 'message'>;

/** Names that stand twice in a map, and where a map begins to have too many. */
function namesIn(document: Document): { readonly repeated: readonly Complaint[]; readonly tooMany?: Located } {
  const repeated: Complaint[] = [];
  let tooMany: Located | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const offsets = items.map(({ key }) => (isNode(key) ? (key.range?.[0] ?? 0) : 0));
      if (items.length > NAMES_MAX) {
        tooMany = { offset: offsets[NAMES_MAX]!, what: `more than ${NAMES_MAX} names in one map` };
        return visit.BREAK;
      }
      const seen = new Set<unknown>();
      for (const [index, { key }] of items.entries()) {
        if (!isScalar(key)) continue;
        const pos: [number, number] = [offsets[index]!, offsets[index]! + 1];
        if (seen.has(key.value)) repeated.push({ code: 'DUPLICATE_KEY', pos, message: 'Map keys must be unique' });
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return { repeated, ...(tooMany !== undefined && { tooMany }) };
}

function syntaxProblems(complaints: readonly Complaint[], noun: string): Located[] {
  const sorted = complaints.toSorted((left, right) => left.pos[0] - right.pos[0]);
  const lost = sorted.findIndex(({ code }) => !HARMLESS.has(code));
  return sorted.slice(0, lost === -1 ? sorted.length : lost + 1).map(({ code, pos, message }) => {
    const words = (YAML_WORDS[code] ?? message).replace('THIS', noun);
    return { offset: pos[0], what: `not YAML: ${words}` };
  });
}

function wrongContents({ contents }: Document, { noun, schema }: YamlKind<z.ZodObject>): Located | undefined {
  const offset = contents?.range?.[0] ?? 0;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    return { offset, what: 'the file is empty' };
  }
  if (isMap(contents)) return undefined;
  const found = isSeq(contents)
    ? 'a list'
    : isScalar(contents)
      ? `just ${valueText(contents.value)}`
      : 'something else';
  return { offset, what: `${noun} is a map of ${Object.keys(schema.shape).join(', ')}, but this is ${found}` };
}

function badAlias(document: Document): Located | undefined {
  let bad: Located | undefined;
  let first: number | undefined;
  let aliases = 0;
  // In the order of the file, so that what an alias stands for has been passed before it.
  const anchors = new Set<string>();
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const offset = node.range?.[0] ?? 0;
      first ??= offset;
      aliases += 1;
      if (aliases > ALIASES_MAX) {
        bad = { offset, what: `more than ${ALIASES_MAX} aliases; write out what they stand for` };
      } else if (!anchors.has(node.source)) {
        bad = { offset, what: `*${node.source} stands for nothing: no &${node.source} before it` };
      }
      return bad === undefined ? undefined : visit.BREAK;
    }
    if (isNode(node) && node.anchor !== undefined) anchors.add(node.anchor);
    return undefined;
  });
  if (bad !== undefined || first === undefined) return bad;
  try {
    document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause;
    return { offset: first, what: `aliases stand for more than ${ALIASES_MAX} copies; write out what they stand for` };
  }
  return undefined;
}

type PairFinder = (node: Node | null, name: string) => Pair | undefined;

/** Finds a name in a map without going through all of it each time: a thousand problems may be in the same map. */
function createPairFinder(): PairFinder {
  const pairsOfMap = new Map<YAMLMap, Map<string, Pair>>();
  return (node, name) => {
    if (!isMap(node)) return undefined;
    let pairs = pairsOfMap.get(node);
    if (pairs === undefined) {
      pairs = new Map(node.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])));
      pairsOfMap.set(node, pairs);
    }
    return pairs.get(name);
  };
}

interface Place {
  readonly kind: YamlKind<z.ZodObject>;
  readonly value: unknown;
  readonly pairOf: PairFinder;
}

function locate({ path, ofKey, what }: FileProblem, document: Document, { kind, value, pairOf }: Place): Located {
  const { sentence } = schemaAt(kind.schema, ofKey === true ? path.slice(0, -1) : path, value, kind.isOne);
  const told = sentence === undefined ? '' : `; ${sentence}`;
  return { offset: offsetOf(document, path, ofKey === true, pairOf), what: `${pathText(path)}: ${what}${told}` };
}

/** Where a place of the file begins in the text; for what is not there, where that begins which should hold it. */
function offsetOf(document: Document, path: Path, ofKey: boolean, pairOf: PairFinder): number {
  let node: Node | null = document.contents;
  for (const [depth, key] of path.entries()) {
    const pair = pairOf(node, String(key));
    if (ofKey && depth === path.length - 1 && isScalar(pair?.key)) return pair.key.range?.[0] ?? 0;
    const child: unknown = isSeq(node) ? node.get(key, true) : pair?.value;
    if (!isNode(child)) break;
    node = child;
  }
  return node?.range?.[0] ?? 0;
}

function failure(
  problems: readonly Located[],
  text: string,
  label: string,
  { errorCode, hint }: YamlKind<z.ZodObject>,
): OperationError {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  const told = problems
    .toSorted((left, right) => left.offset - right.offset)
    .map(({ offset, what }) => `${label}:${lines.linePos(offset).line}:${lines.linePos(offset).col}: ${what}`);
  const each = [...new Set(told)];
  const shown = each.slice(0, SHOWN_MAX);
  if (each.length > SHOWN_MAX) shown.push(`and ${each.length - SHOWN_MAX} more`);
  return new OperationError(errorCode, shown.join('\n'), { hint });
}
