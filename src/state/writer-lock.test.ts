import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acquireWriterLock } from './writer-lock.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'bursar-lock-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const writer = (command: string, now = '2026-11-14T10:14:02.500Z') => ({ command, pid: 123, now: () => new Date(now) });

it('the second writer is told who the first is', async () => {
  const lock = await acquireWriterLock(dataDir, writer('import samples'));
  await expect(acquireWriterLock(dataDir, writer('import rates', '2026-11-14T10:20:00Z'))).rejects.toMatchObject({
    code: 'locked',
    message: `another bursar is writing to ${dataDir} (pid 123, \`import samples\`, since 10:14:02 UTC)`,
    hint: expect.stringContaining('--data'),
  });
  lock.release();
});

it('being refused does not free the lock for a third', async () => {
  const lock = await acquireWriterLock(dataDir, writer('import samples'));
  await expect(acquireWriterLock(dataDir, writer('import rates'))).rejects.toMatchObject({ code: 'locked' });
  await expect(acquireWriterLock(dataDir, writer('import rates'))).rejects.toMatchObject({ code: 'locked' });
  lock.release();
});

it('a lock of another day says its date', async () => {
  const lock = await acquireWriterLock(dataDir, writer('serve'));
  await expect(acquireWriterLock(dataDir, writer('import rates', '2026-11-15T00:00:01Z'))).rejects.toThrow(
    'since 2026-11-14 10:14:02 UTC',
  );
  lock.release();
});

it('a holder that has not signed yet is refused without a name', async () => {
  const lock = await acquireWriterLock(dataDir, writer('import samples'));
  rmSync(join(dataDir, 'writer.json'));
  await expect(acquireWriterLock(dataDir, writer('import rates'))).rejects.toThrow(
    new RegExp(`writing to ${dataDir}$`),
  );
  lock.release();
});

it('a released lock is free for the next, and releasing twice does no harm to it', async () => {
  const first = await acquireWriterLock(dataDir, writer('import samples'));
  first.release();
  expect(existsSync(join(dataDir, 'writer.json'))).toBe(false);
  const second = await acquireWriterLock(dataDir, writer('import rates'));
  first.release();
  expect(JSON.parse(readFileSync(join(dataDir, 'writer.json'), 'utf8'))).toEqual({
    pid: 123,
    command: 'import rates',
    since: '2026-11-14T10:14:02.500Z',
  });
  await expect(acquireWriterLock(dataDir, writer('import fx'))).rejects.toMatchObject({ code: 'locked' });
  second.release();
});

it('a writer that left a mess, or could not say anything any more, is told of to the next', async () => {
  const first = await acquireWriterLock(dataDir, writer('import samples'));
  expect(first.followsMess).toBe(false);
  first.release({ leavesMess: true });
  const second = await acquireWriterLock(dataDir, writer('import rates'));
  expect(second.followsMess).toBe(true);
  second.release();
  const third = await acquireWriterLock(dataDir, writer('import fx'));
  expect(third.followsMess).toBe(false);
  third.release();
});

it('makes a folder that is not there yet', async () => {
  const lock = await acquireWriterLock(join(dataDir, 'new', 'folder'), writer('import samples'));
  expect(existsSync(join(dataDir, 'new', 'folder', 'writer.lock'))).toBe(true);
  lock.release();
});

it('a file where the folder should be is called so', async () => {
  writeFileSync(join(dataDir, 'taken'), '');
  await expect(acquireWriterLock(join(dataDir, 'taken'), writer('import samples'))).rejects.toMatchObject({
    code: 'not-a-data-folder',
  });
});
