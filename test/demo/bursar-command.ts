import { dispatch } from '../../src/cli/dispatch.ts';
import type { CommandEntry } from '../../src/cli/dispatch.ts';

const COMMANDS: readonly CommandEntry[] = [
  { name: 'import', summary: '', load: () => import('../../src/cli/commands/import.ts') },
  { name: 'derive', summary: '', load: () => import('../../src/cli/commands/derive.ts') },
  { name: 'look', summary: '', load: () => import('../../src/cli/commands/look.ts') },
  { name: 'idle', summary: '', load: () => import('../../src/cli/commands/idle.ts') },
  { name: 'queue', summary: '', load: () => import('../../src/cli/commands/queue.ts') },
  { name: 'me', summary: '', load: () => import('../../src/cli/commands/me.ts') },
  { name: 'job', summary: '', load: () => import('../../src/cli/commands/job.ts') },
  { name: 'spend', summary: '', load: () => import('../../src/cli/commands/spend.ts') },
  { name: 'ledger', summary: '', load: () => import('../../src/cli/commands/ledger.ts') },
  { name: 'demo', summary: '', load: () => import('../../src/cli/commands/demo.ts') },
];

export interface Said {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Types a command, as a person or a script would. */
export async function bursar(...words: string[]): Promise<Said> {
  const said = { out: '', err: '' };
  const exitCode = await dispatch(words, '0.0.0', COMMANDS, {
    stdout: { write: (text: string) => (said.out += text) },
    stderr: { write: (text: string) => (said.err += text) },
  });
  return { exitCode, ...said };
}

/** Types a command that has to work, and gives what it printed. */
export async function printed(...words: string[]): Promise<string> {
  const { exitCode, out, err } = await bursar(...words);
  if (exitCode !== 0) throw new Error(`bursar ${words.join(' ')}: exit ${exitCode}\n${err}${out}`);
  return out;
}

export async function hashOf(dataDir: string): Promise<string> {
  return (await printed('ledger', 'hash', '--data', dataDir)).trim();
}
