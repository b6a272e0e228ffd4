import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dispatch } from '../src/cli/dispatch.ts';
import type { CommandEntry } from '../src/cli/dispatch.ts';

/**
 * The README is typed as it stands, and shows what comes back. `npx vitest test/readme.test.ts -u` writes the
 * answers anew; read the difference.
 */
const path = fileURLToPath(new URL('../README.md', import.meta.url));
const readme = readFileSync(path, 'utf8');
const COMMANDS: readonly CommandEntry[] = [
  { name: 'import', summary: '', load: () => import('../src/cli/commands/import.ts') },
  { name: 'demo', summary: '', load: () => import('../src/cli/commands/demo.ts') },
  { name: 'look', summary: '', load: () => import('../src/cli/commands/look.ts') },
  { name: 'idle', summary: '', load: () => import('../src/cli/commands/idle.ts') },
  { name: 'job', summary: '', load: () => import('../src/cli/commands/job.ts') },
  { name: 'spend', summary: '', load: () => import('../src/cli/commands/spend.ts') },
  { name: 'waste', summary: '', load: () => import('../src/cli/commands/waste.ts') },
  { name: 'findings', summary: '', load: () => import('../src/cli/commands/findings.ts') },
  { name: 'finding', summary: '', load: () => import('../src/cli/commands/finding.ts') },
  { name: 'statement', summary: '', load: () => import('../src/cli/commands/statement.ts') },
  { name: 'ledger', summary: '', load: () => import('../src/cli/commands/ledger.ts') },
];

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-readme-'));
  // What `npm start` does; the commands of the README ask about it.
  await type('$ npx bursar demo --out ./bursar-demo');
  const file = /`([\w-]+\.csv)`:\n\n```csv\n([\s\S]*?)```/.exec(readme);
  writeFileSync(join(folder, file?.[1] ?? 'missing'), file?.[2] ?? '');
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** Words of a command line, single quotes understood. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}

/** What a shell makes of `samples-*.csv`. */
function filesOf(pattern: string): string[] {
  if (!pattern.includes('*')) return [pattern];
  const [before = '', after = ''] = basename(pattern).split('*');
  return readdirSync(dirname(pattern))
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .toSorted()
    .map((name) => join(dirname(pattern), name));
}

async function type(line: string): Promise<string> {
  const args = words(line.replace(/^\$ npx bursar /, '')).flatMap((word) =>
    /^\.\/|\.csv$/.test(word) ? filesOf(join(folder, word)) : [word],
  );
  if (args[0] !== 'demo' && !args.includes('--data')) args.push('--data', join(folder, 'bursar-data'));
  let said = '';
  const write = (text: string): string => (said += text);
  const exitCode = await dispatch(args, '0.0.0', COMMANDS, { stdout: { write }, stderr: { write } });
  expect({ line, exitCode, said }).toMatchObject({ exitCode: 0 });
  return said
    .replaceAll(` --data ${join(folder, 'bursar-data')}`, '')
    .replaceAll(join(folder, 'bursar-demo'), './bursar-demo')
    .replaceAll(`${folder}/`, '')
    .replaceAll(/ \(\d+ s\)$/gm, ' (7 s)');
}

it('shows what the commands in it print', async () => {
  let written = readme;
  for (const [block, body = ''] of readme.matchAll(/```console\n([\s\S]*?)```/g)) {
    let answers = '';
    for (const line of body.split('\n').filter((each) => each.startsWith('$ '))) {
      answers += `${answers === '' ? '' : '\n'}${line}\n${await type(line)}`;
    }
    written = written.replace(block, () => `\`\`\`console\n${answers}\`\`\``);
  }
  await expect(written).toMatchFileSnapshot(path);
}, 300_000);
