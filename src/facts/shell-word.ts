/** What a screen does not show or a terminal obeys: taken out of a quoted word it could take a quote with it. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u2065]/u;
const NOT_AS_IT_IS = new RegExp(`['\\\\]|${UNSEEN.source}`, 'gu');
/** Longer names are nobody's: Kubernetes stops at 253, file systems at 255. */
const NAME_CHARS_MAX = 1000;

/**
 * A word of a command people are told to type, quoted where a shell would read it as something else.
 *
 * What is not seen is written as bytes (`$'a\012b'`), so that the command is one line, and the screen has nothing to take out of it.
 * A shell that does not know this form finds no such name, and runs nothing else: a quote inside is a byte too.
 */
export function shellWord(text: string): string {
  if (/^[\w./@:+-]+$/.test(text)) return text;
  return UNSEEN.test(text) ? `$'${text.replaceAll(NOT_AS_IT_IS, bytesOf)}'` : `'${text.replaceAll("'", `'\\''`)}'`;
}

function bytesOf(char: string): string {
  return [...new TextEncoder().encode(char)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/**
 * The name of something in a command that changes things. A name is whatever somebody typed: one that begins with a dash would be
 * read as an option (`--all`), and is not pasted; nor is one that no command can hold, or that nobody would read.
 */
export function nameWord(name: string): string {
  if (name.startsWith('-')) return `'NAME-THAT-BEGINS-WITH-A-DASH'`;
  if (name.includes('\0')) return `'NAME-THAT-CANNOT-BE-TYPED'`;
  return name.length > NAME_CHARS_MAX ? `'NAME-TOO-LONG-TO-PASTE'` : shellWord(name);
}
