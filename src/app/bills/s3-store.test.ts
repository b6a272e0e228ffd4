import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { s3Store } from './s3-store.ts';

const LIST = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult><Name>bills</Name><Prefix></Prefix><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>
<Contents><Key>bill.csv</Key><LastModified>2026-10-01T00:00:00.000Z</LastModified><ETag>"a1"</ETag><Size>1000</Size></Contents></ListBucketResult>`;

/** A server that says how long its answer is, sends some of it, and then nothing more. */
async function stallingServer(after: 'the list' | 'the beginning') {
  const server = createServer((request, response) => {
    if (after === 'the list' && request.url?.includes('list-type=2') === true) {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(LIST);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/xml', 'content-length': '1000', etag: '"a1"' });
    response.write('<?xml version="1.0"?>');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () => new Promise((stopped) => void (server.closeAllConnections(), server.close(stopped))),
  };
}

describe('an S3 server that stalls is given up', () => {
  let cacheDir = '';
  beforeEach(async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'k';
    process.env['AWS_SECRET_ACCESS_KEY'] = 's';
    cacheDir = await mkdtemp(join(tmpdir(), 'bursar-s3-'));
  });
  afterEach(async () => {
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
    await rm(cacheDir, { recursive: true, force: true });
  });

  test('in the middle of a list', async () => {
    const server = await stallingServer('the beginning');
    const store = await s3Store('s3://bills/', cacheDir, { endpoint: server.endpoint, timeoutMs: 200 });
    await expect(store.list()).rejects.toMatchObject({ code: 'unreachable' });
    await server.stop();
  });

  test('in the middle of an object', async () => {
    const server = await stallingServer('the list');
    const store = await s3Store('s3://bills/', cacheDir, { endpoint: server.endpoint, timeoutMs: 200 });
    const [file] = await store.list();
    expect(file).toMatchObject({ key: 'bill.csv', bytes: 1000 });
    await expect(store.fetch(file ?? { key: '', bytes: 0, modifiedAt: new Date(0) })).rejects.toMatchObject({
      code: 'unreachable',
    });
    await server.stop();
  });
});
