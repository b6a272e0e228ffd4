import { afterAll, beforeAll, expect, it } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { TWO_TEAMS } from '../../../test/two-teams.ts';
import { dispatch } from '../dispatch.ts';
import type { CommandEntry } from '../dispatch.ts';

const COMMANDS: readonly CommandEntry[] = [
  { name: 'findings', summary: '', load: () => import('./findings.ts') },
  { name: 'finding', summary: '', load: () => import('./finding.ts') },
];

let fleet: FleetFolder;
/** Of nlp, of zeta, and of both: the platform's. */
const numbers: Record<string, string> = {};
beforeAll(async () => {
  fleet = await fleetFolder(TWO_TEAMS);
  const { findings } = JSON.parse((await type('findings --json --all')).out) as {
    findings: { id: string; team: string | null }[];
  };
  for (const { id, team } of findings) numbers[team ?? 'both'] = id;
});
afterAll(() => fleet.remove());

async function type(line: string): Promise<{ exitCode: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const words = line.split(' ').map((word) => numbers[/^OF-(\w+)$/.exec(word)?.[1] ?? ''] ?? word);
  const exitCode = await dispatch([...words, '--data', fleet.dataDir], '0.0.0', COMMANDS, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { exitCode, out, err };
}

it.each([
  [
    'another team’s is not denied, and says whose it is',
    'finding OF-zeta --team nlp',
    /F-\d+ is not nlp’s: it is of zeta \/ zulu/,
  ],
  ['nor where its rows are asked for', 'finding OF-zeta explain --team nlp', /F-\d+ is not nlp’s/],
  ['nobody has that number', 'finding F-99 --team nlp', /there is no finding F-99/],
  ['a team accepts what is another’s', 'finding OF-zeta accept --team nlp', /F-\d+ is not nlp’s/],
  ['a team decides about money of others beside its own', 'finding OF-both accept --team nlp', /holds money of others/],
  ['a team nobody is called', 'finding OF-nlp accept --team npl', /npl.*nlp/s],
  ['a reason for looking', 'finding OF-nlp explain --reason x', /explain takes no --reason/],
  ['a reason for assigning, which is not kept', 'finding OF-nlp assign kim --reason x', /assign takes no --reason/],
  ['somebody who says so, where nothing is said', 'finding OF-nlp --by kim', /show takes no --by/],
])('refuses: %s', async (_, line, want) => {
  const { exitCode, out, err } = await type(line);
  expect([exitCode, out]).toEqual([1, '']);
  expect(err).toMatch(want);
  const { history } = JSON.parse((await type('finding OF-zeta --json')).out) as { history: unknown[] };
  expect(history).toHaveLength(1);
});

it('a team decides about its own, and can take it back: the page says how', async () => {
  const verbs = async (): Promise<string> => (await type('finding OF-nlp')).out.trimEnd().split('\n').at(-1) ?? '';
  expect(await verbs()).not.toContain('reopen');
  expect((await type('finding OF-nlp accept --team nlp --reason soon')).exitCode).toBe(0);
  expect(await verbs()).toContain(' | assign TO | reopen ');
  expect((await type('finding OF-nlp exempt --team nlp --until 2099-01-01 --reason demo')).exitCode).toBe(0);
  expect(await verbs()).toContain(' | assign TO | reopen ');
  expect((await type('finding OF-nlp reopen')).exitCode).toBe(0);
  expect(await verbs()).not.toContain('reopen');
});
