import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { printed } from '../../test/demo/bursar-command.ts';
import { WORLDS } from './worlds.mjs';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-bench-worlds-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a world of the benchmark', () => {
  it.each(WORLDS)('$name is one a user could write', async ({ from, change }) => {
    const world: unknown = parse(await printed('demo', '--world', from, '--print-world'));
    const before = stringify(world);
    change?.(world);
    expect(stringify(world) === before).toBe(change === undefined);
    const path = join(folder, 'world.yaml');
    writeFileSync(path, stringify(world));
    const read = await printed('demo', '--world', path, '--print-world');
    expect(parse(read)).toEqual(world);
  });

  it('has no word for the standby where that is what is tested', async () => {
    const world: unknown = parse(await printed('demo', '--print-world'));
    expect(stringify(world)).toMatch(/name: .*standby/);
    WORLDS.find(({ name }) => name === 'standby under another name')?.change?.(world);
    expect(stringify(world)).not.toMatch(/name: .*standby/);
  });
});
