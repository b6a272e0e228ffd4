import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { diceOf } from '../oracle/random/dice.ts';
import { litterOf, misnamedOf, stateOf } from './data-folder.ts';
import { writeDeliveries } from './deliveries.ts';
import { mayMount, mountSmallDisk } from './small-disk.ts';
import type { SmallDisk } from './small-disk.ts';
import { bundleWriter, startWriter } from './writer-process.ts';
import type { WriterBundle } from './writer-process.ts';
import type { Command } from './writer.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const derive: Command = { kind: 'derive' };
const LONG = { timeout: 300_000 };
const read: Command = { kind: 'read' };

describe.skipIf(!mayMount())('a small disk (skipped where tmpfs may not be mounted: only root on Linux may)', () => {
  let folder: string;
  let bundle: WriterBundle;
  let [firstBill, secondBill]: [Command, Command] = [derive, derive];
  let disk: SmallDisk;
  let dataDir: string;
  let hashA = '';

  /** What each command came to: a hash, or the code of the refusal. */
  async function run(...commands: Command[]): Promise<string[]> {
    const { code, told } = await startWriter(bundle, { dataDir, commands, tellsAll: true }).ended;
    expect(code).toBe(0);
    return told.flatMap((each) => ('hash' in each ? [each.hash] : 'refused' in each ? [each.refused] : []));
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-full-'));
    bundle = await bundleWriter(repository);
    const commands = writeDeliveries(join(folder, 'files'));
    const isBill = (command: Command): boolean => command.kind === 'import' && command.batch === 'bill';
    const others = commands.filter((command) => command.kind === 'import' && !isBill(command));
    [firstBill = derive, secondBill = derive] = commands.filter(isBill);
    dataDir = join(folder, 'filled');
    hashA = (await run(...others, firstBill, derive)).at(-1) ?? '';
  });
  afterAll(() => {
    bundle.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    disk = mountSmallDisk(3);
    dataDir = join(disk.folder, 'data');
    cpSync(join(folder, 'filled'), dataDir, { recursive: true });
  });
  afterEach(() => disk.remove());

  it('an import that does not fit is refused whole, and works when there is room', async () => {
    const dice = diceOf(1);
    const lines = Array.from({ length: 200_000 }, (_, index) => {
      const ts = new Date(Date.UTC(2026, 1, 27) + (index % 1440) * 60_000).toISOString();
      const metrics = Array.from({ length: 4 }, () => dice.int(0, 1000));
      return `GPU-${Math.floor(index / 1440)},${ts},${metrics.join(',')},${dice.int(0, 80_000)}`;
    });
    const file = join(folder, 'large.csv');
    writeFileSync(
      file,
      `device_id,ts,engine_permille,sm_permille,tensor_permille,dram_permille,fb_used_mib\n${lines.join('\n')}\n`,
    );
    const large: Command = { kind: 'import', table: 'samples', batch: 'large', file };

    expect(await run(large, read)).toEqual(['disk-full', hashA]);
    expect(await stateOf(dataDir)).toMatchObject({ hash: hashA, broken: [] });
    expect(await litterOf(dataDir)).toEqual([]);

    disk.resize(200);
    const [imported, derived] = await run(large, derive);
    expect(imported).toBe(hashA);
    expect(derived).not.toBe(hashA);
    expect(await litterOf(dataDir)).toEqual([]);
  });

  it('wherever in import and derive the room ends, the old ledger stands or the new one', LONG, async () => {
    // Files that were replaced stay for ten minutes: the disk has room for them, but what is free is always said below.
    disk.resize(32);
    const hashB = (await run(secondBill, derive, firstBill, derive))[1];
    expect(hashB).not.toBe(hashA);
    const outcomes = new Set<string>();
    const tryWith = async (free: number): Promise<string> => {
      disk.leave(free);
      const [imported, derived, answered] = await run(secondBill, derive, read);
      const label = `${free} bytes free: ${imported} ${derived}`;
      expect(['disk-full', hashA], label).toContain(imported);
      expect(['disk-full', imported === hashA ? hashB : hashA], label).toContain(derived);
      // A derivation may find room for the ledger and none for its names, and a reader may have just enough to derive itself.
      const wholeOnes = derived !== 'disk-full' ? [derived] : imported === hashA ? [hashA, hashB] : [hashA];
      expect(wholeOnes, label).toContain(answered);
      expect(await stateOf(dataDir), label).toMatchObject({ hash: answered, broken: [] });
      disk.empty();
      expect(await litterOf(dataDir), label).toEqual([]);
      expect(await run(secondBill, derive, firstBill, derive), label).toEqual([answered, hashB, hashB, hashA]);
      expect(await misnamedOf(dataDir), label).toEqual([]);
      const outcome = imported !== hashA ? 'import refused' : derived === hashB ? 'both done' : 'derive refused';
      outcomes.add(outcome);
      return outcome;
    };
    let [tooLittle, enough] = [0, 16_384];
    while ((await tryWith(enough)) !== 'both done') [tooLittle, enough] = [enough, enough * 2];
    // Between them is the room in which an import fits and what follows from it does not.
    while (!outcomes.has('derive refused') && enough - tooLittle > 4096) {
      const middle = tooLittle + Math.floor((enough - tooLittle) / 2);
      if ((await tryWith(middle)) === 'both done') enough = middle;
      else tooLittle = middle;
    }
    expect(outcomes).toEqual(new Set(['import refused', 'derive refused', 'both done']));
  });

  it('a read-only folder refuses writers and answers readers, also where the ledger is behind', async () => {
    await run(secondBill);
    disk.setReadOnly(true);
    expect(await run(firstBill, derive, read)).toEqual(['read-only', 'read-only', hashA]);
    expect(await stateOf(dataDir)).toMatchObject({ hash: hashA, broken: [] });
    disk.setReadOnly(false);
    const [caughtUp = ''] = await run(derive);
    expect(caughtUp).not.toBe(hashA);
    expect(await run(read)).toEqual([caughtUp]);
  });
});
