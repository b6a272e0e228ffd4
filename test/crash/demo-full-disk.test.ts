import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bursar, printed } from '../demo/bursar-command.ts';
import { mayMount, mountSmallDisk } from './small-disk.ts';
import type { SmallDisk } from './small-disk.ts';

const TINY = ['--gpus', '6', '--days', '1', '--step', '1h'];

describe.skipIf(!mayMount())('a demo on a small disk (skipped where tmpfs may not be mounted)', () => {
  let disk: SmallDisk;
  let out = '';
  beforeEach(() => {
    disk = mountSmallDisk(6);
    out = join(disk.folder, 'demo');
    mkdirSync(out);
  });
  afterEach(() => disk.remove());

  it.each([[[]], [['--only-files']]])('says so, and the demo before is there to the last byte %o', async (flags) => {
    await printed('demo', '--out', out, ...TINY, ...flags);
    const before = readFileSync(join(out, 'files/truth.csv'), 'utf8');
    disk.leave(100_000);
    const said = await bursar('demo', '--out', out, ...TINY, ...flags, '--gpus', '60', '--days', '3');
    expect(said).toMatchObject({ exitCode: 1, out: '' });
    expect(said.err).toContain(`no space left on the disk of ${out}`);
    expect(readdirSync(out).filter((name) => name.startsWith('files'))).toEqual(['files']);
    expect(readFileSync(join(out, 'files/truth.csv'), 'utf8')).toBe(before);
  });
});
