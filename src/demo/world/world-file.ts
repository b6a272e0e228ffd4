import {
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type YAMLError,
} from 'yaml';
import { OperationError } from '../../facts/operation-error.ts';
import { checkWorld } from './check/check-world.ts';
import { unreadablePart } from './readable-text.ts';
import { schemaProblems, valueText } from './schema-problems.ts';
import { schemaAt, type Path } from './schema-walk.ts';
import { pathText, type WorldProblem } from './check/world-problem.ts';
import { worldSchema, type World } from './world-schema.ts';

const SHOWN_MAX = 20;
/** A few aliases are a convenience; aliases of aliases can stand for more than any memory holds. */
const ALIASES_MAX = 100;

/** A problem and where it stands in the text. */
interface Located {
  readonly offset: number;
  readonly what: string;
}

/**
 * The world a file describes. Whatever is wrong with it is told at once, each problem with its line and column, what
 * stands there, and the sentence of the field.
 */
export function readWorld(text: string, label: string): World {
  const { world, problems } = worldOf(text);
  if (world === undefined) throw failure(problems, text, label);
  return world;
}

type Reading =
  | { readonly world: World; readonly problems?: undefined }
  | { readonly world?: undefined; readonly problems: readonly Located[] };

function worldOf(text: string): Reading {
  const unreadable = unreadablePart(text);
  if (unreadable !== undefined) return { problems: [unreadable] };
  // The message of a pretty error holds a copy of the line, which the position makes needless.
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true });
  const complaints = [...document.errors, ...document.warnings];
  if (complaints.length > 0) return { problems: syntaxProblems(complaints) };
  const notAWorld = wrongContents(document) ?? badAlias(document);
  if (notAWorld !== undefined) return { problems: [notAWorld] };

  const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
  const parsed = worldSchema.safeParse(value);
  const problems = parsed.success ? checkWorld(parsed.data) : schemaProblems(parsed.error.issues, value);
  if (parsed.success && problems.length === 0) return { world: parsed.data };
  return { problems: problems.map((problem) => locate(problem, document, value)) };
}

/** Where the library speaks to programmers. */
const YAML_WORDS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here; a world is one',
  DUPLICATE_KEY: 'this name stands twice in the same map',
  NON_STRING_KEY: 'a name must be text',
};

/** After these the parser is still where the writer is; after any other it only guesses. */
const HARMLESS = new Set(['DUPLICATE_KEY', 'NON_STRING_KEY', 'TAG_RESOLVE_FAILED']);

function syntaxProblems(complaints: readonly YAMLError[]): Located[] {
  const sorted = complaints.toSorted((left, right) => left.pos[0] - right.pos[0]);
  const lost = sorted.findIndex(({ code }) => !HARMLESS.has(code));
  return sorted
    .slice(0, lost === -1 ? sorted.length : lost + 1)
    .map(({ code, pos, message }) => ({ offset: pos[0], what: `not YAML: ${YAML_WORDS[code] ?? message}` }));
}

function wrongContents({ contents }: Document): Located | undefined {
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
  return { offset, what: `a world is a map of ${Object.keys(worldSchema.shape).join(', ')}, but this is ${found}` };
}

function badAlias(document: Document): Located | undefined {
  let bad: Located | undefined;
  let first: number | undefined;
  visit(document, {
    Alias: (_, alias) => {
      const offset = alias.range?.[0] ?? 0;
      first ??= offset;
      if (alias.resolve(document) !== undefined) return undefined;
      bad = { offset, what: `*${alias.source} stands for nothing: no &${alias.source} before it` };
      return visit.BREAK;
    },
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

function locate({ path, ofKey, what }: WorldProblem, document: Document, value: unknown): Located {
  const { sentence } = schemaAt(ofKey === true ? path.slice(0, -1) : path, value);
  const told = sentence === undefined ? '' : `; ${sentence}`;
  return { offset: offsetOf(document, path, ofKey === true), what: `${pathText(path)}: ${what}${told}` };
}

/** Where a place of the world begins in the text; for what is not there, where that begins which should hold it. */
function offsetOf(document: Document, path: Path, ofKey: boolean): number {
  let node: Node | null = document.contents;
  for (const [depth, key] of path.entries()) {
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
      : undefined;
    if (ofKey && depth === path.length - 1 && isScalar(pair?.key)) return pair.key.range?.[0] ?? 0;
    const child: unknown = isCollection(node) ? node.get(key, true) : undefined;
    if (child === undefined || child === null) break;
    node = child as Node;
  }
  return node?.range?.[0] ?? 0;
}

function failure(problems: readonly Located[], text: string, label: string): OperationError {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  const told = problems
    .toSorted((left, right) => left.offset - right.offset)
    .map(({ offset, what }) => `${label}:${lines.linePos(offset).line}:${lines.linePos(offset).col}: ${what}`);
  const each = [...new Set(told)];
  const shown = each.slice(0, SHOWN_MAX);
  if (each.length > SHOWN_MAX) shown.push(`and ${each.length - SHOWN_MAX} more`);
  return new OperationError('bad-world', shown.join('\n'), {
    hint: 'A world that is right, with the meaning of each number: bursar demo --print-world > my-world.yaml',
  });
}
