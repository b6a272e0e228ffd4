import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { rolldown } from 'rolldown';
import type { Plan, Told } from './writer.ts';

/** The writing program as plain JavaScript, because the oldest Node we support runs no TypeScript. */
export interface WriterBundle {
  readonly path: string;
  remove(): void;
}

/** It lies inside `node_modules` of the repository, from where it finds the native packages. */
export async function bundleWriter(repository: string): Promise<WriterBundle> {
  const cache = join(repository, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bursar-crash-'));
  const bundle = await rolldown({
    input: { writer: join(repository, 'test/crash/writer.ts') },
    platform: 'node',
    external: [/^@duckdb\//, '@photostructure/sqlite'],
    logLevel: 'warn',
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await bundle.close();
  return { path: join(folder, 'writer.mjs'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface WriterProcess {
  readonly pid: number;
  say(text: string): void;
  kill(): void;
  /** Everything it said, once it is gone and the pipe is empty. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; told: readonly Told[] }>;
}

/** Starts the program; `onTold` hears each line when it arrives. */
export function startWriter(
  bundle: WriterBundle,
  plan: Plan,
  onTold: (told: Told, writer: WriterProcess) => void = () => undefined,
): WriterProcess {
  const child = spawn(process.execPath, [bundle.path, JSON.stringify(plan)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const told: Told[] = [];
  const lines = createInterface({ input: child.stdout });
  const writer: WriterProcess = {
    pid: child.pid ?? 0,
    say: (text) => void child.stdin.write(`${text}\n`),
    kill: () => void child.kill('SIGKILL'),
    ended: Promise.all([once(child, 'exit'), once(lines, 'close')]).then(([[code, signal]]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      told,
    })),
  };
  lines.on('line', (line) => {
    const heard: Told = JSON.parse(line);
    told.push(heard);
    onTold(heard, writer);
  });
  return writer;
}
