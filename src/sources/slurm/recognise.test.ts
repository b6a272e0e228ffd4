import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSlurmText } from './recognise.ts';

const real = fileURLToPath(new URL('../../../../shared/data/telemetry/slurm', import.meta.url));
const isThere = existsSync(real);
if (!isThere)
  process.stderr.write('skipped: real output of Slurm is not beside the repository (../shared/data/telemetry)\n');

const text = (path: string) => readFileSync(`${real}/${path}`, 'utf8');

describe.skipIf(!isThere)('real output of Slurm', () => {
  const files = isThere
    ? readdirSync(real, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name))
    : [];

  it.each(files)('%s is recognised, and every entry is taken or skipped for a reason', (name) => {
    const read = readSlurmText(text(name), { zone: 'UTC' });
    expect(read).toBeDefined();
    const rows = read?.taken.reduce((sum, facts) => sum + facts.rows.length, 0) ?? 0;
    const skipped = read?.skipped.reduce((sum, { count }) => sum + count, 0) ?? 0;
    expect(read?.entriesRead).toBeGreaterThan(0);
    expect(rows + skipped).toBeGreaterThanOrEqual(read?.entriesRead ?? 0);
    for (const { reason } of read?.skipped ?? []) expect(reason).not.toBe('');
  });
  it('sinfo with GPUs gives machines with GPUs', () => {
    expect(readSlurmText(text('datadog/sinfo.txt'))?.taken[0]?.rows).toEqual([
      expect.objectContaining({ node_id: 'c1', gpu_count: 4, model: 'tesla' }),
      expect.objectContaining({ node_id: 'c2', gpu_count: 4, model: 'tesla' }),
      expect.objectContaining({ node_id: 'c3', gpu_count: 0, vcpu: 4 }),
    ]);
  });
  it('jobs of slurmrestd give holdings that end with the reply', () => {
    const rows = readSlurmText(text('rest-responses/jobs.json'), { writtenAt: 1_723_500_000 })?.taken[0]?.rows;
    expect(rows).toHaveLength(3);
    expect(rows?.[0]).toMatchObject({ observed_at: new Date(1_723_500_000_000), outcome: 'running' });
    expect(rows?.[0]).not.toHaveProperty('held_until');
  });
});

it.each([['hello'], [''], ['{"items": []}'], ['a,b\n1,2']])('%j is nothing of Slurm’s', (other) => {
  expect(readSlurmText(other)).toBeUndefined();
});
