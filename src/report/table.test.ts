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

  it('counts places, not characters', () => {
    expect(textWidth('日本')).toBe(4);
    expect(textWidth('e\u0301')).toBe(1);
    expect(shorten('日本語', 5)).toBe('日本…');
    expect(shorten('short', 5)).toBe('short');
  });
});
