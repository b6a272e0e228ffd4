import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf, printed } from './demo/bursar-command.ts';

/** Four days are the least that have a first issue of a bill: it lacks the last three. */
const SMALL = ['--gpus', '10', '--days', '4', '--step', '1h'];
/** Days that are yet to come: no screen may depend on the clock. */
const OTHER = ['--gpus', '8', '--days', '1', '--step', '30m', '--until', '2097-12-02'];

describe('the same demo', () => {
  let folder = '';
  let first = '';
  const at = (name: string): string => join(folder, name);
  const demo = async (out: string, ...flags: string[]): Promise<string> => {
    await printed('demo', '--out', at(out), ...flags);
    return hashOf(at(out));
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-demo-again-'));
    first = await demo('first', ...SMALL);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is the same ledger when its files are taken in by hand, in another order', async () => {
    await printed('demo', '--out', at('files'), '--only-files', ...SMALL);
    const names = readdirSync(at('files/files')).filter((name) => name.endsWith('.csv') && name !== 'truth.csv');
    // The first issue of a bill still comes before the bill: it is the later command that replaces the other.
    const bills = names.filter((name) => name.startsWith('bill-')).toSorted((a, b) => b.length - a.length);
    const others = names.filter((name) => !name.startsWith('bill-') && name !== 'second-exporter.csv').toReversed();
    expect(bills[0]).toMatch(/-first-issue\.csv$/);
    expect(others.slice(0, 3)).toEqual(['work.csv', 'waiting.csv', expect.stringMatching(/^samples-2026-10-31/)]);
    for (const name of [...bills, ...others]) {
      const table = name.startsWith('bill-') ? 'charges' : name.replace(/(-\d.*)?\.csv$/, '');
      await printed('import', table, at(`files/files/${name}`), '--data', at('by-hand'));
    }
    expect(await hashOf(at('by-hand'))).toBe(first);
  });

  it('of another seed is another ledger, and replaced by one of other days it leaves no trace', async () => {
    expect(await demo('again', ...SMALL, '--seed', '2')).not.toBe(first);
    const replaced = await demo('again', ...OTHER);
    expect(replaced).toBe(await demo('fresh', ...OTHER));
    expect(readdirSync(at('again/files'))).toEqual(readdirSync(at('fresh/files')));
    const questions = [['look'], ['spend', '--by', 'day', '--window', 'all', '--csv']];
    for (const question of questions) {
      const [told, wanted] = [
        await printed(...question, '--data', at('again')),
        await printed(...question, '--data', at('fresh')),
      ];
      expect(told.replaceAll(at('again'), at('fresh'))).toBe(wanted);
    }
  });

  it('of days that are yet to come is seen as of its end', async () => {
    expect(await printed('look', '--data', at('fresh'))).toMatch(
      /^DEMO {2}Paid, .*; as of 2097-12-02 00:00 UTC, the newest fact\n/,
    );
    expect(await printed('idle', '--data', at('fresh'))).toContain('; as of 2097-12-02 00:00 UTC, the newest fact\n');
    expect(await printed('spend', '--data', at('fresh'))).toMatch(
      /^DEMO {2}Spend by team, .* to 2097-12-0\d 00:00 UTC\n/,
    );
  });
});
