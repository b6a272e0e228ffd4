import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { labPart, requiredParts, variablesOf } from './lab.ts';

describe('the gate to the lab', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-lab-gate-'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  it('skips a part that is not here', () => {
    // Without bash in PATH no script of the lab runs, so that nothing is installed.
    vi.stubEnv('PATH', folder);
    vi.stubEnv('BURSAR_LAB_REQUIRED', 'slurm');
    expect(labPart('prometheus').installed).toBe(false);
  });

  it('fails for a part that is not here and must be', () => {
    vi.stubEnv('PATH', folder);
    vi.stubEnv('BURSAR_LAB_REQUIRED', 'slurm,prometheus');
    expect(() => labPart('prometheus')).toThrow(
      "the lab's prometheus is not installed; lab/prometheus install (BURSAR_LAB_REQUIRED says that it must be here)",
    );
  });

  it('refuses to require what there is not', () => {
    expect([...requiredParts('prometheus, aws')]).toEqual(['prometheus', 'aws']);
    expect([...requiredParts('')]).toEqual([]);
    expect(() => requiredParts('prometheus,slum')).toThrow('BURSAR_LAB_REQUIRED names slum');
  });

  it('gives the variables of an env.sh as a shell reads them', () => {
    const file = join(folder, 'env.sh');
    writeFileSync(file, `export URL='http://127.0.0.1:1/?a=b c'\nexport FOLDER="${folder}/x"\nexport HERE=$FOLDER/y\n`);
    expect(variablesOf(file)).toEqual({
      URL: 'http://127.0.0.1:1/?a=b c',
      FOLDER: `${folder}/x`,
      HERE: `${folder}/x/y`,
    });
  });

  it('says what a script printed when it fails, and ends one that takes too long', async () => {
    const part = labPart('prometheus');
    await expect(part.run('dance', [])).rejects.toThrow(/lab\/prometheus dance: exit 1\n[^]*lab\/prometheus install/);
    const slow = part.run('start', [folder], { timeoutMs: 1 });
    await expect(slow).rejects.toThrow('SIGKILL');
  });
});
