import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../facts/finding.ts';
import type { Snapshot } from '../../facts/manifest.ts';
import { NO_RULES } from '../rules/rule.ts';
import { keptLook, programOf } from './kept-look.ts';
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

const snapshot = (contentHash: string): Snapshot => ({
  generation: 1,
  committedAt: '2026-03-02T20:00:00Z',
  batches: [],
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
    const days = Array.from({ length: 9 }, (_, hour) => ({
      ...INPUTS,
      span: { ...INPUTS.span, now: time(`2026-03-02T1${hour}:00:00`) },
    }));
    expect((await asked(...days)).worked).toBe(9);
    expect(readdirSync(join(dataDir, 'found')).length).toBeLessThanOrEqual(6);
  });
});
