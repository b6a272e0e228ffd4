import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { at, holding, sourceOf } from '../../../test/made-source.ts';
import type { OperationError } from '../../facts/operation-error.ts';
import type { Source } from '../../facts/source.ts';
import { follow } from './follow.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-follow-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Follows until `isEnough` says so after a turn or a trouble. */
async function followUntil(
  dataDir: string,
  sources: readonly Source[],
  isEnough: (turns: readonly string[], troubles: readonly OperationError[]) => boolean,
): Promise<{ turns: string[]; troubles: OperationError[] }> {
  const stop = new AbortController();
  const turns: string[] = [];
  const troubles: OperationError[] = [];
  const ask = (): void => {
    if (isEnough(turns, troubles)) stop.abort();
  };
  await follow({
    dataDir,
    sources,
    now: () => at('12:00:00'),
    signal: stop.signal,
    progress: () => undefined,
    onTurn: ({ name }) => {
      turns.push(name);
      ask();
    },
    onTrouble: (failure) => {
      troubles.push(failure);
      ask();
    },
  });
  return { turns, troubles };
}

const polled = (name: string): Source => ({
  ...sourceOf({
    name,
    async *pull() {
      yield {
        facts: [{ table: 'allocation', batch: 'open', mode: 'replace', rows: [holding({})] }],
        cursor: 1,
        coveredUntil: at('12:00:00'),
      };
    },
  }),
  pollS: 0.01,
});

describe('following', () => {
  it('one source that hangs does not hold up another', async () => {
    const hanging = sourceOf({
      name: 'hanging',
      async *pull(_, { signal }) {
        await new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason as Error);
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
        yield { facts: [], cursor: 1, coveredUntil: at('12:00:00') };
      },
    });
    const { turns } = await followUntil(folder, [hanging, polled('good')], (all) => all.length >= 3);
    expect(turns.filter((name) => name === 'good').length).toBeGreaterThanOrEqual(3);
  });

  it('a folder that cannot be written to is told and tried again', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { turns, troubles } = await followUntil(file, [polled('good')], (_, all) => all.length >= 2);
    expect(turns).toEqual([]);
    expect(troubles.length).toBeGreaterThanOrEqual(2);
  });

  it('a mistake of ours ends it', async () => {
    const broken = sourceOf({
      async *pull() {
        if (folder !== '') throw new TypeError('a mistake');
        yield { facts: [], cursor: 1, coveredUntil: at('12:00:00') };
      },
    });
    await expect(followUntil(folder, [broken, polled('good')], () => false)).rejects.toThrow('a mistake');
  });
});
