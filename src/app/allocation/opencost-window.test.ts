import { describe, expect, it } from 'vitest';
import { openCostStep, openCostWindow } from './opencost-window.ts';

// A Monday.
const NOW = new Date('2026-11-16T15:20:00Z');

const cases: Readonly<Record<string, string>> = {
  today: '2026-11-16T00:00:00Z/2026-11-17T00:00:00Z',
  yesterday: '2026-11-15T00:00:00Z/2026-11-16T00:00:00Z',
  week: '2026-11-16T00:00:00Z/2026-11-17T00:00:00Z',
  month: '2026-11-01T00:00:00Z/2026-11-17T00:00:00Z',
  lastweek: '2026-11-09T00:00:00Z/2026-11-16T00:00:00Z',
  lastmonth: '2026-10-01T00:00:00Z/2026-11-01T00:00:00Z',
  '7d': '2026-11-10T00:00:00Z/2026-11-17T00:00:00Z',
  '1w': '2026-11-10T00:00:00Z/2026-11-17T00:00:00Z',
  '12h': '2026-11-16T04:00:00Z/2026-11-16T16:00:00Z',
  '30m': '2026-11-16T15:00:00Z/2026-11-16T16:00:00Z',
  '2026-11-01T10:30:00Z,2026-11-02T10:30:00Z': '2026-11-01T10:00:00Z/2026-11-02T11:00:00Z',
  '1793491200,1793577600': '2026-11-01T00:00:00Z/2026-11-02T00:00:00Z',
};

describe('a window in the words of OpenCost', () => {
  it.each(Object.entries(cases))('%s', (text, want) => {
    expect(openCostWindow(text, NOW)).toBe(want);
  });

  it.each(['', '13 moons', '0d', '2026-11-02,2026-11-01', '2026-11-01/2026-11-02', '7y'])('"%s" is none', (text) => {
    expect(() => openCostWindow(text, NOW)).toThrow(/is not a window of OpenCost/);
  });
});

describe('a step', () => {
  it.each([
    ['1h', 3600],
    ['1d', 86_400],
    ['2w', 1_209_600],
  ] as const)('%s', (text, want) => {
    expect(openCostStep(text)).toBe(want);
  });

  it.each(['', '30m', '0d', 'day'])('"%s" is none: the ledger has full hours', (text) => {
    expect(() => openCostStep(text)).toThrow(/is not a step/);
  });
});
