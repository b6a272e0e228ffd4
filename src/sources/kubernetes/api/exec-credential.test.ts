import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { execCredential } from './exec-credential.ts';

/** A plugin whose child would live on for a minute. */
const SCRIPT = `
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
require('node:fs').writeFileSync(process.env.PID_FILE, String(child.pid));
setInterval(() => {}, 1000);`;

it('a plugin that hangs is ended after its time, and its children with it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-plugin-'));
  const pidFile = join(folder, 'pid');
  const env = [{ name: 'PID_FILE', value: pidFile }];
  const exec = { command: process.execPath, args: ['-e', SCRIPT], env };
  const context = { signal: new AbortController().signal, timeoutMs: 3000 };
  await expect(execCredential(exec, context)).rejects.toMatchObject({
    code: 'kubernetes-credential-plugin',
    message: expect.stringContaining('gave nothing within 3 s'),
  });
  const pid = Number(await readFile(pidFile, 'utf8'));
  const deadline = Date.now() + 10_000;
  while (isAlive(pid) && Date.now() < deadline) await delay(20);
  expect(isAlive(pid)).toBe(false);
  await rm(folder, { recursive: true, force: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
