import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printWorld } from '../src/demo/world/print-world.ts';
import { quote } from '../src/lake/engine.ts';
import type { Engine } from '../src/lake/engine.ts';
import { bursar, printed } from './demo/bursar-command.ts';
import type { Said } from './demo/bursar-command.ts';
import { everyKind } from './demo/every-kind.ts';
import { openFiles } from './demo/file-tables.ts';
import { FILES_OFFENCES, LEDGER_OFFENCES } from './demo/offences.ts';

interface LedgerCheck {
  readonly bills: readonly { readonly billId: string }[];
}

const FIVE_DAYS = { from: Date.UTC(2026, 9, 28) / 1000, until: Date.UTC(2026, 10, 2) / 1000 };

describe('a demo of forty GPUs, from one month into the next', () => {
  let folder = '';
  let dataDir = '';
  let firstScreen: Said;
  let engine: Engine;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-demo-'));
    dataDir = join(folder, 'data');
    const world = join(folder, 'world.yaml');
    writeFileSync(world, printWorld(everyKind()));
    const size = ['--gpus', '40', '--days', '5', '--until', '2026-11-02'];
    firstScreen = await bursar('demo', '--out', dataDir, '--world', world, ...size);
    engine = await openFiles(join(dataDir, 'files'), FIVE_DAYS);
    const derived = quote(join(dataDir, 'tables/ledger_entry/*/data.parquet'));
    await engine.run(`CREATE TABLE entry AS SELECT * FROM read_parquet(${derived}, hive_partitioning = false)`);
  });
  afterAll(() => {
    engine.close();
    rmSync(folder, { recursive: true });
  });

  it('adds up to its bills, to the micro', async () => {
    const check = JSON.parse(await printed('ledger', 'check', '--json', '--data', dataDir)) as LedgerCheck;
    expect(check.bills.map(({ billId }) => billId.replace(/.*\|/, ''))).toEqual([
      '2026-10',
      '2026-11',
      '2026-10',
      '2026-11',
    ]);
    for (const bill of check.bills) expect(bill).toMatchObject({ posted: true, differenceUsdMicros: '0' });
    expect(await printed('ledger', 'check', '--data', dataDir)).toMatch(/everything adds up\n$/);
  });

  it('says what it made, and that the truth adds up to it', async () => {
    const totals = await engine.rows<{ micros: string }>(
      'SELECT CAST(sum(usd_micros) AS VARCHAR) AS micros FROM truth UNION ALL SELECT CAST(sum(usd_micros) AS VARCHAR) FROM entry',
    );
    expect(totals[0]).toEqual(totals[1]);
    expect(firstScreen.err).toContain(
      `A made-up organisation goes into ${dataDir}: 40 GPUs from 2026-10-28 to 2026-11-02, world every kind, seed 1.`,
    );
    expect(firstScreen.err).toContain(`the truth behind it, to the micro-dollar: ${join(dataDir, 'files/truth.csv')}`);
    expect(firstScreen.err).toContain(`Try: bursar idle --data ${dataDir} `);
  });

  it('has GPUs that more than ten share, whose parts do not come out even', async () => {
    const crowded = "FROM truth WHERE reason <> 'mig-rest' AND share_units < 63000 / 10 LIMIT 1";
    expect(await engine.rows(crowded)).toHaveLength(1);
  });

  it('says DEMO on every line that could be taken for a real fleet’s', async () => {
    const [job] = await engine.rows<{ id: string }>(
      "SELECT allocation_id AS id FROM entry WHERE source = 'slurm' LIMIT 1",
    );
    const [user] = await engine.rows<{ name: string }>(
      'SELECT user_name AS name FROM waiting WHERE user_name IN (SELECT user_name FROM allocation) LIMIT 1',
    );
    const screens = [firstScreen.out];
    for (const words of [
      ['look'],
      ['look', '--window', '2026-10'],
      ['look', '--window', '2025-01'],
      ['idle', '--all'],
      ['job', job?.id ?? ''],
      ['queue', '--all'],
      ['me', '--user', user?.name ?? ''],
      ['spend', '--by', 'team,class', '--step', '1d'],
      ['ledger', 'check'],
      ['ledger', 'explain', '--category', 'idle'],
      ['ledger', 'explain', '--filter', 'node=nobodys'],
    ])
      screens.push(await printed(...words, '--data', dataDir));
    for (const screen of screens) {
      const lines = screen.split('\n').filter((line) => line !== '');
      expect(lines).not.toEqual([]);
      expect(lines.filter((line) => !line.startsWith('DEMO  '))).toEqual([]);
    }
  });

  describe.each(Object.entries({ ...FILES_OFFENCES, ...LEDGER_OFFENCES }))('%s', (_, { asks, breaks }) => {
    it('holds', async () => expect(await engine.rows(asks)).toEqual([]));
    it('could fail', async () => {
      await engine.run('BEGIN');
      await engine.run(breaks);
      const offences = await engine.rows(asks);
      await engine.run('ROLLBACK');
      expect(offences).not.toEqual([]);
    });
  });
});
