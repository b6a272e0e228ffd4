import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../facts/finding.ts';
import type { Batch, Snapshot } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { NO_RULES } from '../rules/rule.ts';
import { keptBeside, keptLook, programOf } from './kept-look.ts';
import type { LookInputs } from './kept-look.ts';

const FINDING: Finding = {
  number: null,
  key: 'idle-sessions: job s/1/0',
  detector: 'idle-sessions',
  category: 'idle',
  factor: 'utilisation',
  state: 'open',
  exemptUntil: null,
  stateReason: null,
  firstSeenAt: new Date('2026-03-02T20:00:00Z'),
  team: 'nlp',
  user: null,
  assignedTo: null,
  ownerSubject: 'job s/1/0',
  what: 'notebook idle',
  because: ['No kernel in 4 h.'],
  fix: ['kubectl delete pod x'],
  unless: 'somebody needs it',
  spark: [0, null, 12],
  basis: 'measured',
  blastRadius: 2,
  blast: 'Memory is lost.',
  effort: 'one command',
  kind: 'cash',
  usdMicros: 9_007_199_254_740_993n,
  cashUsdMicros: { low: 0n, high: 12n },
  capacityUnits: { low: 1n, high: 2n },
  cashIfRentedUsdMicros: 0n,
  gpuUnits: 63_000n,
  liveSince: new Date('2026-03-02T10:00:00Z'),
  usdMicrosPerHour: null,
  subjects: ['job s/1/0'],
  firstDay: '2026-03-02',
};

const snapshot = (contentHash: string, over: Partial<Batch> = {}): Snapshot => ({
  generation: 1,
  committedAt: '2026-03-02T20:00:00Z',
  batches: [
    {
      table: 'node',
      name: 'nodes',
      origin: 'nodes',
      importedFrom: 'nodes.csv',
      priority: 100,
      observedAt: '2026-03-02T19:00:00Z',
      firstAt: null,
      newestAt: null,
      files: [],
      ...over,
    },
  ],
  derived: [
    {
      table: 'stint_day',
      unit: '2026-03-02',
      inputHash: 'x',
      file: { path: 'p', table: 'stint_day', partition: '2026-03-02', rows: 1, bytes: 1, contentHash },
    },
  ],
});
const time = (text: string): Date => new Date(`${text}Z`);
const INPUTS: LookInputs = {
  snapshot: snapshot('a'),
  rules: NO_RULES,
  span: {
    from: time('2026-03-01T00:00:00'),
    until: time('2026-03-02T20:00:00'),
    now: time('2026-03-02T20:00:00'),
    first: '2026-03-01',
    last: '2026-03-02',
  },
  program: 'findings-AbCd1234.js v20',
};

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'kept-look-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** How often it was worked out, and the last answer. */
async function asked(...all: readonly LookInputs[]): Promise<{ worked: number; last: readonly Finding[] }> {
  let worked = 0;
  let last: readonly Finding[] = [];
  for (const inputs of all) {
    last = await keptLook({ dataDir }, inputs, () => {
      worked += 1;
      return Promise.resolve([FINDING]);
    });
  }
  return { worked, last };
}

describe('what was found before', () => {
  it('is answered again as it was, to the micro and the second', async () => {
    expect(await asked(INPUTS, INPUTS)).toEqual({ worked: 1, last: [FINDING] });
  });

  const other: Record<string, Partial<LookInputs>> = {
    'other data under the same names': { snapshot: snapshot('b') },
    'the same data under another name': { snapshot: snapshot('a', { name: 'nodes 2' }) },
    'the same data, which now go before others of their key': { snapshot: snapshot('a', { priority: 50 }) },
    'the same data, seen at another time': { snapshot: snapshot('a', { observedAt: '2026-03-02T19:30:00Z' }) },
    'another rule about whose it is': {
      rules: { ...NO_RULES, aliases: new Map([['team', [{ from: 'nlp', to: 'language' }]]]) },
    },
    'a later hour': { span: { ...INPUTS.span, now: time('2026-03-02T21:00:00') } },
    'more days': { span: { ...INPUTS.span, from: time('2026-02-01T00:00:00'), first: '2026-02-01' } },
    'another build of the program': { program: 'findings-ZyXw9876.js v20' },
  };
  it.each(Object.entries(other))('%s: it is worked out', async (_, over) => {
    expect((await asked(INPUTS, { ...INPUTS, ...over })).worked).toBe(2);
  });

  it('a program that may change under the same name keeps nothing', async () => {
    const { program: _none, ...rest } = INPUTS;
    expect((await asked({ ...rest, program: undefined }, { ...rest, program: undefined })).worked).toBe(2);
    expect(readdirSync(dataDir)).toEqual([]);
    expect(programOf('file:///repo/src/app/findings/find-findings.ts')).toBeUndefined();
    expect(programOf('file:///repo/dist/findings-C0nt3nt_.js')).toContain('findings-C0nt3nt_.js');
  });

  it('a file that is not whole is no answer', async () => {
    await asked(INPUTS);
    const [name = ''] = readdirSync(join(dataDir, 'found'));
    writeFileSync(join(dataDir, 'found', name), '[{"number":');
    expect(await asked(INPUTS)).toEqual({ worked: 1, last: [FINDING] });
  });

  it('a folder that cannot be written to gets the same answer, worked out each time', async () => {
    writeFileSync(join(dataDir, 'found'), 'a file where the folder should be');
    expect(await asked(INPUTS, INPUTS)).toEqual({ worked: 2, last: [FINDING] });
  });

  it('only the last few are kept', async () => {
    mkdirSync(join(dataDir, 'found'));
    const days = Array.from({ length: 20 }, (_, minute) => ({
      ...INPUTS,
      span: { ...INPUTS.span, now: time(`2026-03-02T10:${10 + minute}:00`) },
    }));
    expect((await asked(...days)).worked).toBe(20);
    expect(readdirSync(join(dataDir, 'found')).length).toBeLessThanOrEqual(12);
  });

  let written = 0;
  const beside = async (inputs: LookInputs, read = async (path: string) => readFileSync(path, 'utf8')) =>
    keptBeside({ dataDir }, inputs, {
      ending: 'rows',
      write: async (path) => {
        written += 1;
        writeFileSync(path, `rows ${written}`);
      },
      read,
    });
  const readWhole = async (path: string): Promise<string> => {
    const text = readFileSync(path, 'utf8');
    if (!text.startsWith('rows ')) throw new Error('no rows in it');
    return text;
  };
  beforeEach(() => {
    written = 0;
  });

  it('what goes with it is written once, and again for other data', async () => {
    const told = [await beside(INPUTS), await beside(INPUTS), await beside({ ...INPUTS, snapshot: snapshot('b') })];
    expect(told).toEqual(['rows 1', 'rows 1', 'rows 2']);
  });

  it.each([
    ['that is cut', (path: string) => writeFileSync(path, 'ro')],
    ['that is empty', (path: string) => writeFileSync(path, '')],
    ['in whose place is a folder', (path: string) => (rmSync(path), mkdirSync(path))],
  ])('a file %s is written anew, and read again after', async (_, damage) => {
    await beside(INPUTS);
    damage(join(dataDir, 'found', readdirSync(join(dataDir, 'found'))[0] ?? ''));
    expect([await beside(INPUTS, readWhole), await beside(INPUTS, readWhole)]).toEqual(['rows 2', 'rows 2']);
  });

  it('a question that is broken off says so, and the file stays', async () => {
    await beside(INPUTS);
    const slow = new OperationError('slow', 'it takes too long');
    await expect(beside(INPUTS, async () => Promise.reject(slow))).rejects.toBe(slow);
    expect(await beside(INPUTS)).toBe('rows 1');
  });

  it('what could not be written whole does not go with it', async () => {
    const fails = async () =>
      keptBeside({ dataDir }, INPUTS, {
        ending: 'rows',
        write: async (path) => {
          writeFileSync(path, 'ro');
          throw new Error('the disk is full');
        },
        read: readWhole,
      });
    expect(await fails()).toBeUndefined();
    expect(readdirSync(join(dataDir, 'found'))).toEqual([]);
  });
});
