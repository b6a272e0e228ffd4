import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addBills } from '../../src/app/bills/add-bills.ts';
import type { AddBillsRequest } from '../../src/app/bills/add-bills.ts';
import { s3Store } from '../../src/app/bills/s3-store.ts';
import { labPart } from '../lab.ts';

const lab = labPart('objectstore');

const HEADER =
  'ProviderName,BillingAccountId,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost';
const bill = (...amounts: string[]): string =>
  [
    HEADER,
    ...amounts.map(
      (amount) => `AWS,1,USD,2026-10-01,2026-11-01,2026-10-05T00:00:00Z,2026-10-05T01:00:00Z,Usage,${amount},${amount}`,
    ),
    '',
  ].join('\n');

describe.skipIf(!lab.installed)('bills in a bucket of a real S3 server', () => {
  const saved = { ...process.env };
  let folder = '';
  let client: S3Client;
  let endpoint = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-lab-s3-'));
    const variables = await lab.start(join(folder, 'lab'));
    delete process.env['AWS_PROFILE'];
    Object.assign(process.env, variables);
    endpoint = variables['AWS_ENDPOINT_URL'] ?? '';
    client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
  });
  afterAll(async () => {
    client?.destroy();
    await lab.stop(join(folder, 'lab'));
    process.env = saved;
    await rm(folder, { recursive: true, force: true });
  });

  const put = (key: string, body: string | Buffer, bucket = 'bills') =>
    client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));
  let data = '';
  beforeEach(async () => {
    data = await mkdtemp(join(folder, 'data-'));
  });
  const add = (place: string, more: Partial<AddBillsRequest> = {}) =>
    addBills({ dataDir: data, places: [place], now: new Date('2026-11-03T09:00:00Z'), ...more });

  it('an export with its manifest is taken, kept by its ETag, and replaced when a new one comes', async () => {
    const manifest = (run: string) =>
      JSON.stringify({
        assemblyId: run,
        reportName: 'cur',
        billingPeriod: { start: '20261001T000000.000Z' },
        reportKeys: [`a/cur/20261001-20261101/${run}/cur-1.csv.gz`],
      });
    await put('a/cur/20261001-20261101/one/cur-1.csv.gz', gzipSync(bill('1', '2')));
    await put('a/cur/20261001-20261101/cur-Manifest.json', manifest('one'));
    const first = await add('s3://bills/a/cur/');
    expect(first.bills).toMatchObject([{ billId: 'AWS|1|2026-10', rows: 2, effective: 3n * 10n ** 18n }]);
    const cached = await readdir(join(data, 'cache', 'bills'), { recursive: true });
    expect(cached.filter((name) => name.endsWith('cur-1.csv.gz'))).toHaveLength(1);
    await put('a/cur/20261001-20261101/two/cur-1.csv.gz', gzipSync(bill('1', '2', '4')));
    await put('a/cur/20261001-20261101/cur-Manifest.json', manifest('two'));
    expect((await add('s3://bills/a/cur/')).bills).toMatchObject([{ rows: 3, issue: 2 }]);
  });

  it('what is in the cache is not asked for again, and a part that is missing refuses it all', async () => {
    await put('b/part-1.csv', bill('5'));
    const store = await s3Store('s3://bills/b/', join(data, 'cache', 'bills'), {});
    const [listed] = await store.list();
    if (listed === undefined) throw new Error('nothing is listed');
    const path = await store.fetch(listed);
    // The version that was listed is gone from the server: only the cache can answer.
    await put('b/part-1.csv', bill('6'));
    expect(await store.fetch(listed)).toBe(path);
    await put(
      'b/manifest.json',
      JSON.stringify({ blobs: [{ blobName: 'b/part-1.csv' }, { blobName: 'b/part-2.csv' }], runInfo: { runId: 'r' } }),
    );
    await expect(add('s3://bills/b/')).rejects.toMatchObject({ code: 'missing-part' });
  });

  it('an object that is replaced between list and read is noticed', async () => {
    await put('c/bill.csv', bill('5'));
    const store = await s3Store('s3://bills/c/', join(data, 'cache'), {});
    const [listed] = await store.list();
    await put('c/bill.csv', bill('6', '7'));
    if (listed === undefined) throw new Error('nothing is listed');
    await expect(store.fetch(listed)).rejects.toMatchObject({ code: 'changed-while-read' });
  });

  it('many pages of keys are all listed', { timeout: 120_000 }, async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'many' }));
    for (let at = 0; at < 1010; at += 101) {
      await Promise.all(Array.from({ length: 101 }, (_, index) => put(`x/${at + index}.csv`, 'a', 'many')));
    }
    const store = await s3Store('s3://many/x/', join(data, 'cache'), {});
    expect(await store.list()).toHaveLength(1010);
  });

  it('no such bucket, a wrong key and a server that is not there are said with what to do', async () => {
    await expect(add('s3://nowhere-at-all/x/')).rejects.toMatchObject({ code: 'no-such-bucket' });
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
    await expect(add('s3://bills/a/')).rejects.toMatchObject({ code: 'denied' });
    process.env['AWS_SECRET_ACCESS_KEY'] = 'lab-secret';
    await expect(add('s3://bills/a/', { s3: { endpoint: 'http://127.0.0.1:1' } })).rejects.toMatchObject({
      code: 'unreachable',
    });
    await expect(add('s3:/bills', {})).rejects.toMatchObject({ code: 'no-such-file' });
    await expect(add('s3://UPPER_case/', {})).rejects.toMatchObject({ code: 'bad-address' });
  });

  it('without credentials nothing is asked', async () => {
    const { AWS_ACCESS_KEY_ID: _id, AWS_SECRET_ACCESS_KEY: _secret, ...rest } = process.env;
    process.env = { ...rest, AWS_CONFIG_FILE: join(folder, 'none'), AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') };
    await expect(add('s3://bills/a/')).rejects.toMatchObject({ code: 'no-credentials' });
    process.env['AWS_ACCESS_KEY_ID'] = 'lab';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'lab-secret';
  });

  it('a server that never answers is given up', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const hanging = add('s3://bills/a/', { s3: { endpoint: `http://127.0.0.1:${port}`, timeoutMs: 200 } });
    await expect(hanging).rejects.toMatchObject({ code: 'unreachable' });
    server.closeAllConnections();
    server.close();
  });
});
