import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SourceConfig } from '../config/source-config.ts';
import { makeSource } from './make-source.ts';

let folder: string;
let server: Server;
let url: string;
let authorizations: (string | undefined)[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-make-source-'));
  server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    response.end('DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="a"} 3\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

const never = new AbortController().signal;

describe('a source made of its configuration', () => {
  const kinds: SourceConfig[] = [
    { kind: 'prometheus', name: 'p', url: 'http://127.0.0.1:1' },
    { kind: 'scrape', name: 's', targets: [{ url: 'http://127.0.0.1:1/metrics' }] },
    { kind: 'local', name: 'l', commandPrefix: ['ssh', 'kim@box1'] },
    { kind: 'kubernetes', name: 'k', kubeconfig: join('no', 'such', 'file') },
    { kind: 'slurm', name: 'u', zone: 'Europe/Berlin' },
    { kind: 'aws', name: 'a', regions: ['us-east-1'] },
    { kind: 'gcp', name: 'g', file: join('no', 'such', 'file') },
    { kind: 'azure', name: 'z', file: join('no', 'such', 'file') },
  ];

  it.each(kinds)('$kind has its name, its rhythm and words for what it reads', async (config) => {
    const source = await makeSource({ ...config, everyS: 77 }, { env: {}, baseDir: folder });
    expect(source).toMatchObject({ name: config.name, kind: config.kind, priority: expect.any(Number) });
    expect(source.reads).not.toBe('');
    // Files are read in their own rhythm.
    const isFile = config.kind === 'gcp' || config.kind === 'azure';
    expect(source.pollS === 77).toBe(!isFile);
  });

  it('sends the secret as it is at each use: tokens in files are replaced', async () => {
    const config: SourceConfig = {
      kind: 'scrape',
      name: 's',
      targets: [{ url }],
      headers: { Authorization: { file: 'token', prefix: 'Bearer ' } },
    };
    await writeFile(join(folder, 'token'), 'first\n');
    const source = await makeSource(config, { env: {}, baseDir: folder });
    authorizations = [];
    await source.check(never);
    await writeFile(join(folder, 'token'), 'second\n');
    await source.check(never);
    expect(authorizations).toEqual(['Bearer first', 'Bearer second']);
    await rm(join(folder, 'token'));
    expect(await source.check(never)).toMatchObject({ state: 'down', says: expect.stringContaining('token') });
  });

  it('does not repeat a secret that the server repeats', async () => {
    const echo = createServer((request, response) => {
      response.statusCode = 403;
      response.end(`refused ${request.headers.authorization}`);
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    try {
      const config: SourceConfig = {
        kind: 'scrape',
        name: 's',
        targets: [{ url: `http://127.0.0.1:${(echo.address() as AddressInfo).port}/metrics` }],
        headers: { Authorization: { env: 'TOKEN', prefix: 'Bearer ' } },
      };
      const source = await makeSource(config, { env: { TOKEN: 'hunter2hunter2' }, baseDir: folder });
      expect(JSON.stringify(await source.check(never))).not.toContain('hunter2');
      const pull = source.pull(undefined, { now: new Date(), signal: never, progress: () => undefined });
      const said: string[] = [];
      try {
        for await (const { skipped, gaps } of pull) said.push(JSON.stringify([skipped, gaps]));
      } catch (failure) {
        said.push(String(failure), JSON.stringify(failure));
      }
      expect(said.join(' ')).toContain('•••');
      expect(said.join(' ')).not.toContain('hunter2');
    } finally {
      echo.closeAllConnections();
      echo.close();
    }
  });

  it('without its secret is one that is down, so that the others go on', async () => {
    const config: SourceConfig = {
      kind: 'prometheus',
      name: 'p',
      url: 'http://127.0.0.1:1',
      headers: { Authorization: { env: 'NOT_SET' } },
    };
    const source = await makeSource(config, { env: {}, baseDir: folder });
    expect(await source.check(never)).toMatchObject({ state: 'down', todo: 'export NOT_SET=…' });
    const request = { now: new Date(), signal: never, progress: () => undefined };
    const pulled = (async () => {
      for await (const haul of source.pull(undefined, request)) return haul;
      return undefined;
    })();
    await expect(pulled).rejects.toMatchObject({ code: 'no-secret' });
  });
});
