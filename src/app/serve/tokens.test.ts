import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenState } from '../../facts/token-record.ts';
import { openManifest } from '../../state/manifest.ts';
import { createToken, hashOf, listTokens, revokeToken } from './tokens.ts';

const NOW = new Date('2026-11-16T10:00:00Z');
let folder = '';
let dataDir = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-token-'));
  dataDir = join(folder, 'new');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('tokens', () => {
  it('are made before there are data, and no file has one', async () => {
    const { token, record } = await createToken(dataDir, { name: 'grafana', role: 'viewer', team: 'nlp' }, NOW);
    expect(token).toMatch(/^bsr_[\w-]{32}$/);
    expect(record).toMatchObject({ number: 1, name: 'grafana', role: 'viewer', team: 'nlp' });
    const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'));
    expect(files.join('')).not.toContain(token);
    expect(files.join('')).toContain(hashOf(token));
  });

  it('are found by their hash, by nothing like it', async () => {
    const { token, record } = await createToken(dataDir, { name: 'a', role: 'admin' }, NOW);
    const manifest = await openManifest(dataDir, { readOnly: true, now: () => NOW });
    expect(manifest.tokens.byHash(hashOf(token))).toEqual(record);
    expect(manifest.tokens.byHash(hashOf(`${token} `))).toBeUndefined();
    expect(manifest.tokens.byHash(token)).toBeUndefined();
    manifest.close();
  });

  it('end by themselves, or when somebody ends them; a name is free again then', async () => {
    const first = await createToken(dataDir, { name: 'ci', role: 'operator', expires: '90d' }, NOW);
    expect(first.record.expiresAt).toBe('2027-02-14T10:00:00.000Z');
    const states = ['2027-02-14T09:59:59Z', '2027-02-14T10:00:00Z'].map((at) => tokenState(first.record, new Date(at)));
    expect(states).toEqual(['in force', 'expired']);
    await expect(createToken(dataDir, { name: 'ci', role: 'viewer' }, NOW)).rejects.toMatchObject({
      code: 'token-exists',
    });
    expect((await revokeToken(dataDir, 't-1', NOW)).revokedAt).toBe(NOW.toISOString());
    await createToken(dataDir, { name: 'ci', role: 'viewer' }, NOW);
    expect((await listTokens(dataDir)).map((each) => [each.number, tokenState(each, NOW)])).toEqual([
      [1, 'revoked'],
      [2, 'in force'],
    ]);
    expect((await revokeToken(dataDir, 'ci', NOW)).number).toBe(2);
  });

  it('last three months where nobody says for how long, and for ever where somebody says so', async () => {
    const usual = await createToken(dataDir, { name: 'usual', role: 'viewer' }, NOW);
    expect(usual.record.expiresAt).toBe('2027-02-14T10:00:00.000Z');
    const ever = await createToken(dataDir, { name: 'ever', role: 'viewer', expires: 'never' }, NOW);
    expect(ever.record.expiresAt).toBeNull();
  });

  const refused: Record<string, { wish: Parameters<typeof createToken>[1]; code: string }> = {
    'no name': { wish: { name: ' ', role: 'viewer' }, code: 'bad-option' },
    'a name that a terminal obeys': { wish: { name: 'a\u001b[31m', role: 'viewer' }, code: 'bad-option' },
    'a role there is not': { wish: { name: 'a', role: 'root' }, code: 'bad-option' },
    'a team without a name': { wish: { name: 'a', role: 'viewer', team: ' ' }, code: 'bad-option' },
    'no length of time': { wish: { name: 'a', role: 'viewer', expires: 'soon' }, code: 'bad-time' },
  };
  it.each(Object.entries(refused))('are not made with %s', async (_, { wish, code }) => {
    await expect(createToken(dataDir, wish, NOW)).rejects.toMatchObject({ code, hint: expect.any(String) as unknown });
  });

  it('one that is not there cannot be revoked, and the nearest is named', async () => {
    await createToken(dataDir, { name: 'grafana', role: 'viewer' }, NOW);
    await expect(revokeToken(dataDir, 'grafanna', NOW)).rejects.toMatchObject({
      code: 'unknown-token',
      hint: expect.stringContaining('Nearest: grafana') as unknown,
    });
  });
});
