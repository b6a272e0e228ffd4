const CHARACTERS_MAX = 2_000_000;
const DEPTH_MAX = 100;
const REPLACEMENT = 0xfffd;

/**
 * Why a text cannot be a world file, before anything parses it: bytes that are no text, or nesting so deep that the
 * parser would take the process with it.
 */
export function unreadablePart(text: string): { readonly offset: number; readonly what: string } | undefined {
  if (text.length > CHARACTERS_MAX) {
    return { offset: 0, what: `the file has ${text.length} characters; a world has at most ${CHARACTERS_MAX}` };
  }
  const nesting = createNesting();
  for (let offset = 0; offset < text.length; offset += 1) {
    const code = text.charCodeAt(offset);
    if (isNoText(code)) return { offset, what: 'this is not text in UTF-8: a byte here is no character' };
    if (nesting.after(text[offset]!) > DEPTH_MAX) return { offset, what: `nested more than ${DEPTH_MAX} deep` };
  }
  return undefined;
}

/** Control characters but tab, line feed, form feed and carriage return, and what stands for a byte that is none. */
function isNoText(code: number): boolean {
  return code < 9 || (code > 13 && code < 32) || code === REPLACEMENT;
}

/** Depth at most, by brackets, by dashes in one line and by indentation; what is in quotes counts too. */
function createNesting(): { readonly after: (character: string) => number } {
  let brackets = 0;
  let inLine = 0;
  let isIndentation = true;
  let before = '\n';
  const after = (character: string): number => {
    if (character === '[' || character === '{') brackets += 1;
    if (character === ']' || character === '}') brackets = Math.max(0, brackets - 1);
    if (character === '\n') [inLine, isIndentation] = [0, true];
    // A dash, a question mark or a colon before a space opens something; so does every two columns of indentation.
    else if (character === ' ') inLine += isIndentation ? 0.5 : Number('-?:'.includes(before));
    else isIndentation = false;
    before = character;
    return Math.max(brackets, inLine);
  };
  return { after };
}
