import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { takeInPrices } from './take-in-prices.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const LINES_PER_FILE = 5000;

const HEADERS = [
  'InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone',
  'observed_at,event,instance_type,accelerator,accelerator_count,region,zone,price_usd_hr,spot_price_usd_hr',
  'provider,region,zone,instance_type,accelerator,accelerator_count,purchase,covers,as_of,vcpu,memory_gib,usd_per_hour,price_source,flag,observed_at',
];

/** Values as price lists have them, and as none should. */
const value = fc.oneof(
  fc.constantFrom(
    '',
    '1.5',
    'H100',
    'tpu-v3-8',
    '2026-01-01T00:00:00Z',
    'gone',
    'set',
    'aws',
    'spot',
    'host',
    '8',
    '0',
    '-1',
    '1e400',
    '1e-9',
    'NaN',
    '99999999999999999999',
    '0x10',
    '1_000',
    '$3',
    'vanished',
    'p5.48xlarge',
    "it's",
    '9999-99-99',
    '24 GiB',
  ),
  fc.string({ maxLength: 12, unit: 'binary' }).map((text) => text.replaceAll(/[\n\r\0]/g, ' ')),
);

const lines = (fields: number, quoted: boolean) =>
  fc.array(
    fc
      .array(value, { minLength: fields - 1, maxLength: fields + 1 })
      .map((row) => row.map((each) => (quoted ? each : each.replaceAll('"', ''))).join(',')),
    { minLength: LINES_PER_FILE, maxLength: LINES_PER_FILE, size: 'max' },
  );

/** Imports one file of nonsense; undefined where it was refused with a word about it. */
async function take(text: string): Promise<number | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-fuzz-prices-'));
  try {
    const path = join(folder, 'aws.csv');
    await writeFile(path, text);
    const { files } = await takeInPrices({
      dataDir: join(folder, 'data'),
      paths: [path],
      asOf: new Date('2026-01-01'),
    });
    const [feed] = files;
    if (feed === undefined) throw new Error('no report');
    const skipped = feed.skipped.reduce((sum, { rows }) => sum + rows, 0);
    expect(feed.taken + feed.withoutPrice + feed.flagged + skipped).toBe(feed.rows);
    return feed.rows;
  } catch (failure) {
    if (failure instanceof OperationError) return undefined;
    throw failure;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test.each(HEADERS)('rows of nonsense under %s are all accounted for', { timeout: 3_600_000 }, async (header) => {
  const fields = header.split(',').length;
  const files = Math.max(1, Math.ceil(RUNS / LINES_PER_FILE / HEADERS.length / 2));
  for (const [index, rows] of fc.sample(lines(fields, false), { numRuns: files, seed: 1 }).entries()) {
    const told = await take(`${header}\n${rows.map((row) => `x${row}`).join('\n')}\n`);
    expect(told, `file ${index}`).toBe(LINES_PER_FILE);
  }
  // With quotes anywhere, a value may reach over lines: then only the sum has to be right.
  for (const rows of fc.sample(lines(fields, true), { numRuns: files, seed: 2 })) {
    await take(`${header}\n${rows.join('\n')}\n`);
  }
});
