import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { printed } from '../../test/demo/bursar-command.ts';
import { readFlags } from './flags.mjs';

const BENCH = fileURLToPath(new URL('bench.mjs', import.meta.url));

/** The demos of a run are below the folder it is run in. */
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-bench-waste-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function bench(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, ...args], { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the benchmark of waste', () => {
  it("scores a world of one's own, misses no bar of what is not in it, and prints what repeats it", async () => {
    const world = parse(await printed('demo', '--print-world')) as { habits: { kind: string }[] };
    world.habits = world.habits.filter(({ kind }) => kind === 'notebook');
    writeFileSync(join(folder, 'note books.yaml'), stringify(world));
    const size = ['--step', '1h', '--gpus', '4', '--days', '1'];
    const { status, stdout, stderr } = bench('--world', 'note books.yaml', ...size, '--seeds', '7');
    const command = `npm run bench:waste -- --world 'note books.yaml' ${size.join(' ')} --seeds 7`;
    expect(stderr).toContain(`repeat this run with ${command}\n`);
    expect(stdout).toContain(`\`${command}\``);
    const row = /^\| note books\.yaml \| 7 \|.*$/m.exec(stdout)?.[0].split(' | ');
    expect(row?.slice(4, 7)).toEqual(['none', 'none', 'none']);
    expect(stdout).toContain('| that is between requests |\n');
    expect(stdout).toMatch(
      /^\| precision of findings by detector \| findings \| money \| true \| arguable \| wrong \|/m,
    );
    expect(stdout).toContain("\n| category | claimed by findings | in Bursar's waterfall | in the truth |\n");
    expect(status).toBe(0);
  }, 180_000);

  it('says what it can be told', () => {
    const { status, stdout, stderr } = bench('--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^npm run bench:waste -- \[flags\]\n[^]*\n {2}--world FILE +a world file of one's own\n/);
  });

  it.each([
    { args: ['--word', 'mine.yaml'], want: "Unknown option '--word'" },
    { args: ['--gpus', 'many'], want: '--gpus is a whole number, not "many"' },
    { args: ['--seeds', '7;8'], want: '--seeds are whole numbers with commas, not "7;8"' },
    { args: ['--step', '5'], want: '--step is a length as 5m, not "5"' },
    { args: ['--world', 'none.yaml'], want: '--world: no file "none.yaml"' },
    { args: ['--data', 'none'], want: '--data: no folder "none"' },
    { args: ['--only', 'Mars'], want: 'no world has "Mars" in its name; there are unmanaged, well-run' },
    { args: ['--world', BENCH, '--only', 'MIG'], want: '--world and --only are two ways to say which worlds' },
    { args: ['mine.yaml'], want: '"mine.yaml" belongs to no flag' },
  ])('does not take: $want', ({ args, want }) => {
    expect(readFlags(args)).toEqual({ trouble: expect.stringContaining(want) as unknown });
  });

  it('says what is wrong with a flag, and what there is, without a stack trace', () => {
    const { status, stdout, stderr } = bench('--gpus', 'many');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^--gpus is a whole number, not "many"\n\nnpm run bench:waste -- \[flags\]\n/);
    expect(stderr).not.toContain('    at ');
  });
});
