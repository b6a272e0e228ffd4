import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretOf } from './secret.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-secret-'));
  await writeFile(join(folder, 'token'), 's3cret\n');
  await writeFile(join(folder, 'two'), 'a\nb\n');
  await writeFile(join(folder, 'empty'), '\n');
  await writeFile(join(folder, 'huge'), 'x'.repeat(70_000));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a secret', () => {
  const context = (): { env: Record<string, string>; baseDir: string } => ({
    env: { TOKEN: 'abc', NONE: '' },
    baseDir: folder,
  });

  it.each([
    ['of the environment', { env: 'TOKEN' }, 'abc'],
    ['of a file beside bursar.yaml, without its line end', { file: 'token' }, 's3cret'],
    ['with what goes before it', { file: 'token', prefix: 'Bearer ' }, 'Bearer s3cret'],
  ])('%s', (_, place, want) => {
    expect(secretOf(place, context())).toBe(want);
  });

  it.each([
    ['a variable that is not set', { env: 'OTHER' }, 'no-secret', 'OTHER'],
    ['an empty variable', { env: 'NONE' }, 'no-secret', 'NONE'],
    ['a file that is not there', { file: 'gone' }, 'no-secret', 'gone'],
    ['an empty file', { file: 'empty' }, 'no-secret', 'empty'],
    ['two lines, which would make a second header', { file: 'two' }, 'bad-secret', 'two'],
    ['a file that is no token', { file: 'huge' }, 'bad-secret', 'huge'],
  ])('refused: %s', (_, place, code, named) => {
    expect(() => secretOf(place, context())).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(named), hint: expect.any(String) }),
    );
  });
});
