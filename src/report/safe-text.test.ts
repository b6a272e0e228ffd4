import { describe, expect, it } from 'vitest';
import { csvLine, safeText } from './safe-text.ts';

const onScreen: Record<string, readonly [text: string, want: string]> = {
  'a plain name': ['train-7b', 'train-7b'],
  'other scripts stay': ['обучение 訓練 é', 'обучение 訓練 é'],
  'a colour': ['\u001b[31mred\u001b[0m', 'red'],
  'a title of the window': ['a\u001b]0;owned\u0007b', 'ab'],
  'a link': ['\u001b]8;;https://example.com\u001b\\click\u001b]8;;\u001b\\', 'click'],
  'a sequence cut off': ['a\u001b[', 'a'],
  'a message to the terminal': ['a\u001bPq#0\u001b\\b', 'ab'],
  'a change of characters': ['a\u001b(0b', 'ab'],
  'one without the escape': ['a\u009b2Jb', 'ab'],
  'a new line would break the table': ['a\r\nb\tc', 'a b c'],
  'text that turns around': ['abc\u202etxt.exe', 'abctxt.exe'],
  'a mark that turns what follows': ['a\u061cb', 'ab'],
  'a bell': ['a\u0007', 'a'],
  'zero, delete and the controls above': ['a\u0000b\u007fc\u0080d\u009fe', 'abcde'],
};

const inCsv: Record<string, readonly [cell: string | number | bigint | null, want: string]> = {
  'a formula is text': ['=cmd()', "'=cmd()\n"],
  'also after a blank': [' +1', "' +1\n"],
  'and with an at': ['@SUM(A1)', "'@SUM(A1)\n"],
  'one behind what nobody sees': ['\u200b=cmd()', "'=cmd()\n"],
  'one behind a colour': ['\u001b[0m=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"\n`],
  'one behind a tab and a mark of direction': ['\u202e\t-2+3', "' -2+3\n"],
  'a negative number is a number': [-12n, '-12\n'],
  'a comma is quoted': ['a,"b"', '"a,""b"""\n'],
  'nothing is nothing': [null, '\n'],
};

describe('text of others', () => {
  for (const [name, [text, want]] of Object.entries(onScreen)) it(name, () => expect(safeText(text)).toBe(want));
  for (const [name, [cell, want]] of Object.entries(inCsv))
    it(`csv: ${name}`, () => expect(csvLine([cell])).toBe(want));
});
