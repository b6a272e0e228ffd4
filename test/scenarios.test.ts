import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dispatch } from '../src/cli/dispatch.ts';
import type { CommandEntry } from '../src/cli/dispatch.ts';
import { FACT_TABLES } from '../src/facts/fact-table.ts';

/**
 * What people see, byte for byte: files of `input` are imported by their names, then the lines of `commands.txt` are typed,
 * and what comes back is in `expected`. INPUT stands for that folder, DATA for the data folder.
 * `npx vitest test/scenarios.test.ts -u` writes it anew; read the difference.
 */
const root = fileURLToPath(new URL('scenarios', import.meta.url));
const COMMANDS: readonly CommandEntry[] = [
  { name: 'import', summary: '', load: () => import('../src/cli/commands/import.ts') },
  { name: 'look', summary: '', load: () => import('../src/cli/commands/look.ts') },
  { name: 'waste', summary: '', load: () => import('../src/cli/commands/waste.ts') },
  { name: 'scorecard', summary: '', load: () => import('../src/cli/commands/scorecard.ts') },
  { name: 'audit', summary: '', load: () => import('../src/cli/commands/audit.ts') },
  { name: 'idle', summary: '', load: () => import('../src/cli/commands/idle.ts') },
  { name: 'findings', summary: '', load: () => import('../src/cli/commands/findings.ts') },
  { name: 'finding', summary: '', load: () => import('../src/cli/commands/finding.ts') },
  { name: 'queue', summary: '', load: () => import('../src/cli/commands/queue.ts') },
  { name: 'me', summary: '', load: () => import('../src/cli/commands/me.ts') },
  { name: 'job', summary: '', load: () => import('../src/cli/commands/job.ts') },
  { name: 'beside', summary: '', load: () => import('../src/cli/commands/beside.ts') },
  { name: 'rules', summary: '', load: () => import('../src/cli/commands/rules.ts') },
  { name: 'spend', summary: '', load: () => import('../src/cli/commands/spend.ts') },
  { name: 'outcomes', summary: '', load: () => import('../src/cli/commands/outcomes.ts') },
  { name: 'work', summary: '', load: () => import('../src/cli/commands/work.ts') },
  { name: 'receipt', summary: '', load: () => import('../src/cli/commands/receipt.ts') },
  { name: 'statement', summary: '', load: () => import('../src/cli/commands/statement.ts') },
  { name: 'export', summary: '', load: () => import('../src/cli/commands/export.ts') },
  { name: 'ledger', summary: '', load: () => import('../src/cli/commands/ledger.ts') },
  { name: 'demo', summary: '', load: () => import('../src/cli/commands/demo.ts') },
];

// Screens are laid out for the usual width, however wide the tester's own terminal is.
delete process.env['COLUMNS'];

for (const scenario of readdirSync(root)) {
  describe(`scenario ${scenario}`, () => {
    const input = join(root, scenario, 'input');
    let dataDir = '';
    const type = async (line: string): Promise<string> => {
      let out = '';
      let err = '';
      const args = line.split(' ').map((word) => word.replace(/^INPUT\b/, input));
      args.push(args[0] === 'demo' ? '--out' : '--data', dataDir);
      const exitCode = await dispatch(args, '0.0.0', COMMANDS, {
        stdout: { write: (text: string) => (out += text) },
        stderr: { write: (text: string) => (err += text) },
      });
      const talk = err === '' ? '' : `stderr:\n${err}`;
      return `$ bursar ${line}\n${out}${talk}exit ${exitCode}\n`
        .replaceAll(dataDir, 'DATA')
        .replaceAll(input, 'INPUT')
        .replaceAll(/\(\d+ s\)/g, '(N s)');
    };
    beforeAll(async () => {
      dataDir = join(mkdtempSync(join(tmpdir(), 'bursar-scenario-')), 'data');
      for (const { importName } of FACT_TABLES) {
        const file = join(input, `${importName}.csv`);
        const answer = existsSync(file) ? await type(`import ${importName} ${file}`) : 'exit 0\n';
        if (!answer.endsWith('exit 0\n')) throw new Error(answer);
      }
    });
    afterAll(() => rmSync(join(dataDir, '..'), { recursive: true }));

    const lines = readFileSync(join(input, 'commands.txt'), 'utf8').trim().split('\n');
    for (const line of lines) {
      it(`bursar ${line}`, async () => {
        const name = line.replaceAll(/[^\w.-]+/g, '_');
        await expect(await type(line)).toMatchFileSnapshot(join(root, scenario, 'expected', `${name}.txt`));
      });
    }
  });
}
