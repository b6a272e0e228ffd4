import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askRoute, printed, printedJson } from '../../../../test/asked-route.ts';
import { fleetFolder } from '../../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../../test/small-fleet.ts';
import { billsRoute } from './bills.ts';
import { doctorRoute } from './doctor.ts';
import type { DoctorReply } from './doctor-shape.ts';
import { ledgerCheckRoute } from './ledger-check.ts';
import type { LedgerCheckReply } from './ledger-check.ts';
import { sourcesRoute } from './list-sources.ts';
import type { SourcesReply } from './list-sources.ts';
import { statusRoute } from './status.ts';
import type { StatusReply } from './status.ts';

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

describe('sources', () => {
  it('are those of the command; what was imported is told by table', async () => {
    const reply = await askRoute<SourcesReply>(fleet.dataDir, sourcesRoute);
    const told = (await printedJson(fleet.dataDir, sourcesRoute)) as SourcesReply;
    const { asOf: _, ...asPrinted } = reply;
    expect(asPrinted).toEqual(told);
    const { tables } = reply;
    expect(tables.map(({ table }) => table)).toEqual(['allocation', 'charge', 'device', 'gpu_sample', 'node', 'rate']);
    expect(tables.find(({ table }) => table === 'gpu_sample')).toMatchObject({
      rows: 36,
      firstAt: '2026-03-02T08:00:00Z',
      newestAt: '2026-03-02T10:00:00Z',
    });
  });

  it('what was held and not measured is not idle: it has its money beside its hours', async () => {
    const { freshness } = await askRoute<SourcesReply>(fleet.dataDir, sourcesRoute);
    const [a, b] = freshness.clusters;
    expect(freshness).toMatchObject({ from: '2026-02-28T12:00:00Z', until: '2026-03-02T12:00:00Z' });
    expect(a?.hours.slice(0, -4).every((hour) => hour === null)).toBe(true);
    // At 8 jobs 101 and 103 are known, 102 is not; at 9 only 101; then nobody is measured.
    expect(a?.hours.slice(-4)).toEqual([666, 333, 0, 0]);
    expect(a?.knownUntil).toBe('2026-03-02T10:00:00Z');
    // $6.50 of job 102, and three hours of job 103 at $1.625.
    expect(a?.unknownUsdMicros).toBe('11375000');
    expect(b).toMatchObject({ cluster: 'b', knownUntil: null, unknownUsdMicros: '4000000' });
  });
});

describe('bills and the ledger', () => {
  it('are what the commands print', async () => {
    expect(await askRoute(fleet.dataDir, billsRoute)).toEqual(await printedJson(fleet.dataDir, billsRoute));
    const check = await askRoute<LedgerCheckReply>(fleet.dataDir, ledgerCheckRoute);
    expect(check).toEqual(await printedJson(fleet.dataDir, ledgerCheckRoute));
    expect([check.differenceUsdMicros, check.faults]).toEqual(['0', []]);
  });
});

describe('the doctor', () => {
  it('asks the sources it was given and looks for no others', async () => {
    const { sources, places } = await askRoute<DoctorReply>(fleet.dataDir, doctorRoute);
    expect(sources).toEqual([]);
    expect(places.map(({ what }) => what)).toEqual(['data folder', 'disk', 'clock']);
    const told = (await printedJson(fleet.dataDir, doctorRoute)) as DoctorReply;
    expect([told.sources, told.notRead]).toEqual([[], []]);
    expect((await printed(fleet.dataDir, doctorRoute, {})).split('\n')[0]).toBe('bursar.yaml names no source.');
  });
});

describe('the status in the frame', () => {
  it('says how large and how fresh, and names no team, person or job', async () => {
    const status = await askRoute<StatusReply>(fleet.dataDir, statusRoute);
    expect(status).toMatchObject({
      gpus: 4,
      clusters: 1,
      newestFactAt: '2026-03-02T12:00:00Z',
      isHistory: true,
      isDemo: false,
      rowsNotDerived: 0,
      sources: { total: 0, attention: 0, wrong: 0, silentSince: null },
    });
    expect(status.billedUntil).not.toBeNull();
    expect(JSON.stringify(status)).not.toMatch(/nlp|asr|mchen|train/);
    expect(statusRoute.access.sees).toBe('totals');
  });
});
