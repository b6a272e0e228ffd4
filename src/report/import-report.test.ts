import { describe, expect, it } from 'vitest';
import { deriveReport, importReport } from './import-report.ts';

const report = {
  table: 'allocations',
  batches: ['sacct.csv'],
  dryRun: false,
  rowsTaken: 1200,
  rowsReplaced: 0,
  rowsSkipped: 0,
  skipped: [],
  notes: [],
  gpuHours: '506.9128',
  cpuHours: '0',
};

describe('what an import says', () => {
  it('ends with what to type next', () => {
    expect(importReport(report, ' --data x')).toEqual([
      'allocations: 1,200 rows taken; 506.9128 GPU-hours (batch sacct.csv)',
      'Next: bursar look --data x',
    ]);
  });

  it('names what was replaced and skipped, and does not obey it', () => {
    const skipped = [{ reason: 'ends before it begins', rows: 1, example: 'row 7\u001b[2J' }];
    expect(importReport({ ...report, rowsReplaced: 5, skipped, dryRun: true }).slice(0, 2)).toEqual([
      'allocations: 1,200 rows would be taken, would replace 5 rows; 506.9128 GPU-hours (batch sacct.csv)',
      '  skipped 1 row: ends before it begins, e.g. row 7',
    ]);
  });

  it('a month of files is told in a few lines', () => {
    const notes = Array.from({ length: 30 }, (_, day) => `samples-${day}.csv: blank values`);
    expect(importReport({ ...report, notes }).slice(1, -1)).toEqual([
      ...notes.slice(0, 6).map((note) => `  ${note}`),
      '  and 24 more like these; --json has them all',
    ]);
  });

  it('a derive that had nothing to do says so', () => {
    expect(deriveReport({ held: 0 }, 0.04)).toEqual(['The ledger is up to date. Looked in 0.0 s.']);
    expect(deriveReport({ held: 3 }, 1.26)[0]).toBe('Derived in 1.3 s: held 3 (days, or bills)');
  });
});
