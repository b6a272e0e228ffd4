import { chmodSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import type { Claim, Detector } from '../../facts/detector.ts';
import type { Finding } from '../../facts/finding.ts';
import { findingList } from '../../report/finding-list.ts';
import type { FindingsAnswer } from '../../report/finding-answer.ts';
import { decideNow } from '../now.ts';
import { NO_RULES } from '../rules/rule.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { idleSessions } from '../../waste/idle-sessions.ts';
import { askDetectors, judgedSpan } from './ask-detectors.ts';
import { compareFindings } from './compare-findings.ts';
import { findFindings } from './find-findings.ts';
import type { FindingsRequest } from './find-findings.ts';
import { changeFinding } from './one-finding.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-02T00:00:00Z');
const at = (hour: number): string => `${new Date(START + hour * HOUR_MS).toISOString().slice(0, 19)}Z`;

/** Samples every half hour of the hours from one to the other. */
const samples = (device: string, from: number, until: number, permille: number): string =>
  Array.from({ length: (until - from) * 2 }, (_, half) => `${device}|${at(from + half / 2)}|1800|${permille}`).join(
    '\n',
  );
const SAMPLE_HEADER = 'device_id|ts|step_s|engine_permille';

/**
 * Six GPUs at $3 an hour: a rented machine of one with a notebook, one of two that a notebook shares with a job, an owned machine of
 * two of which nobody measures one, and a rented box no scheduler knows.
 */
const FLEET = {
  nodes: csv(`
    node_id|present_from|provider|region   |resource_id|purchase |cluster|gpu_count|model
    k1     |${at(0)}    |AWS     |us-east-1|i-k1       |on-demand|a      |1        |H100
    k2     |${at(0)}    |AWS     |us-east-1|i-k2       |on-demand|a      |2        |H100
    own1   |${at(0)}    |        |         |           |owned    |a      |2        |H100
    box1   |${at(0)}    |AWS     |us-east-1|i-box      |on-demand|loose  |1        |H100`),
  devices: csv(`
    device_id|node_id|model
    k1-0|k1|H100
    k2-0|k2|H100
    k2-1|k2|H100
    own-0|own1|H100
    own-1|own1|H100
    box-0|box1|H100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|namespace|user_name|workload_kind|workload_name
    kubernetes|u1|k1  |k1-0 |${at(8)}| |1|a|nlp   |mchen |Notebook  |notes
    kubernetes|u2|k2  |k2-0 |${at(8)}| |1|a|vision|apatel|Notebook  |sketch
    kubernetes|u3|k2  |k2-1 |${at(8)}| |1|a|vision|lopez |PyTorchJob|train
    kubernetes|u4|own1|own-0|${at(8)}| |1|a|nlp   |kim   |Notebook  |probe
    kubernetes|u5|own1|own-1|${at(8)}| |1|a|nlp   |kim   |Notebook  |dark`),
  rates: csv(`
    model|usd_per_gpu_hour
    H100|3.00`),
  samples: csv(`
    ${SAMPLE_HEADER}
    ${samples('k1-0', 8, 10, 700)}
    ${samples('k1-0', 10, 20, 0)}
    ${samples('k2-0', 8, 12, 700)}
    ${samples('k2-0', 12, 20, 0)}
    ${samples('k2-1', 8, 20, 900)}
    ${samples('own-0', 8, 10, 700)}
    ${samples('own-0', 10, 20, 0)}
    ${samples('box-0', 0, 2, 500)}
    ${samples('box-0', 2, 20, 0)}`),
};

let fleet: FleetFolder;
const open = async (): Promise<void> => {
  fleet = await fleetFolder(FLEET);
};
const close = async (): Promise<void> => {
  chmodSync(fleet.dataDir, 0o755);
  await fleet.remove();
};

const look = (over: Partial<FindingsRequest> & { windowText?: string; asOf?: Date } = {}): Promise<FindingsAnswer> =>
  withReader(
    fleet.dataDir,
    (space) => {
      const { windowText = '30d', asOf, ...request } = over;
      const now = decideNow(asOf, space.scope?.horizon, new Date('2026-05-01T00:00:00Z'));
      const window = ledgerWindow(windowText, now.at, space.scope);
      return findFindings(space, { window, now: now.at, nowBy: now.by, ...request });
    },
    { rules: NO_RULES },
  );
const more = async (text: string, name: string): Promise<void> => {
  await fleet.import({ [`samples ${name}`]: csv(`${SAMPLE_HEADER}\n${text}`) });
  await fleet.derive();
};
const of = (answer: FindingsAnswer, subject: string) =>
  answer.findings.find((each) => each.detector === 'idle-sessions' && each.ownerSubject === subject);
const [NOTES, SKETCH, PROBE, DARK] = [1, 2, 4, 5].map((no) => `job kubernetes/u${no}/0`) as [
  string,
  string,
  string,
  string,
];
const USD = 1_000_000n;

describe('a machine of which nobody says how it is bought', () => {
  beforeAll(async () => {
    fleet = await fleetFolder({
      ...FLEET,
      nodes: FLEET.nodes.replace(',owned,', ',,').replace(',on-demand,a,1,', ',,a,1,'),
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

describe('the life of a finding', () => {
  beforeEach(open);
  afterEach(close);

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
