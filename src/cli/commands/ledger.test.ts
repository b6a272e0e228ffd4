import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { EURO_BILL, SMALL_FLEET } from '../../../test/small-fleet.ts';
import { importFiles } from '../../app/import.ts';
import { withWriter } from '../../app/workspace.ts';
import { dispatch } from '../dispatch.ts';
import type { CommandEntry } from '../dispatch.ts';

const COMMANDS: readonly CommandEntry[] = [
  { name: 'spend', summary: '', load: () => import('./spend.ts') },
  { name: 'ledger', summary: '', load: () => import('./ledger.ts') },
];

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

async function bursar(...args: string[]): Promise<{ exitCode: number; data: string; talk: string }> {
  let [data, talk] = ['', ''];
  const exitCode = await dispatch([...args, '--data', fleet.dataDir], '0', COMMANDS, {
    stdout: { write: (text) => (data += text) },
    stderr: { write: (text) => (talk += text) },
  });
  return { exitCode, data, talk };
}

test('explain follows an entry from the rows of the bill to its owner', async () => {
  const { exitCode, data } = await bursar('ledger', 'explain', '--job', '101', '--category', 'computing');
  expect(exitCode).toBe(0);
  expect(data.split('\n')).toEqual([
    '$1.462500 for 0.9 GPU-hours: 2026-03-02 00:00 to 2026-03-03 00:00 UTC, only category=computing, job=101',
    '',
    '  computing  billed  $1.462500  0.9 GPU-hours',
    '  at marginal prices $0.900000: its part of what the bills would fall by',
    '',
    '1 entry',
    '    hour              of          whose               basis                entry    counted',
    '1.  2026-03-02 08:00  a1-0 on a1  slurm/101 train-7b  AWS|111|2026-03  $1.625000  $1.462500',
    '',
    '1. $1.625000  a1-0 on a1, 2026-03-02 08:00, slurm/101 train-7b',
    '   bill      AWS|111|2026-03 part 0 row 1, arn:aws:ec2/i-a1: effective 4 USD → $4.000000, all in this hour',
    '             AWS|111|2026-03 part 0 row 5, i-a2: effective 10 USD → $10.000000, in this hour $2.500000 (3600 of 14400 s)',
    '   pool      sku P5, us-east-1, not spot: $6.500000 over 2 nodes by seconds there; a1 3600 of 7200 → $3.250000',
    '   device    a1: $3.250000 over 2 devices by seconds there; a1-0 there for 3600 s of 7200 → $1.625000',
    '   holder    slurm/101 train-7b 08:00–09:00 × a whole GPU: 226800000 of 226800000 unit-seconds → $1.625000',
    '   category  computing $1.462500 (3240 s), starved (gap) $0.162500 (360 s)',
    '   runs      08:00–09:00 computing by engine',
    '   samples   6 samples, first 08:00:00 engine 855 ‰; last 08:50:00 engine 855 ‰',
    '   marginal  $1.000000: its part of what the bill would fall by',
    '   owner     team nlp, user mchen, class training, team by account',
    '',
  ]);
});

describe('explain says why', () => {
  test.each([
    [['--filter', 'basis=unpriced'], 'none: no bill, no rate and no list price for Zorg'],
    [['--job', '201'], 'your rate $2.000000 an hour, own1/gpu0 there for 3600 s → $2.000000'],
    [['--filter', 'basis=estimated'], 'list price $0.805000 an hour'],
    [['--job', '103'], 'held by count, on which of them is not known'],
    [['--job', '102'], 'none: nobody measured it'],
    [['--filter', 'component=storage'], 'bucket-1: effective 0.5 USD → $0.500000, all in this hour'],
    [['--category', 'unallocated', '--filter', 'node=a1'], 'team platform, team by node tag team'],
    [['--job', 'no-such-job'], 'no entries in it'],
    [['--job', '1011'], 'no job is called "1011" in it (nearest: 101)'],
  ])('%j', async (args, want) => expect((await bursar('ledger', 'explain', ...args)).data).toContain(want));
});

test.each([
  [['ledger', 'explain', '--filter', 'tem=nlp'], 'there is no dimension "tem"'],
  [['ledger', 'explain', '--limit', '0'], 'a whole number from 1'],
  [['ledger', 'explain', '--hour', 'noon'], '"noon" is not an hour'],
  [['spend', '--step', '1w'], '"1w" is not a step of time'],
  [['spend', '--csv', '--json'], "option '--csv' cannot be used with option '--json'"],
])('%j is refused', async (args, want) => {
  const { exitCode, data, talk } = await bursar(...args);
  expect(exitCode).toBe(1);
  expect(data + talk).toContain(want);
});

test('hash prints one line, and the days with --json', async () => {
  const { data } = await bursar('ledger', 'hash');
  expect(data).toMatch(/^[0-9a-f]{64}\n$/);
  expect(JSON.parse((await bursar('ledger', 'hash', '--json')).data)).toMatchObject({
    hash: data.trim(),
    days: [{ day: '2026-03-02' }],
  });
});

test('spend as CSV', async () => {
  const { data } = await bursar('spend', '--by', 'team', '--csv');
  expect(data.split('\n')[0]).toBe('team,costUsdMicros,heldSeconds,unpricedSeconds');
  expect(data).toContain('nlp,9750000,21600,0\n');
});

test('beside a writer that has not derived yet, readers answer from before, say so, and raise no alarm', async () => {
  const before = (await bursar('ledger', 'hash')).data;
  const file = `${fleet.dataDir}-euro.csv`;
  await writeFile(file, EURO_BILL);
  await withWriter(fleet.dataDir, 'test', async (space) => {
    await importFiles({ ...space, table: 'charges', files: [file] });
    const check = await bursar('ledger', 'check');
    expect(check.exitCode).toBe(0);
    expect(check.data).toContain('OVH|9|2026-03  10 EUR');
    expect(check.data).toContain('everything adds up\n2 rows of facts are not in the ledger yet: bursar derive');
    const spend = await bursar('spend', '--json');
    expect(spend.talk).toContain('not in the ledger yet');
    expect(JSON.parse(spend.data)).toMatchObject({ totalUsdMicros: '34060000' });
    expect((await bursar('ledger', 'hash')).data).toBe(before);
  });
  expect((await bursar('ledger', 'check')).data).not.toContain('not in the ledger yet');
});
