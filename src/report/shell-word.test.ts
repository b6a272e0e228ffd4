import { expect, it } from 'vitest';
import { shellWord } from './shell-word.ts';

it.each([
  ['./bursar-demo/files/nodes.csv', './bursar-demo/files/nodes.csv'],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$HOME/*', "'$HOME/*'"],
  ['', "''"],
])('%s is typed as %s', (text, typed) => expect(shellWord(text)).toBe(typed));
