import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fleetFolder } from './fleet-folder.ts';
import { SMALL_FLEET } from './small-fleet.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = await readFile(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8');

it('the test of the recipe for detectors is one that runs', async () => {
  const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1];
  expect(example).toBe(await readFile(new URL('recipe/sleeping-dogs.test.ts', import.meta.url), 'utf8'));
});

it('the line that shows rows shows rows', async () => {
  const line = /^node -e .+$/m.exec(page)?.[0] ?? '';
  const fleet = await fleetFolder(SMALL_FLEET);
  try {
    const typed = line.replace('bursar-example', fleet.dataDir);
    const { stdout } = await promisify(execFile)('sh', ['-c', typed], { cwd: root });
    expect(stdout.match(/ subject: .+/g)).toHaveLength(2);
  } finally {
    await fleet.remove();
  }
});
