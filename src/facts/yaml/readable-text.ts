import { Lexer, Parser } from 'yaml';

const CHARACTERS_MAX = 1_000_000;
/** 500 pools of a demo world with 1,000 habits take 32,000. */
const LINES_MAX = 50_000;
const DEPTH_MAX = 100;
const REPLACEMENT = 0xfffd;

/** Something about a text and where it stands. */
export interface Located {
  readonly offset: number;
  readonly what: string;
}

/**
 * Why a text cannot be a file people wrote, before anything composes it: bytes that are no text, more than anybody would read,
 * or nesting so deep that the composer would take the process with it.
 */
export function unreadablePart(text: string, noun: string): Located | undefined {
  if (text.length > CHARACTERS_MAX) {
    return { offset: 0, what: `the file has ${text.length} characters; ${noun} has at most ${CHARACTERS_MAX}` };
  }
  let lines = 1;
  for (let offset = 0; offset < text.length; offset += 1) {
    const code = text.charCodeAt(offset);
    if (isNoText(code)) return { offset, what: 'this is not text in UTF-8: a byte here is no character' };
    if (code === 10) lines += 1;
    if (lines > LINES_MAX) {
      return { offset: offset + 1, what: `more than ${LINES_MAX} lines; ${noun} has at most that` };
    }
  }
  return tooDeepPart(text);
}

/** Control characters but tab, line feed, form feed and carriage return, and what stands for a byte that is none. */
function isNoText(code: number): boolean {
  return code < 9 || (code > 13 && code < 32) || code === REPLACEMENT;
}

/**
 * Where the text goes too deep. Only the parser knows a bracket from one in quotes or in a comment; it keeps what is
 * open in a list and is stopped here in time, whereas the composer after it calls itself for each level.
 */
function tooDeepPart(text: string): Located | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    // What the parser has finished meanwhile is not wanted, but it goes on only if somebody takes it.
    Array.from(parser.next(lexeme));
    const open = parser.stack.filter(({ type }) => COLLECTIONS.has(type)).length;
    if (open > DEPTH_MAX) return { offset, what: `nested more than ${DEPTH_MAX} deep` };
  }
  return undefined;
}

const COLLECTIONS = new Set(['block-map', 'block-seq', 'flow-collection']);
