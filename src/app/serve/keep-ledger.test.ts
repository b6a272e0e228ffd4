import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import type { OperationError } from '../../facts/operation-error.ts';
import { acquireWriterLock } from '../../state/writer-lock.ts';
import { keepLedger } from './keep-ledger.ts';
import type { LedgerKeeper } from './keep-ledger.ts';
import { keepStanding } from './standing.ts';
import type { StandingKeeper } from './standing.ts';

const NEW_RATE = { 'rates 2': 'model,usd_per_gpu_hour\nL4,1.00\n' };

let fleet: FleetFolder;
let standing: StandingKeeper;
let stop: AbortController;
let keeper: LedgerKeeper;
const heard = new EventTarget();
const troubles: OperationError[] = [];
const next = (what: 'derived' | 'trouble'): Promise<unknown> => once(heard, what);

beforeEach(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
  standing = keepStanding({ dataDir: fleet.dataDir, now: () => new Date() });
  stop = new AbortController();
  troubles.length = 0;
});

function begin(pollMs = 20): void {
  keeper = keepLedger({
    dataDir: fleet.dataDir,
    standing,
    collect: true,
    config: undefined,
    limits: { memoryMb: 300, threads: 1 },
    now: () => new Date(),
    signal: stop.signal,
    pollMs,
    onTurn: () => undefined,
    progress: () => undefined,
    onTrouble: (failure) => {
      troubles.push(failure);
      heard.dispatchEvent(new Event('trouble'));
    },
    onDerived: () => heard.dispatchEvent(new Event('derived')),
  });
}
afterEach(async () => {
  stop.abort();
  await keeper.ended;
  standing.close();
  await fleet.remove();
});

describe('the writer of a server', () => {
  it('derives what others bring in, and its figures are in force then', async () => {
    begin();
    const before = (await standing.current()).snapshot.generation;
    const derived = next('derived');
    await fleet.import(NEW_RATE);
    await derived;
    const { snapshot, staleRows } = await standing.current();
    expect(snapshot.generation).toBeGreaterThan(before);
    expect(staleRows).toBe(0);
    expect(keeper.state()).toMatchObject({
      does: 'derives',
      trouble: undefined,
      lastDerivedAt: expect.any(Date) as unknown,
    });
  });

  it('a ledger is in force as soon as it is whole, though facts follow at once and nobody asks', async () => {
    const before = (await standing.current()).snapshot.generation;
    await fleet.import(NEW_RATE);
    const derived = next('derived');
    begin(600_000);
    await derived;
    await fleet.import({ 'rates 3': 'model,usd_per_gpu_hour\nZorg,1.00\n' });
    const { snapshot, staleRows } = await standing.current();
    expect(snapshot.generation).toBeGreaterThan(before);
    expect(staleRows).toBe(0);
    expect(standing.behindSince()).toBeInstanceOf(Date);
  });

  it('waits while another writes, and says who', async () => {
    await fleet.import(NEW_RATE);
    const lock = await acquireWriterLock(fleet.dataDir, { command: 'import', pid: process.pid, now: () => new Date() });
    begin();
    await next('trouble');
    expect(troubles[0]).toMatchObject({ code: 'locked' });
    expect(keeper.state().trouble).toMatchObject({ code: 'locked' });
    lock.release();
    await next('derived');
    expect(keeper.state().trouble).toBeUndefined();
  });
});
