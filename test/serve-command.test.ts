import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatch } from '../src/cli/dispatch.ts';
import { fleetFolder } from './fleet-folder.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { SMALL_FLEET } from './small-fleet.ts';

const program = fileURLToPath(new URL('../bin/bursar.js', import.meta.url));
const isBuilt = existsSync(fileURLToPath(new URL('../dist/main.js', import.meta.url)));
const COMMANDS = [
  { name: 'serve', summary: '', load: () => import('../src/cli/commands/serve.ts') },
  { name: 'token', summary: '', load: () => import('../src/cli/commands/token.ts') },
];

let fleet: FleetFolder;
let folder = '';
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
  folder = mkdtempSync(join(tmpdir(), 'bursar-serve-'));
});
afterAll(async () => {
  await fleet.remove();
  rmSync(folder, { recursive: true });
});

async function type(...args: string[]): Promise<{ exitCode: number; said: string }> {
  let said = '';
  const write = (text: string): string => (said += text);
  const exitCode = await dispatch(args, '0.0.0', COMMANDS, { stdout: { write }, stderr: { write } });
  return { exitCode, said };
}

/** Starts the program and waits for the line that has the address. */
async function start(...args: string[]): Promise<{ child: ChildProcess; url: string; said: () => string }> {
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const url = await new Promise<string>((found, fail) => {
    child.stderr?.setEncoding('utf8').on('data', (some: string) => {
      said += some;
      const line = /^(http:\S+)\/$/m.exec(said)?.[1];
      if (line !== undefined) found(line);
    });
    child.once('exit', () => fail(new Error(said)));
  });
  return { child, url, said: () => said };
}

describe.runIf(isBuilt)('bursar serve', () => {
  it('says where and what, answers, and ends well when it is told to', async () => {
    const { child, url, said } = await start('--data', fleet.dataDir, '--listen', '127.0.0.1:0');
    const reply = await fetch(`${url}/api/v1/spend?by=team&window=all`);
    expect([reply.status, reply.headers.get('x-bursar-command')]).toEqual([
      200,
      `bursar spend --by team --window all --data ${fleet.dataDir}`,
    ]);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(said()).toContain('only this machine can reach it');
    const begun = performance.now();
    child.kill('SIGTERM');
    const [exitCode] = await once(child, 'exit');
    expect(exitCode).toBe(0);
    expect(performance.now() - begun).toBeLessThan(6000);
    expect(said()).toContain('stopped');
  });
});

describe('who may reach it', () => {
  it('beyond this machine nobody without a token', async () => {
    const { exitCode, said } = await type('serve', '--data', fleet.dataDir, '--listen', '0.0.0.0:0');
    expect(exitCode).toBe(1);
    expect(said).toContain('there is no token yet');
    expect(said).toContain(`bursar token create --name NAME --role admin --data ${fleet.dataDir}`);
    expect(said).toContain('TLS');
  });

  it('an address that is none is refused', async () => {
    for (const listen of ['nowhere', '127.0.0.1:99999', 'http://127.0.0.1:4600']) {
      const { exitCode, said } = await type('serve', '--data', fleet.dataDir, '--listen', listen);
      expect({ exitCode, said }).toMatchObject({ exitCode: 1, said: expect.stringContaining('--listen') as unknown });
    }
  });
});

describe('bursar token', () => {
  it('shows a token once, lists it without, and revokes it', async () => {
    const data = ['--data', join(folder, 'tokens')];
    const made = await type('token', 'create', '--name', 'grafana', '--role', 'viewer', '--team', 'nlp', ...data);
    const token = /^bsr_\S+$/m.exec(made.said)?.[0] ?? 'none';
    expect(made.exitCode).toBe(0);
    const listed = await type('token', 'list', ...data);
    expect(listed.said).toMatch(/T-1 +grafana +viewer +nlp +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d +in force/);
    expect(listed.said).not.toContain(token);
    const json = await type('token', 'list', '--json', ...data);
    expect(JSON.parse(json.said)).toMatchObject({
      tokens: [{ id: 'T-1', name: 'grafana', team: 'nlp', state: 'in force' }],
    });
    expect((await type('token', 'revoke', 'grafana', ...data)).said).toBe('T-1 of grafana is revoked\n');
    expect((await type('token', 'list', ...data)).said).toContain('revoked');
    expect((await type('token', 'revoke', 'grafana', ...data)).exitCode).toBe(1);
  });
});
