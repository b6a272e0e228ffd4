import { dispatch } from '../../src/cli/dispatch.ts';
import type { CommandEntry } from '../../src/cli/dispatch.ts';

const COMMANDS: readonly CommandEntry[] = [
  { name: 'import', summary: '', load: () => import('../../src/cli/commands/import.ts') },
  { name: 'derive', summary: '', load: () => import('../../src/cli/commands/derive.ts') },
  { name: 'look', summary: '', load: () => import('../../src/cli/commands/look.ts') },
  { name: 'idle', summary: '', load: () => import('../../src/cli/commands/idle.ts') },
  { name: 'queue', summary: '', load: () => import('../../src/cli/commands/queue.ts') },
  { name: 'me', summary: '', load: () => import('../../src/cli/commands/me.ts') },
  { name: 'jobs', summary: '', load: () => import('../../src/cli/commands/jobs.ts') },
  { name: 'job', summary: '', load: () => import('../../src/cli/commands/job.ts') },
  { name: 'spend', summary: '', load: () => import('../../src/cli/commands/spend.ts') },
  { name: 'ledger', summary: '', load: () => import('../../src/cli/commands/ledger.ts') },
  { name: 'waste', summary: '', load: () => import('../../src/cli/commands/waste.ts') },
  { name: 'findings', summary: '', load: () => import('../../src/cli/commands/findings.ts') },
  { name: 'finding', summary: '', load: () => import('../../src/cli/commands/finding.ts') },
  { name: 'runaway', summary: '', load: () => import('../../src/cli/commands/runaway.ts') },
  { name: 'beside', summary: '', load: () => import('../../src/cli/commands/beside.ts') },
  { name: 'outcomes', summary: '', load: () => import('../../src/cli/commands/outcomes.ts') },
  { name: 'work', summary: '', load: () => import('../../src/cli/commands/work.ts') },
  { name: 'receipt', summary: '', load: () => import('../../src/cli/commands/receipt.ts') },
  { name: 'scorecard', summary: '', load: () => import('../../src/cli/commands/scorecard.ts') },
  { name: 'audit', summary: '', load: () => import('../../src/cli/commands/audit.ts') },
  { name: 'statement', summary: '', load: () => import('../../src/cli/commands/statement.ts') },
  { name: 'sources', summary: '', load: () => import('../../src/cli/commands/sources.ts') },
  { name: 'doctor', summary: '', load: () => import('../../src/cli/commands/doctor.ts') },
  { name: 'bills', summary: '', load: () => import('../../src/cli/commands/bills.ts') },
  { name: 'rules', summary: '', load: () => import('../../src/cli/commands/rules.ts') },
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
