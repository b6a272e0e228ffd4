import manifest from '../../package.json' with { type: 'json' };
import { dispatch, type CommandEntry } from './dispatch.ts';

/** In the order of `bursar --help`: bring facts in, ask, check, try. */
const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'import',
    summary: 'bring samples, allocations, nodes, bills and rates into the lake',
    load: () => import('./commands/import.ts'),
  },
  {
    name: 'bills',
    summary: 'add bills, and see which are here and whether they add up',
    load: () => import('./commands/bills.ts'),
  },
  {
    name: 'derive',
    summary: 'bring the ledger up to date with the facts',
    load: () => import('./commands/derive.ts'),
  },
  {
    name: 'collect',
    summary: 'bring the data up to date with what you run, once or all the time',
    load: () => import('./commands/collect.ts'),
  },
  {
    name: 'sources',
    summary: 'freshness, gaps and errors of every source',
    load: () => import('./commands/sources.ts'),
  },
  {
    name: 'init',
    summary: 'find what knows about your GPUs and keep it as bursar.yaml',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'doctor',
    summary: 'how each source is, what is missing and what to do',
    load: () => import('./commands/doctor.ts'),
  },
  { name: 'look', summary: 'what was paid for, and what became of it', load: () => import('./commands/look.ts') },
  {
    name: 'waste',
    summary: 'where each dollar went, and why, down to the rows',
    load: () => import('./commands/waste.ts'),
  },
  { name: 'idle', summary: 'who holds GPUs without using them', load: () => import('./commands/idle.ts') },
  {
    name: 'findings',
    summary: 'what to do: every wasted dollar with its cause, owner and fix',
    load: () => import('./commands/findings.ts'),
  },
  {
    name: 'finding',
    summary: 'one finding: all of it, the rows behind it, accept, exempt, dismiss, assign',
    load: () => import('./commands/finding.ts'),
  },
  {
    name: 'runaway',
    summary: 'what spends far above its own kind right now, and how to stop it',
    load: () => import('./commands/runaway.ts'),
  },
  { name: 'me', summary: 'what I hold, what it costs, what of it is idle', load: () => import('./commands/me.ts') },
  {
    name: 'queue',
    summary: 'who waits for GPUs, beside those that stand idle',
    load: () => import('./commands/queue.ts'),
  },
  {
    name: 'beside',
    summary: 'host, storage and egress beside the GPU, and who waited while it was idle',
    load: () => import('./commands/beside.ts'),
  },
  {
    name: 'jobs',
    summary: 'which jobs held GPUs, what each cost and what came of it',
    load: () => import('./commands/jobs.ts'),
  },
  { name: 'job', summary: 'what one job cost, and how much of it computed', load: () => import('./commands/job.ts') },
  {
    name: 'spend',
    summary: 'spend by team, project, user, model or day',
    load: () => import('./commands/spend.ts'),
  },
  {
    name: 'outcomes',
    summary: 'what a run, a thousand inferences, a million tokens cost',
    load: () => import('./commands/outcomes.ts'),
  },
  {
    name: 'work',
    summary: 'what was achieved: list it, record it',
    load: () => import('./commands/work.ts'),
  },
  {
    name: 'receipt',
    summary: 'the line a researcher sees when a job ends',
    load: () => import('./commands/receipt.ts'),
  },
  {
    name: 'scorecard',
    summary: 'how well the fleet is run, against published ranges and the quarter before',
    load: () => import('./commands/scorecard.ts'),
  },
  {
    name: 'audit',
    summary: 'the quarterly list of the forgotten, by owner, with what to do',
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'statement',
    summary: 'what a team pays for, month by month; numbered and frozen when closed',
    load: () => import('./commands/statement.ts'),
  },
  {
    name: 'export',
    summary: 'the ledger as FOCUS for other tools',
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'rules',
    summary: 'whose money is whose: what each rule catches, and what none does',
    load: () => import('./commands/rules.ts'),
  },
  {
    name: 'prices',
    summary: 'what GPUs are offered for, by whom and since when',
    load: () => import('./commands/prices.ts'),
  },
  {
    name: 'accelerators',
    summary: 'memory, speed and power of accelerators, with source and date',
    load: () => import('./commands/accelerators.ts'),
  },
  {
    name: 'ledger',
    summary: 'check the ledger against the bill, explain a figure, hash the rows',
    load: () => import('./commands/ledger.ts'),
  },
  {
    name: 'watch',
    summary: 'what the GPUs of this machine do and cost, live',
    load: () => import('./commands/watch.ts'),
  },
  {
    name: 'serve',
    summary: 'the dashboard and the API',
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'token',
    summary: 'who may use the server beyond this machine',
    load: () => import('./commands/token.ts'),
  },
  { name: 'demo', summary: 'see all of it on a made-up organisation', load: () => import('./commands/demo.ts') },
];

/** Answers one command line and returns its exit code. Never throws: what goes wrong is said on the streams. */
export async function main(argv: string[]): Promise<number> {
  let outputFailed = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // `bursar spend | head` closes the pipe; a half-done import still has to end well.
      if (error.code === 'EPIPE') return;
      outputFailed = true;
      process.exitCode = 1;
    });
  }
  const exitCode = await dispatch(argv, manifest.version, COMMANDS, process);
  return outputFailed ? 1 : exitCode;
}
