import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askRoute, doDeed, printedJson } from '../../../../test/asked-route.ts';
import { fleetFolder } from '../../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { TWO_TEAMS } from '../../../../test/two-teams.ts';
import type { Viewer } from '../../route.ts';
import { jobRoute } from '../jobs/job.ts';
import type { JobReply } from '../jobs/job.ts';
import { overviewFindingsRoute } from '../overview/overview-findings.ts';
import type { FirstFindingsReply } from '../overview/overview-findings.ts';
import { FINDING_DEEDS } from './decide.ts';
import { findingsRoute } from './list-findings.ts';
import type { FindingsReply } from './list-findings.ts';
import { findingRoute, findingRowsRoute } from './one-finding.ts';
import type { FindingRowsReply, OneFindingAnswer } from './one-finding.ts';

const WHOLE = '107958000';
/** What nlp has lost of it: runs 101 and 103. */
const OWN = '51138000';
/** People and jobs of zeta, what it lost, and all that the two have together. */
const FOREIGN = ['zeta', 'zulu', 'zoe', 'sketchbook', 'slurm/102', 'slurm/104', '31251000', '25569000', '56820000'];

const lead: Viewer = { name: 'lead', role: 'operator', team: 'nlp' };
let fleet: FleetFolder;
let lost = '';
beforeAll(async () => {
  fleet = await fleetFolder(TWO_TEAMS);
  const { findings } = await askRoute<FindingsReply>(fleet.dataDir, findingsRoute);
  const found = findings.find(({ detector }) => detector === 'lost-work');
  lost = found?.id ?? '';
});
afterAll(() => fleet.remove());

const foreignIn = (reply: unknown): string[] => {
  const text = JSON.stringify(reply);
  return [...FOREIGN, WHOLE].filter((word) => text.includes(word));
};

describe('a finding that is about two teams, for one of them', () => {
  it('is whole for whoever sees the fleet', async () => {
    const { finding } = await askRoute<OneFindingAnswer>(fleet.dataDir, findingRoute, { params: { finding: lost } });
    expect(finding).toMatchObject({ team: null, usdMicros: WHOLE });
  });

  it('is in the list with the sums of its own rows', async () => {
    const reply = await askRoute<FindingsReply>(fleet.dataDir, findingsRoute, { viewer: lead });
    const found = reply.findings.find(({ id }) => id === lost);
    expect(found).toMatchObject({ usdMicros: OWN, subjectsOfOthers: 2, gpuSeconds: 61_365.6, fix: [] });
    expect(BigInt(found?.cashUsdMicros.high ?? 0)).toBeLessThanOrEqual(BigInt(OWN));
    expect(foreignIn(reply)).toEqual([]);
    expect(reply).toEqual(await printedJson(fleet.dataDir, findingsRoute, { query: { team: 'nlp' } }));
  });

  it('is in what to do first with the same sums', async () => {
    const reply = await askRoute<FirstFindingsReply>(fleet.dataDir, overviewFindingsRoute, { viewer: lead });
    expect(reply.first.find(({ id }) => id === lost)?.usdMicros).toBe(OWN);
    expect(foreignIn(reply)).toEqual([]);
  });

  it('has a page of its own runs, which add up to it', async () => {
    const asked = { params: { finding: lost }, viewer: lead };
    const reply = await askRoute<OneFindingAnswer>(fleet.dataDir, findingRoute, asked);
    expect(reply.subjects.map(({ subject }) => subject)).toEqual(['job slurm/101/0', 'job slurm/103/0']);
    expect(reply.teams).toMatchObject([{ team: 'nlp', usdMicros: OWN }]);
    expect(reply.strips.rows.map(({ subject }) => subject)).toEqual(['job slurm/101/0', 'job slurm/103/0']);
    expect(foreignIn(reply)).toEqual([]);
  });

  it('explains itself by its own rows, as JSON and as CSV', async () => {
    const asked = { params: { finding: lost }, query: { team: 'nlp' } };
    const reply = await askRoute<FindingRowsReply>(fleet.dataDir, findingRowsRoute, asked);
    expect(new Set(reply.parts.map(({ subject }) => subject))).toEqual(new Set(['job slurm/101/0', 'job slurm/103/0']));
    expect(String(reply.parts.reduce((sum, { usdMicros }) => sum + BigInt(usdMicros ?? 0), 0n))).toBe(OWN);
    expect(foreignIn(reply)).toEqual([]);
    expect(foreignIn(findingRowsRoute.csv?.(reply))).toEqual([]);
    expect((await printedJson(fleet.dataDir, findingRowsRoute, asked)) as object).toEqual(reply);
  });

  it('is not named by its jobs, but what is about them alone is', async () => {
    const ask = async (job: string, viewer?: Viewer): Promise<JobReply> =>
      askRoute(fleet.dataDir, jobRoute, { params: { job }, ...(viewer !== undefined && { viewer }) });
    expect((await ask('101')).findings.map(({ number }) => `F-${number}`)).toEqual([lost]);
    expect((await ask('101', lead)).findings).toEqual([]);
    expect((await ask('105', lead)).findings).toMatchObject([{ what: expect.stringContaining('notes') as unknown }]);
  });

  it.each(FINDING_DEEDS.map((deed) => [deed.name, deed] as const))(
    'is not decided by it: %s is refused with the reason',
    async (_, deed) => {
      const body = { reason: 'x', until: '2999-01-01', to: 'kim' };
      await expect(doDeed(fleet.dataDir, deed, lost, body, lead)).rejects.toMatchObject({
        code: 'holds-others',
        message: `${lost} holds money of others beside that of nlp: a team does not decide about it`,
      });
      expect(await doDeed(fleet.dataDir, deed, lost, body)).toMatchObject({ id: lost });
    },
  );
});

describe('what people said of a finding that is about two teams', () => {
  const SAID = ['zulu says why', 'zoe of zeta', 'tester'];
  const page = () => ({ params: { finding: lost } });
  const wordsIn = (reply: unknown): string[] => SAID.filter((word) => JSON.stringify(reply).includes(word));
  beforeAll(async () => {
    const deedOf = (change: string) => FINDING_DEEDS.find(({ name }) => name === `${change}Finding`);
    await doDeed(fleet.dataDir, deedOf('assign'), lost, { to: 'zoe of zeta' });
    await doDeed(fleet.dataDir, deedOf('accept'), lost, { reason: 'zulu says why' });
  });

  it('is told to whoever sees the fleet', async () => {
    expect(wordsIn(await askRoute(fleet.dataDir, findingRoute, page()))).toEqual(SAID);
  });

  it('is in no list of a team, nor among the owners it can be narrowed by', async () => {
    const reply = await askRoute<FindingsReply>(fleet.dataDir, findingsRoute, { viewer: lead });
    const found = reply.findings.find(({ id }) => id === lost);
    expect(found).toMatchObject({ state: 'accepted', stateReason: null, assignedTo: null });
    expect([wordsIn(reply), wordsIn(findingsRoute.csv?.(reply))]).toEqual([[], []]);
    expect(wordsIn(await askRoute(fleet.dataDir, overviewFindingsRoute, { viewer: lead }))).toEqual([]);
    const query = { owner: 'zoe of zeta' };
    expect((await askRoute<FindingsReply>(fleet.dataDir, findingsRoute, { query, viewer: lead })).findings).toEqual([]);
  });

  it('is not on its page for a team: of its history there is what the data said', async () => {
    const reply = await askRoute<OneFindingAnswer>(fleet.dataDir, findingRoute, { ...page(), viewer: lead });
    expect(wordsIn(reply)).toEqual([]);
    expect(reply.record).toMatchObject({ state: 'accepted', stateReason: null, by: null, assignedTo: null });
    expect(reply.history).toMatchObject([{ change: 'found', by: null }]);
  });

  it('is not printed where the command names a team', async () => {
    expect(wordsIn(await printedJson(fleet.dataDir, findingRoute, { ...page(), query: { team: 'nlp' } }))).toEqual([]);
    const others = printedJson(fleet.dataDir, findingRoute, { ...page(), query: { team: 'vision' } });
    await expect(others).rejects.toThrow('--team vision');
  });
});

describe('for the other of them', () => {
  it('it is of its own rows', async () => {
    const asked = { params: { finding: lost }, viewer: { ...lead, team: 'zeta' } };
    const { subjects } = await askRoute<OneFindingAnswer>(fleet.dataDir, findingRoute, asked);
    expect(subjects.map(({ subject }) => subject)).toEqual(['job slurm/102/0', 'job slurm/104/0']);
  });

  it('for a third it is as if it were not there', async () => {
    const asked = { params: { finding: lost }, viewer: { ...lead, team: 'vision' } };
    await expect(askRoute(fleet.dataDir, findingRoute, asked)).rejects.toThrow(`there is no finding ${lost}`);
  });
});
