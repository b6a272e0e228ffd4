import { describe, expect, it } from 'vitest';
import { dataFlag, instant } from './question-options.ts';

describe('common options', () => {
  it('take a date for its first second, and a time with its zone', () => {
    expect(instant('--as-of', '2026-11-01')).toEqual(new Date('2026-11-01T00:00:00Z'));
    expect(instant('--as-of', '2026-11-01T09:30:00+01:00')).toEqual(new Date('2026-11-01T08:30:00Z'));
  });

  it('refuse a time that could be any, with a hint', () => {
    expect(() => instant('--as-of', '2026-11-01T09:00')).toThrow(
      expect.objectContaining({ code: 'bad-time', hint: 'For example --as-of 2026-11-01T09:00:00Z.' }),
    );
  });

  it('give commands to paste the folder they need', () => {
    expect(dataFlag('./bursar-data')).toBe('');
    expect(dataFlag('/srv/gpu')).toBe(' --data /srv/gpu');
    expect(dataFlag("it's here")).toBe(" --data 'it'\\''s here'");
  });
});
