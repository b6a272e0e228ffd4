import { describe, expect, it } from 'vitest';
import { shorten, textTable, textWidth } from './table.ts';

describe('a text table', () => {
  it('puts numbers to the right, leaves empty columns out and ends no line in spaces', () => {
    const columns = [{ align: 'left' }, { align: 'right' }, { align: 'left' }, { align: 'left' }] as const;
    expect(
      textTable(columns, [
        ['Paid', '$1,000', '', 'x'],
        ['  idle', '$9'],
        ['', '', '', ''],
      ]),
    ).toEqual(['Paid    $1,000  x', '  idle      $9', '']);
  });

  it('has a line of titles where there are any', () => {
    expect(textTable([{ align: 'right', title: 'so far' }, { align: 'left' }], [['$9', 'n']])).toEqual([
      'so far',
      '    $9  n',
    ]);
  });

  it('is not as wide as its longest name: that is cut, and pads nobody', () => {
    const name = 'x'.repeat(1_000_000);
    const columns = [{ align: 'left', title: 'team' }, { align: 'right' }, { align: 'left' }] as const;
    const [title, long = '', short] = textTable(columns, [
      [name, '$9', name],
      ['nlp', '$10', 'a'],
    ]);
    expect(title).toBe('team');
    expect(long).toBe(`${'x'.repeat(99)}…   $9  ${'x'.repeat(999)}…`);
    expect(short).toBe(`nlp${' '.repeat(97)}  $10  a`);
  });

  it('has wider columns where they are asked for, and cuts what only looks narrow', () => {
    const wide = [{ align: 'left', widthMax: 200 }, { align: 'left' }] as const;
    expect(textTable(wide, [['y'.repeat(150), 'a']])).toEqual([`${'y'.repeat(150)}  a`]);
    expect(shorten(`a${'\u0301'.repeat(1_000_000)}`, 10).length).toBeLessThan(100);
  });

  it('counts places, not characters', () => {
    expect(textWidth('日本')).toBe(4);
    expect(textWidth('e\u0301')).toBe(1);
    expect(shorten('日本語', 5)).toBe('日本…');
    expect(shorten('short', 5)).toBe('short');
  });
});
