import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** The command as people run it, in a process of its own, built from the sources as they are now. */
export interface BursarProgram {
  start(args: readonly string[]): ChildProcess;
  /** Runs it to its end. */
  run(args: readonly string[]): Promise<{ exitCode: number | null; out: string; err: string }>;
  remove(): void;
}

/** It lies inside `node_modules` of the repository, from where it finds the native packages. */
export async function bursarProgram(): Promise<BursarProgram> {
  const cache = join(REPOSITORY, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const home = mkdtempSync(join(cache, 'bursar-program-'));
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  try {
    await build(home);
  } catch (failure) {
    remove();
    throw failure;
  }
  const start = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [join(home, 'bin/bursar.js'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    start,
    run: async (args) => {
      const child = start(args);
      const said = { out: '', err: '' };
      child.stdout?.on('data', (piece) => (said.out += String(piece)));
      child.stderr?.on('data', (piece) => (said.err += String(piece)));
      const [exitCode] = (await once(child, 'close')) as [number | null];
      return { exitCode, ...said };
    },
    remove,
  };
}

async function build(home: string): Promise<void> {
  for (const part of ['bin', 'package.json']) cpSync(join(REPOSITORY, part), join(home, part), { recursive: true });
  const bundle = await rolldown({
    input: { main: join(REPOSITORY, 'src/cli/main.ts') },
    platform: 'node',
    external: [/^@duckdb\//, '@photostructure/sqlite'],
    logLevel: 'warn',
  });
  await bundle.write({
    dir: join(home, 'dist'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
}
