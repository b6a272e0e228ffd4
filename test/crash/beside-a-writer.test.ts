import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { withReader, withWriter } from '../../src/app/workspace.ts';
import { writeDeliveries } from './deliveries.ts';
import { bundleWriter, startWriter } from './writer-process.ts';
import type { WriterBundle, WriterProcess } from './writer-process.ts';
import type { Command } from './writer.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
/** Enough to fall before, between and after the writer's commits many times over. */
const ANSWERS_MIN = 32;
const CHANGES_MIN = 4;
const ANSWERS_MAX = 2000;

let folder: string;
let bundle: WriterBundle;
let commands: readonly Command[];
/** To be stopped also where a test fails half-way. */
const writers: WriterProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bursar-beside-'));
  bundle = await bundleWriter(repository);
  commands = writeDeliveries(join(folder, 'files'));
});
afterEach(() => {
  for (const writer of writers.splice(0)) writer.kill();
});
afterAll(() => {
  bundle.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly entries: string;
  readonly days: string;
  readonly waterfall: string;
}

/** Three questions to one space, with something happening between the first and the others. */
async function answer(dataDir: string, meanwhile: () => Promise<void> = async () => undefined): Promise<Answer> {
  return withReader(dataDir, async (space) => {
    const totalOf = async (table: string): Promise<string> => {
      const sql = `SELECT count(*) AS n, CAST(sum(usd_micros) AS BIGINT) AS micros FROM ${table}`;
      const [total] = await space.ask<{ n: bigint; micros: bigint }>({ tables: [{ table }], sql });
      return `${total?.n} rows, ${total?.micros} micros`;
    };
    const entries = await totalOf('ledger_entry');
    await meanwhile();
    return { entries, waterfall: await totalOf('waterfall'), days: await totalOf('spend_day') };
  });
}

describe('readers beside a writer', () => {
  it('see one ledger or the other, whole, while a batch is replaced over and over', { timeout: 300_000 }, async () => {
    const dataDir = join(folder, 'read');
    const isBill = (command: Command): boolean => command.kind === 'import' && command.batch === 'bill';
    const [first, second] = commands.filter(isBill);
    if (first === undefined || second === undefined) throw new Error('the bill comes twice');
    const others = commands.filter((command) => command.kind === 'import' && !isBill(command));
    const derive: Command = { kind: 'derive' };
    await startWriter(bundle, { dataDir, commands: [...others, first, derive] }).ended;
    const a = await answer(dataDir);
    await startWriter(bundle, { dataDir, commands: [second, derive] }).ended;
    const b = await answer(dataDir);
    expect(a).not.toEqual(b);

    const commits = new EventEmitter();
    const plan = { dataDir, commands: [first, derive, second, derive], repeats: true };
    const writer = startWriter(bundle, plan, (told) => {
      if ('step' in told && told.name === 'committed') commits.emit('ledger');
    });
    writers.push(writer);
    const { ended } = writer;
    const nextLedger = async (): Promise<void> => {
      const end = await Promise.race([once(commits, 'ledger'), ended]);
      expect(end, 'the writer goes on').toEqual([]);
    };
    const states: string[] = [];
    const changes = (): number => states.filter((state, index) => index > 0 && state !== states[index - 1]).length;
    while ((states.length < ANSWERS_MIN || changes() < CHANGES_MIN) && states.length < ANSWERS_MAX) {
      // Most fall where they fall; some hold what they began with until there is another ledger.
      const got = await answer(dataDir, states.length % 8 === 0 ? nextLedger : undefined);
      states.push(got.entries === a.entries ? 'a' : 'b');
      expect(got).toEqual(states.at(-1) === 'a' ? a : b);
    }
    writer.say('enough');
    expect(await ended).toMatchObject({ code: 0 });
    expect(changes()).toBeGreaterThanOrEqual(CHANGES_MIN);
  });
});

describe('a second writer', () => {
  it('is told who the first is, and may write as soon as that one is killed', async () => {
    const dataDir = join(folder, 'locked');
    let arrived = (): void => undefined;
    const atWork = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const writer = startWriter(bundle, { dataDir, commands, holdAtStep: 1 }, (told) => {
      if ('step' in told && told.step === 1) arrived();
    });
    writers.push(writer);
    await atWork;
    const secondWriter = () => withWriter(dataDir, 'derive', async () => 'written');
    await expect(secondWriter()).rejects.toMatchObject({
      name: 'OperationError',
      code: 'locked',
      message: expect.stringMatching(new RegExp(`another bursar .*\\(pid ${writer.pid}, \`import\`, since .* UTC\\)`)),
    });
    writer.kill();
    expect((await writer.ended).signal).toBe('SIGKILL');
    await expect(secondWriter()).resolves.toBe('written');
  });
});
