import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Batch } from '../facts/manifest.ts';
import { openManifest } from './manifest.ts';
import { acquireWriterLock } from './writer-lock.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const now = () => new Date('2026-11-14T10:14:02Z');
const writer = (command: string) => ({ command, pid: 1, now });
const batch: Batch = {
  table: 'rate',
  name: 'a',
  origin: 'a',
  importedFrom: 'a.csv',
  priority: 0,
  observedAt: '2026-11-01T00:00:00Z',
  firstAt: null,
  newestAt: null,
  files: [{ path: 'rate/1', table: 'rate', partition: '2026-11-01', rows: 1, bytes: 1, contentHash: 'x' }],
};

let dataDir: string;
let programDir: string;
beforeEach(() => {
  programDir = mkdtempSync(join(tmpdir(), 'bursar-program-'));
  dataDir = mkdtempSync(join(tmpdir(), 'bursar-process-'));
});
afterEach(() => {
  chmodSync(dataDir, 0o755);
  for (const folder of [dataDir, programDir]) rmSync(folder, { recursive: true, force: true });
});

/** Runs a program in a process of its own. Vite loads it, because the oldest Node we support runs no TypeScript. */
function inChild(program: string) {
  const programPath = join(programDir, 'program.ts');
  writeFileSync(
    programPath,
    `import { once } from 'node:events';
    import { loadSqlite } from ${JSON.stringify(join(repository, 'src/state/database.ts'))};
    import { openManifest } from ${JSON.stringify(join(repository, 'src/state/manifest.ts'))};
    import { acquireWriterLock } from ${JSON.stringify(join(repository, 'src/state/writer-lock.ts'))};
    const dataDir = ${JSON.stringify(dataDir)};
    const now = () => new Date(${now().getTime()});
    const batch = ${JSON.stringify(batch)};
    ${program}`,
  );
  const start = `
    import { runnerImport } from 'vite';
    await runnerImport(${JSON.stringify(programPath)}, { configFile: false, logLevel: 'silent' });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', start], {
    cwd: repository,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = once(child, 'exit');
  return {
    line: async () => String((await lines.next()).value),
    say: (text: string) => child.stdin.write(`${text}\n`),
    kill: () => child.kill('SIGKILL'),
    signal: async () => (await exit)[1] as NodeJS.Signals | null,
  };
}

describe('kill -9', () => {
  it('frees the writer lock, though its holder is still signed', async () => {
    const child = inChild(`
      await acquireWriterLock(dataDir, { command: 'import samples', pid: process.pid, now });
      console.log(process.pid);
      await once(process.stdin, 'data');`);
    const pid = await child.line();
    await expect(acquireWriterLock(dataDir, writer('import rates'))).rejects.toMatchObject({
      code: 'locked',
      message: `another bursar is writing to ${dataDir} (pid ${pid}, \`import samples\`, since 10:14:02 UTC)`,
    });
    child.kill();
    expect(await child.signal()).toBe('SIGKILL');
    expect(existsSync(join(dataDir, 'writer.json'))).toBe(true);
    const lock = await acquireWriterLock(dataDir, writer('import rates'));
    lock.release();
  });

  const cases = [
    { step: 'manifest: before begin', want: { generation: 1, batches: 0 } },
    { step: 'manifest: before commit', want: { generation: 1, batches: 0 } },
    { step: 'manifest: after commit', want: { generation: 2, batches: 1 } },
  ];
  it.each(cases)('at "$step" leaves generation $want.generation, whole', async ({ step, want }) => {
    const first = await openManifest(dataDir, { readOnly: false, now });
    first.commit({});
    first.close();
    const child = inChild(`
      const onStep = (step) => { if (step === ${JSON.stringify(step)}) process.kill(process.pid, 'SIGKILL'); };
      (await openManifest(dataDir, { readOnly: false, now, onStep })).commit({ addBatches: [batch] });`);
    expect(await child.signal()).toBe('SIGKILL');
    for (const readOnly of [true, false]) {
      const manifest = await openManifest(dataDir, { readOnly, now });
      const { generation, batches } = manifest.snapshot();
      manifest.close();
      expect({ generation, batches: batches.length }).toEqual(want);
    }
  });
});

describe('a reader', () => {
  it('beside a writer of another process reads the last generation, and the next when it is there', async () => {
    const child = inChild(`
      const manifest = await openManifest(dataDir, { readOnly: false, now });
      manifest.commit({});
      console.log('one');
      await once(process.stdin, 'data');
      manifest.commit({ addBatches: [batch] });
      console.log('two');
      await once(process.stdin, 'data');`);
    expect(await child.line()).toBe('one');
    const reader = await openManifest(dataDir, { readOnly: true, now });
    expect(reader.snapshot()).toMatchObject({ generation: 1, batches: [] });
    child.say('go on');
    expect(await child.line()).toBe('two');
    expect(reader.snapshot()).toMatchObject({ generation: 2, batches: [batch] });
    reader.close();
    child.kill();
    await child.signal();
  });
});

// Root may write anywhere, so the child gives its rights away once everything is loaded.
const AS_READER = `
  await loadSqlite();
  if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
  const outcome = async (work) => {
    try { return String(await work()); } catch (failure) { return failure.code; }
  };
  const generation = async () => {
    const manifest = await openManifest(dataDir, { readOnly: true, now });
    try { return manifest.snapshot().generation; } finally { manifest.close(); }
  };`;

describe.skipIf(process.platform === 'win32')('a folder that may not be written', () => {
  it('is read where the last writer closed it', async () => {
    const manifest = await openManifest(dataDir, { readOnly: false, now });
    manifest.commit({ addBatches: [batch] });
    manifest.close();
    for (const name of readdirSync(dataDir)) if (name !== 'state.sqlite') rmSync(join(dataDir, name));
    chmodSync(dataDir, 0o555);
    const child = inChild(`${AS_READER} console.log(await outcome(generation));`);
    expect(await child.line()).toBe('1');
  });

  it('is read while a writer with more rights is at work', async () => {
    const manifest = await openManifest(dataDir, { readOnly: false, now });
    manifest.commit({ addBatches: [batch] });
    chmodSync(dataDir, 0o555);
    const child = inChild(`${AS_READER} console.log(await outcome(generation));`);
    expect(await child.line()).toBe('1');
    manifest.close();
  });

  it('with changes left in a log that cannot be read is refused rather than read half', async () => {
    const manifest = await openManifest(dataDir, { readOnly: false, now });
    manifest.commit({ addBatches: [batch] });
    rmSync(join(dataDir, 'state.sqlite-shm'));
    chmodSync(dataDir, 0o555);
    const child = inChild(`${AS_READER} console.log(await outcome(generation));`);
    expect(await child.line()).toBe('read-only');
    manifest.close();
  });

  it('refuses writers, and says that it is read-only', async () => {
    const manifest = await openManifest(dataDir, { readOnly: false, now });
    manifest.commit({});
    manifest.close();
    chmodSync(dataDir, 0o555);
    chmodSync(join(dataDir, 'state.sqlite'), 0o444);
    const child = inChild(`${AS_READER}
      console.log(await outcome(() => openManifest(dataDir, { readOnly: false, now })));
      console.log(await outcome(() => acquireWriterLock(dataDir, { command: 'import', pid: 1, now })));`);
    expect(await child.line()).toBe('read-only');
    expect(await child.line()).toBe('read-only');
  });

  it('says so where it may not even be read', async () => {
    const manifest = await openManifest(dataDir, { readOnly: false, now });
    manifest.close();
    chmodSync(dataDir, 0o000);
    const child = inChild(`${AS_READER} console.log(await outcome(generation));`);
    expect(await child.line()).toBe('unreadable');
  });
});
