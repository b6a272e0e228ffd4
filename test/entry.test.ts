import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

describe('bin/bursar.js, alone in a folder', () => {
  let place = '';
  const run = (extra: Record<string, string>, ...args: string[]) => {
    const { UV_THREADPOOL_SIZE: _, ...inherited } = process.env;
    const env = { ...inherited, ...extra };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(place, 'bin/bursar.js'), ...args], {
      encoding: 'utf8',
      env,
    });
    return { status, stdout, stderr };
  };
  const build = (main: string) => {
    mkdirSync(join(place, 'dist'), { recursive: true });
    writeFileSync(join(place, 'dist/main.js'), main);
  };

  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'bursar-entry-'));
    cpSync(join(root, 'bin'), join(place, 'bin'), { recursive: true });
    cpSync(join(root, 'package.json'), join(place, 'package.json'));
  });
  afterAll(() => rmSync(place, { recursive: true }));

  it.each(['--version', '-V'])('answers %s without the bundle, so the answer stays cheap', (flag) => {
    expect(run({}, flag)).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('says what to do where nothing was built', () => {
    expect(run({}, 'look')).toEqual({ status: 1, stdout: '', stderr: 'bursar: not built yet: npm run build\n' });
  });

  it('hands on the arguments and the exit code', () => {
    build('export const main = async (argv) => { console.log(argv.join("|")); return 2; };');
    expect(run({}, 'look', '7d')).toEqual({ status: 2, stdout: 'look|7d\n', stderr: '' });
  });

  it.runIf(process.platform === 'linux')('gives DuckDB twelve threads for its queries, or what the user says', () => {
    build(`
      import { stat } from 'node:fs/promises';
      import { readdirSync } from 'node:fs';
      export const main = async () => {
        await stat('.');
        console.log(readdirSync('/proc/self/task').length);
        return 0;
      };`);
    const threads = Number(run({}, 'look').stdout);
    expect(threads - Number(run({ UV_THREADPOOL_SIZE: '4' }, 'look').stdout)).toBe(12 - 4);
  });
});
