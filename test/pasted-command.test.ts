import { afterAll, beforeAll, expect, it } from 'vitest';
import { dispatch } from '../src/cli/dispatch.ts';
import type { CommandEntry } from '../src/cli/dispatch.ts';
import { fleetFolder } from './fleet-folder.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { TWO_TEAMS } from './two-teams.ts';

/** Whoever reads a paste types the command under it: it has to say the same again. */
const COMMANDS: readonly CommandEntry[] = [
  { name: 'findings', summary: '', load: () => import('../src/cli/commands/findings.ts') },
  { name: 'runaway', summary: '', load: () => import('../src/cli/commands/runaway.ts') },
  { name: 'audit', summary: '', load: () => import('../src/cli/commands/audit.ts') },
  { name: 'scorecard', summary: '', load: () => import('../src/cli/commands/scorecard.ts') },
  { name: 'waste', summary: '', load: () => import('../src/cli/commands/waste.ts') },
];

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(TWO_TEAMS);
});
afterAll(() => fleet.remove());

async function paste(args: readonly string[]): Promise<string> {
  let out = '';
  const streams = { stdout: { write: (text: string) => (out += text) }, stderr: { write: (text: string) => text } };
  expect(await dispatch([...args], '0.0.0', COMMANDS, streams)).toBe(0);
  return out.replace(/Made \S+ by/, 'Made NOW by');
}

it.each([
  'findings --slack',
  'findings --slack --category idle --detector idle-sessions --all --as-of 2026-03-02T20:00:00Z',
  'findings --markdown --owner nlp --state open,accepted --small --window 2026-03-02',
  'findings --slack --team nlp --fail-on cash=1000000',
  'runaway --slack --as-of 2026-03-02T20:00:00Z --window 7d',
  'audit --markdown --team nlp --as-of 2026-03-02T20:00:00Z',
  'scorecard --markdown --as-of 2026-03-02T20:00:00Z --window 2026-03-02',
  'waste --markdown --filter team=nlp --filter category=idle --as-of 2026-03-02T20:00:00Z',
])('%s names the command that gives it again', async (typed) => {
  const told = await paste([...typed.split(' '), '--data', fleet.dataDir]);
  const [, named = ''] = /`bursar ([^`]*)`\s*$/.exec(told) ?? [];
  const style = typed.includes('--slack') ? '--slack' : '--markdown';
  expect(await paste([...named.replaceAll("'", '').split(' '), style])).toBe(told);
  // What was said of the question is all there; how it is to look, and to end, is no part of it.
  const flags = typed.split(' ').filter((word) => word.startsWith('--') && word !== style && word !== '--fail-on');
  for (const flag of flags) expect(named).toContain(flag);
});
