import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DerivedUnit } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';
import { publish } from './publish.ts';

const stage: Stage = { name: 'held', version: 1, unit: 'day', reads: [], params: [], writes: [], orderBy: '', sql: '' };
const [first, second] = ['2026-11-01', '2026-11-02'];

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'bursar-publish-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** A derived day whose file holds `content`. */
function day(unit: string, content: string): DerivedUnit {
  const path = `held/day=${unit}/${content}.parquet`;
  mkdirSync(dirname(join(dataDir, path)), { recursive: true });
  writeFileSync(join(dataDir, path), content);
  const file = { path, table: 'held', partition: unit, rows: 1, bytes: 1, contentHash: content };
  return { table: 'held', unit, inputHash: content, file };
}

/** One derivation after another: `all` is there now, `changed` and `dropped` is what came. */
async function derived(
  marks: readonly [before: string | undefined, after: string],
  all: readonly DerivedUnit[],
  changed: readonly DerivedUnit[],
  dropped: readonly { table: string; unit: string }[] = [],
  onStep?: (step: string) => void,
): Promise<void> {
  const [markBefore, mark] = marks;
  await publish({ dataDir, stages: [stage], markBefore, mark, changed, dropped, units: () => all, onStep });
}

/** What another engine would read, by day. */
function published(): Record<string, string> {
  const folder = join(dataDir, 'tables', 'held');
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [
        join(parentPath, name).slice(folder.length + 1),
        readFileSync(join(parentPath, name), 'utf8'),
      ]),
  );
}

it('what changed gets its name, what is gone loses it', async () => {
  const [a, b] = [day(first, 'a'), day(second, 'b')];
  await derived([undefined, 'one'], [a, b], [a, b]);
  expect(published()).toEqual({ [`day=${first}/data.parquet`]: 'a', [`day=${second}/data.parquet`]: 'b' });
  const again = day(first, 'c');
  await derived(['one', 'two'], [again], [again], [{ table: 'held', unit: second }]);
  expect(published()).toEqual({ [`day=${first}/data.parquet`]: 'c' });
});

it('after a crash between commit and names all of them are given anew, without a trace of the attempt', async () => {
  const [a, b, stray] = [day(first, 'a'), day(second, 'b'), day('2026-11-03', 'stray')];
  await derived([undefined, 'one'], [a, b, stray], [a, b, stray]);
  const next = day(second, 'c');
  const crash = (): never => {
    throw new Error('killed');
  };
  const dropped = [{ table: 'held', unit: '2026-11-03' }];
  await expect(derived(['one', 'two'], [a, next], [next], dropped, crash)).rejects.toThrow('killed');
  expect(published()).toMatchObject({ [`day=${second}/data.parquet`]: 'b' });

  await derived(['two', 'two'], [a, next], []);
  expect(published()).toEqual({ [`day=${first}/data.parquet`]: 'a', [`day=${second}/data.parquet`]: 'c' });
});

it('where all is as it should be nothing is touched', async () => {
  const a = day(first, 'a');
  await derived([undefined, 'one'], [a], [a]);
  const steps: string[] = [];
  await derived(['one', 'one'], [a], [], [], (step) => steps.push(step));
  expect(steps).toEqual([]);
});
