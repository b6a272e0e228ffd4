import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { at } from '../../../test/idle-fleet.ts';
import { DARK, lookAt, NOTES, PROBE, sessionOf as of, SIX_GPUS, SKETCH, USD } from '../../../test/six-gpus.ts';
import type { Look } from '../../../test/six-gpus.ts';
import type { Claim, Detector } from '../../facts/detector.ts';
import { findingList } from '../../report/finding-list.ts';
import { decideNow } from '../now.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { idleSessions } from '../../waste/idle-sessions.ts';
import { askDetectors, judgedSpan } from './ask-detectors.ts';
import { compareFindings } from './compare-findings.ts';
import { changeFinding } from './one-finding.ts';

let fleet: FleetFolder;
const open = async (): Promise<void> => {
  fleet = await fleetFolder(SIX_GPUS);
};
const close = (): Promise<void> => fleet.remove();
const look = (over?: Look) => lookAt(fleet, over);

describe('a machine of which nobody says how it is bought', () => {
  beforeAll(async () => {
    fleet = await fleetFolder({
      ...SIX_GPUS,
      nodes: SIX_GPUS.nodes.replace(',owned,', ',,').replace(',on-demand,a,1,', ',,a,1,'),
    });
  });
  afterAll(close);

  it('is no cash: its time can be used, and it is told what it would be if it were rented; at a known cloud it is', async () => {
    const answer = await look();
    expect(of(answer, PROBE)).toMatchObject({
      kind: 'capacity',
      usdMicros: 30n * USD,
      cashUsdMicros: { low: 0n, high: 0n },
      capacityUnits: { high: 10n * 3600n * 63_000n },
      cashIfRentedUsdMicros: 30n * USD,
    });
    expect(of(answer, NOTES)).toMatchObject({
      kind: 'cash',
      cashUsdMicros: { low: 30n * USD },
      cashIfRentedUsdMicros: 0n,
    });
    expect(findingList(answer, { small: true, width: 200 }).join('\n')).toMatch(
      /\(\$\d+ of it cash if rented\)[^]* nlp \/ kim +cash if rented /,
    );
  });
});

describe('machines that are bought for a team', () => {
  const buy = async (teams: Readonly<Record<string, string>>): Promise<void> => {
    const [header = '', ...rows] = SIX_GPUS.nodes.trim().split('\n');
    const nodes = rows.map((row) => {
      const team = teams[row.slice(0, 2)];
      return `${row},${team === undefined ? '' : `"{""team"": ""${team}""}"`}`;
    });
    fleet = await fleetFolder({ ...SIX_GPUS, nodes: [`${header},tags`, ...nodes].join('\n') });
  };
  const empty = async (team?: string) => {
    const answer = await look(team === undefined ? {} : { team });
    return answer.findings.find(({ detector }) => detector === 'empty-nodes');
  };
  afterEach(close);

  it('stand empty for the platform, and its team sees the money, without words that were said of others', async () => {
    await buy({ k1: 'nlp', k2: 'nlp' });
    expect(await empty()).toMatchObject({ team: null, usdMicros: 72n * USD });
    const own = await empty('nlp');
    expect(own).toMatchObject({ usdMicros: 72n * USD, subjects: ['node k1', 'node k2'], subjectsOfOthers: 0, fix: [] });
    expect(own?.because).toEqual(['The platform mends it: all of the money and the time is of machines of nlp.']);
    expect(await empty('vision')).toBeUndefined();
  });

  it('of a pool that teams share stay the platform’s', async () => {
    await buy({ k1: 'nlp', k2: 'vision' });
    expect([await empty('nlp'), await empty('vision')]).toEqual([undefined, undefined]);
    expect((await empty())?.usdMicros).toBe(72n * USD);
  });
});

describe('advice about prices', () => {
  afterEach(close);

  // 86.6 GPU-hours of its day are waste, and 12 more are unknown: with them $5.56 an hour would be enough.
  it.each([
    { name: 'hidden where a year of its waste is $199,850', rate: '6.32', want: [0, 1] },
    { name: 'told where it is $200,170', rate: '6.33', want: [1, 0] },
  ])('is $name, whatever is unknown beside it', async ({ rate, want }) => {
    fleet = await fleetFolder({ ...SIX_GPUS, rates: SIX_GPUS.rates.replace('3.00', rate) });
    const takes = [{ subject: NOTES, firstDay: '2026-03-02', lastDay: '2026-03-02', category: 'idle' as const }];
    const claim: Claim = { about: 'x', ownerSubject: NOTES, what: '', because: [], fix: [], unless: '', takes };
    const cheaper: Detector = { ...idleSessions, factor: 'price', ask: () => ({}), judge: () => [claim] };
    const { findings, hiddenPrice } = await look({ detectors: [cheaper] });
    expect([findings.length, hiddenPrice.length]).toEqual(want);
  });
});

describe('what a fleet of six GPUs is told', () => {
  beforeAll(open);
  afterAll(close);

  it('money, kind and range: what frees its machine is cash for sure, what shares it perhaps, what is owned is time', async () => {
    const answer = await look();
    const shown = (subject: string) => {
      const { kind, usdMicros, cashUsdMicros, usdMicrosPerHour, team, user } = of(answer, subject) ?? {};
      return { kind, usdMicros, cashUsdMicros, usdMicrosPerHour, team, user };
    };
    expect(shown(NOTES)).toEqual({
      kind: 'cash',
      usdMicros: 30n * USD,
      cashUsdMicros: { low: 30n * USD, high: 30n * USD },
      usdMicrosPerHour: 3n * USD,
      team: 'nlp',
      user: 'mchen',
    });
    expect(shown(SKETCH)).toMatchObject({
      kind: 'cash',
      usdMicros: 24n * USD,
      cashUsdMicros: { low: 0n, high: 24n * USD },
    });
    expect(shown(PROBE)).toMatchObject({ kind: 'capacity', cashUsdMicros: { low: 0n, high: 0n } });
    expect(of(answer, PROBE)?.capacityUnits.high).toBe(10n * 3600n * 63_000n);
  });

  it('claims that name their thing by the same words are two findings', async () => {
    const twin: Claim = { about: NOTES, ownerSubject: NOTES, what: '', because: [], fix: [], unless: '', takes: [] };
    const twins: Detector = {
      ...idleSessions,
      ask: () => ({}),
      judge: () => [twin, twin, { ...twin, about: 'other' }],
    };
    const claims = await withReader(fleet.dataDir, (space) => {
      const { at: now } = decideNow(undefined, space.scope?.horizon, new Date(at(20)));
      return askDetectors(space, [twins], judgedSpan(ledgerWindow('30d', now, space.scope), now));
    });
    expect(claims.map(({ claim }) => claim.about)).toEqual([NOTES, `${NOTES} (2)`, 'other']);
  });

  it.each([
    { name: 'one team and person keep theirs', subjects: [PROBE, DARK], want: ['nlp', 'kim'] },
    { name: 'what several people of a team have is the team’s', subjects: [NOTES, PROBE], want: ['nlp', null] },
    { name: 'what several teams have is the platform’s', subjects: [NOTES, SKETCH], want: [null, null] },
  ])('$name', async ({ subjects, want }) => {
    const takes = subjects.map((subject) => ({
      subject,
      firstDay: '2026-03-02',
      lastDay: '2026-03-02',
      category: 'idle' as const,
    }));
    const mixed: Detector = {
      ...idleSessions,
      ask: () => ({}),
      judge: () => [
        { about: 'x', ownerSubject: subjects[0] ?? null, what: '', because: [], fix: [], unless: '', takes },
      ],
    };
    const { findings } = await look({ detectors: [mixed] });
    expect(findings.map(({ team, user }) => [team, user])).toEqual([want]);
  });

  it('nothing is said of a GPU nobody measures', async () => {
    const answer = await look();
    expect(answer.findings.flatMap(({ kind, subjects }) => (kind === 'unknown' ? [] : subjects))).not.toContain(
      'job kubernetes/u5/0',
    );
  });

  it('what all findings claim is at most what was wasted', async () => {
    const { findings, wasteUsdMicros } = await look();
    const idle = findings
      .filter(({ category }) => category === 'idle')
      .reduce((sum, each) => sum + (each.usdMicros ?? 0n), 0n);
    expect(idle).toBeGreaterThan(0n);
    expect(idle).toBeLessThanOrEqual(wasteUsdMicros.idle);
  });

  it('a window of an hour is its day: nothing is claimed of money that is not in what was paid', async () => {
    const hour = await look({ windowText: '2026-03-02T12:00Z/2026-03-02T13:00Z' });
    const day = await look({ windowText: '2026-03-02' });
    expect(hour.window).toMatchObject({ from: new Date(at(0)), until: new Date(at(24)), ledgerDays: 1 });
    expect([hour.paidUsdMicros, hour.sum]).toEqual([day.paidUsdMicros, day.sum]);
  });

  it('safe first, then what can be reached; five for today', async () => {
    const { findings, shownMax } = await look();
    expect(findings.map(({ key }) => key)).toEqual(findings.toSorted(compareFindings).map(({ key }) => key));
    expect(findings.length).toBeGreaterThan(1);
    expect(shownMax).toBe(5);
  });

  it('a team sees its own, with the numbers and the money they have for all', async () => {
    const all = await look();
    const own = await look({ team: 'vision' });
    expect(own.findings.map(({ team }) => team)).toEqual(own.findings.map(() => 'vision'));
    expect(own.findings).toEqual(all.findings.filter(({ team }) => team === 'vision'));
  });

  it.each([
    [{ change: 'exempt', until: '2026-03-09' }, '--reason is missing'],
    [{ change: 'exempt', reason: 'why' }, '--until is missing'],
    [{ change: 'exempt', reason: 'why', until: '2026-03-02' }, 'not in the future'],
    [{ change: 'exempt', reason: 'why', until: 'soon' }, 'is not a date'],
    [{ change: 'dismiss' }, '--reason is missing'],
    [{ change: 'assign' }, 'to whom'],
  ] as const)('%j is refused: %s', async (request, message) => {
    await look();
    const now = new Date(at(20));
    await expect(changeFinding(fleet.dataDir, 1, { now, at: now, ...request })).rejects.toThrow(message);
  });

  it('a number nobody gave is not there', async () => {
    await look();
    const now = new Date(at(20));
    await expect(changeFinding(fleet.dataDir, 999, { change: 'accept', now, at: now })).rejects.toMatchObject({
      code: 'no-such-finding',
    });
  });
});
