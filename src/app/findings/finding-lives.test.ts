import { chmodSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { at, samples } from '../../../test/idle-fleet.ts';
import { lookAt, NOTES, SAMPLE_HEADER, sessionOf as of, SIX_GPUS, USD } from '../../../test/six-gpus.ts';
import type { Look } from '../../../test/six-gpus.ts';
import type { Finding } from '../../facts/finding.ts';
import type { FindingsAnswer } from '../../report/finding-answer.ts';
import { withReader } from '../workspace.ts';
import { changeFinding } from './one-finding.ts';

let fleet: FleetFolder;
const look = (over?: Look) => lookAt(fleet, over);
const more = async (text: string, name: string): Promise<void> => {
  await fleet.import({ [`samples ${name}`]: csv(`${SAMPLE_HEADER}\n${text}`) });
  await fleet.derive();
};

describe('the life of a finding', () => {
  beforeEach(async () => {
    fleet = await fleetFolder(SIX_GPUS);
  });
  afterEach(async () => {
    chmodSync(fleet.dataDir, 0o755);
    await fleet.remove();
  });

  const state = (answer: FindingsAnswer, subject: string) => {
    const finding = of(answer, subject);
    return finding === undefined ? undefined : [finding.number, finding.state];
  };
  const kept = (number: number) =>
    withReader(fleet.dataDir, async (space) => {
      const record = space.findings.records().find((each) => each.number === number);
      return { state: record?.state, changes: space.findings.history(number).map(({ change }) => change) };
    });

  it('a moment within a day that went on is seen from the midnight before: nothing of what came after is in it', async () => {
    expect(await look({ asOf: new Date(at(12)) })).toMatchObject({ findings: [], window: { ledgerDays: 0 } });
    await more(`${samples('k1-0', 20, 24, 0)}\n${samples('k1-0', 24, 30, 900)}`, 'the next day');
    const answer = await look({ asOf: new Date(at(26)) });
    expect([answer.asOf, answer.window.until]).toEqual([new Date(at(24)), new Date(at(24))]);
    expect(of(answer, NOTES)).toMatchObject({ liveSince: new Date(at(10)), usdMicros: 42n * USD });
    expect(answer.paidUsdMicros).toBe((await look({ windowText: '2026-03-02' })).paidUsdMicros);
  });

  it('open, fixed when it is used again, back when it is not: the same number all the way', async () => {
    const first = await look();
    const number = of(first, NOTES)?.number ?? 0;
    expect(state(first, NOTES)).toEqual([number, 'open']);

    await more(samples('k1-0', 20, 24, 800), 'used');
    const second = await look();
    expect(second.findings.find(({ key, liveSince }) => key.endsWith(NOTES) && liveSince !== null)).toBeUndefined();
    expect(await kept(number)).toEqual({ state: 'fixed', changes: ['found', 'fixed'] });

    await more(`${samples('k1-0', 24, 28, 0)}\n${samples('k2-0', 20, 28, 0)}`, 'idle');
    const third = await look();
    expect(third.findings.find((each) => each.number === number)).toMatchObject({
      state: 'back',
      liveSince: new Date(at(24)),
    });
    expect((await kept(number)).changes).toEqual(['found', 'fixed', 'back']);
  });

  const PARTS: Record<string, Parameters<typeof look>[0]> = {
    'by no detector': { detectors: [] },
    'at one day': { windowText: 'today' },
    'at days that are over': { windowText: '2026-03-01/2026-03-02' },
    'at a month that has just begun': { windowText: '2026-04' },
    'at one day and a year that is to come': { windowText: '2026-04-01/2027-04-01' },
    'at everything and a year that is to come': { windowText: '2026-01-01/2027-01-01' },
    'as of a moment that is over': { asOf: new Date('2026-03-20T00:00:00Z') },
    'as of a moment that is to come': { asOf: new Date('2026-04-30T00:00:00Z') },
    'at everything as of a moment that is to come': { asOf: new Date('2026-04-30T00:00:00Z'), windowText: 'all' },
    'for one team': { team: 'nlp' },
  };
  it('a look at a part, at fewer days or as of another time says nothing about what it does not see', async () => {
    const number = of(await look(), NOTES)?.number ?? 0;
    await more(samples('k1-0', 20, 30 * 24 + 12, 800), 'used');
    for (const [name, part] of Object.entries(PARTS)) {
      await look(part);
      expect((await kept(number)).state, `a look ${name}`).toBe('open');
    }
    await look();
    expect((await kept(number)).state).toBe('fixed');
  });

  it.each(['60d', 'all', '2026-03-01/2026-03-03'])(
    'a look at %s sees all there is, and says what is fixed',
    async (all) => {
      const number = of(await look(), NOTES)?.number ?? 0;
      await more(samples('k1-0', 20, 24, 800), 'used');
      await look({ windowText: all });
      expect((await kept(number)).state).toBe('fixed');
    },
  );

  it('a look for one team gives numbers all the same', async () => {
    const { findings, numbers } = await look({ team: 'nlp' });
    expect([numbers, findings.some(({ number }) => number === null)]).toEqual(['kept', false]);
  });

  it('what somebody said of it is there when it is back', async () => {
    const number = of(await look(), NOTES)?.number ?? 0;
    const [now, by] = [new Date(at(20)), 'mchen'];
    await changeFinding(fleet.dataDir, number, { change: 'accept', now, at: now, by, reason: 'after the demo' });
    await changeFinding(fleet.dataDir, number, { change: 'assign', now, at: now, by, to: 'kim' });
    await more(samples('k1-0', 20, 24, 800), 'used');
    await look();
    await more(`${samples('k1-0', 24, 28, 0)}\n${samples('k2-0', 20, 28, 0)}`, 'idle');
    expect((await look()).findings.find((each) => each.number === number)).toMatchObject({
      state: 'back',
      stateReason: 'after the demo',
      assignedTo: 'kim',
    });
  });

  it('sensors that fall silent fix nothing', async () => {
    const number = of(await look(), NOTES)?.number ?? 0;
    await more(samples('k2-1', 20, 28, 900), 'others');
    const answer = await look();
    expect(answer.findings.some((each) => each.number === number)).toBe(false);
    expect((await kept(number)).state).toBe('open');
  });

  it('an exemption hides it to its day, then it is open again', async () => {
    const number = of(await look(), NOTES)?.number ?? 0;
    const [now, by] = [new Date(at(20)), 'mchen'];
    await changeFinding(fleet.dataDir, number, {
      change: 'exempt',
      now,
      at: now,
      by,
      until: '2026-03-03',
      reason: 'demo',
    });
    const exempt = await look();
    expect([state(exempt, NOTES), exempt.setAside.map((each) => each.number)]).toEqual([undefined, [number]]);
    await more(samples('k1-0', 20, 50, 0), 'later');
    expect(state(await look(), NOTES)).toEqual([number, 'open']);
    expect((await kept(number)).changes).toEqual(['found', 'exempt', 'exemption over']);
  });

  it('an exemption is over by now, whichever days are looked at, and its last day is within it', async () => {
    const isEmpty = ({ detector }: Finding): boolean => detector === 'empty-nodes';
    const number = (await look()).findings.find(isEmpty)?.number ?? 0;
    const now = new Date(at(20));
    const said = { by: 'mchen', until: '2026-03-04', reason: 'demo' };
    await changeFinding(fleet.dataDir, number, { change: 'exempt', now, at: now, ...said });
    await more(samples('k1-0', 20, 80, 0), 'later');
    const stateAt = async (hour: number) => {
      const day = { windowText: '2026-03-02', keepsNumbers: false };
      const { findings, setAside } = await look({ ...day, asOf: new Date(at(hour)) });
      return [...findings, ...setAside].find(isEmpty)?.state;
    };
    expect([await stateAt(48), await stateAt(71), await stateAt(72)]).toEqual(['exempt', 'exempt', 'open']);
  });

  // Root may write everywhere.
  it.skipIf(process.getuid?.() === 0)(
    'in a folder that cannot be written to the list is shown without numbers',
    async () => {
      chmodSync(fleet.dataDir, 0o555);
      const answer = await look();
      expect(answer.numbers).toBe('refused');
      expect(answer.findings.length).toBeGreaterThan(0);
      expect(answer.findings.every(({ number }) => number === null)).toBe(true);
    },
  );
});
