import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { safeText } from '../report/safe-text.ts';
import { nameWord, shellWord } from './shell-word.ts';

it.each([
  ['./bursar-demo/files/nodes.csv', './bursar-demo/files/nodes.csv'],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$HOME/*', "'$HOME/*'"],
  ['', "''"],
])('%s is typed as %s', (text, typed) => expect(shellWord(text)).toBe(typed));

const ESC = '\u001b';
const unseen = [
  ['an escape that would take the quote with it', `a${ESC}'; touch hit #`],
  ['a colour that would', `a${ESC}['; touch hit #`],
  ['the same in one character', `a\u009b'; touch hit #`],
  ['a title without an end', `a${ESC}]0;x`],
  ['a line break', 'a\ntouch hit'],
  ['a return and a quote', "a\r'; touch hit #"],
  ['a turned direction', 'a\u202etouch'],
  ['a backslash beside a tab', "a\\'\t; touch hit #"],
] as const;

it.each(unseen)('%s is typed as it is, and shown on one line without being obeyed', (_, name) => {
  for (const typed of [shellWord(name), safeText(shellWord(name)), nameWord(name)]) {
    expect(safeText(typed)).toBe(typed);
    const run = spawnSync('bash', ['-c', `printf '<%s>' ${typed}`], { encoding: 'utf8' });
    expect(run.stdout).toBe(`<${name}>`);
  }
});

it.each([
  ['what no command can hold', 'a\0b'],
  ['a text nobody would paste', 'x'.repeat(1_000_000)],
])('%s is not pasted', (_, name) => expect(nameWord(name)).toMatch(/^'NAME-[A-Z-]+'$/));

it('a name that would be read as an option is not pasted', () => {
  expect(nameWord('train-7b')).toBe('train-7b');
  expect(nameWord('it is')).toBe("'it is'");
  expect(nameWord('--all')).not.toContain('--all');
});
