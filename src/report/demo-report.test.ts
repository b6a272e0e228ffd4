import { describe, expect, it } from 'vitest';
import { demoBegins, demoJson, demoMade, importCommands, tryNext } from './demo-report.ts';
import type { MadeDemo } from './demo-report.ts';

const files = (folder: string): MadeDemo['files'] =>
  (
    [
      ['fx', 'fx.csv', 1],
      ['nodes', 'nodes.csv', 1240],
      ['waiting', 'waiting.csv', 1016],
      ['samples', 'samples-2026-10-30.csv', 5],
      ['samples', 'second-exporter.csv', 2],
      ['charges', 'bill-aws-2026-10-first-issue.csv', 3],
      ['charges', 'bill-aws-2026-10.csv', 4],
      [null, 'truth.csv', 9],
      ['samples', 'samples-2026-10-31.csv', 5],
    ] as const
  ).map(([table, name, rows]) => ({ table, path: `${folder}/${name}`, rows }));

const demo = (folder = 'd/files', emptyPools: readonly string[] = []): MadeDemo => ({
  folder,
  gpus: 1040,
  emptyPools,
  files: files(folder),
  samples: 12,
  jobs: 1,
  totals: {
    billedUsdMicros: 1_000_000,
    rateUsdMicros: 500_000,
    truthUsdMicros: 1_500_000,
    truthUsdMicrosByCategory: { computing: 500_000, idle: 1_000_000 },
  },
});

describe('what a demo says', () => {
  it('at first: that nothing in it is real', () => {
    const scope = { gpus: 1, from: Date.UTC(2026, 9, 30) / 1000, until: Date.UTC(2026, 10, 1) / 1000, seed: 7 };
    expect(demoBegins('my\nworld', scope, './d')).toBe(
      'A made-up organisation goes into ./d: 1 GPU from 2026-10-30 to 2026-11-01, world my world, seed 7. Nothing in it is real.',
    );
  });

  it('in the end: what was written, and that the truth adds up', () => {
    expect(demoMade(demo(), 3)).toEqual([
      '  12 samples, 1 holding of jobs and services, 1,016 waiting, 7 rows of bills: d/files (3 s)',
      '  $1.00 billed and $0.50 by stated rates; the truth behind it, to the micro-dollar: d/files/truth.csv',
    ]);
  });

  it.each([
    [['rent-h100'], '  With 1,040 GPUs there is no rent-h100: its machines are larger than its part'],
    [['a\nb', 'c'], '  With 1,040 GPUs there is no a b, c: their machines are larger than their part'],
  ])('and what the fleet was too small for: %j', (emptyPools, line) => {
    expect(demoMade(demo('d/files', emptyPools), 3).slice(2)).toEqual([line]);
  });

  it('to people who import by hand: each command, samples of all days at once, bills in the order they came', () => {
    expect(importCommands(demo(), ' --data d')).toEqual([
      'bursar import fx d/files/fx.csv --data d   # 1 row',
      'bursar import nodes d/files/nodes.csv --data d   # 1,240 rows',
      'bursar import waiting d/files/waiting.csv --data d   # 1,016 rows',
      'bursar import charges d/files/bill-aws-2026-10-first-issue.csv --data d   # 3 rows',
      'bursar import charges d/files/bill-aws-2026-10.csv --data d   # 4 rows',
      'bursar import samples d/files/samples-*.csv d/files/second-exporter.csv --data d',
      'bursar derive --data d && bursar look --data d',
    ]);
  });

  it('with paths a shell reads as they are', () => {
    const commands = importCommands(demo("it's here/files"), '');
    expect(commands[0]).toBe("bursar import fx 'it'\\''s here/files/fx.csv'   # 1 row");
    expect(commands.at(-2)).toBe(
      "bursar import samples 'it'\\''s here/files/samples-'*.csv 'it'\\''s here/files/second-exporter.csv'",
    );
  });

  it('to programs: money as text', () => {
    expect(demoJson(demo('d/files', ['rent-h100']))).toMatchObject({
      emptyPools: ['rent-h100'],
      samples: 12,
      holdings: 1,
      billedUsdMicros: '1000000',
      rateUsdMicros: '500000',
      truthUsdMicros: '1500000',
      truthUsdMicrosByCategory: { computing: '500000', idle: '1000000' },
    });
  });

  it('to everybody: what to try next, in columns', () => {
    const [, ...lines] = tryNext(' --data d');
    const at = ['who holds', 'who waits', 'what each', 'what a run', 'whose the', 'does it add'].map((words, index) =>
      lines[index]?.indexOf(words),
    );
    expect(new Set(at)).toEqual(new Set([lines[2]?.indexOf('what each')]));
  });
});
