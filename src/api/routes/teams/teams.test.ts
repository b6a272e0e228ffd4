import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askRoute, printedJson } from '../../../../test/asked-route.ts';
import { csv, fleetFolder } from '../../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../../test/small-fleet.ts';
import { issue, planClosing } from '../../../app/statement/close-statements.ts';
import { withReader, withWriter } from '../../../app/workspace.ts';
import type { Viewer } from '../../route.ts';
import { teamsRoute } from './list-teams.ts';
import type { TeamsReply } from './list-teams.ts';
import { queueRoute } from './queue.ts';
import type { QueueReply } from './queue.ts';
import { teamOutcomesRoute } from './team-outcomes.ts';
import type { TeamOutcomesReply } from './team-outcomes.ts';
import { statementRoute, unattributedStatementRoute } from './team-statement.ts';
import type { StatementReply } from './team-statement.ts';

/** One run of nlp that has finished, and one of vision. */
const FINISHED = csv(`
  source|allocation_id|node_id|submitted_at|held_from|held_until|gpu_count|cluster|account|workload_kind|outcome|labels
  slurm|301|a2|2026-03-02T09:30:00Z|2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|1|a|nlp|Job|completed|{"class": "training"}
  slurm|302|own1|2026-03-02T08:50:00Z|2026-03-02T09:00:00Z|2026-03-02T10:00:00Z|1|b|vision|Job|completed|{"class": "training"}`);

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder({ ...SMALL_FLEET, 'allocations 2': FINISHED });
});
afterAll(() => fleet.remove());

const MARCH = { month: '2026-03' };
const NLP: Viewer = { name: 'lead', role: 'viewer', team: 'nlp' };

describe('teams of a month', () => {
  it('are those of the command, and add up to the month with what nobody owns', async () => {
    const asked = { query: MARCH };
    const { otherRows, months, ...reply } = await askRoute<TeamsReply>(fleet.dataDir, teamsRoute, asked);
    expect(reply).toEqual(await printedJson(fleet.dataDir, teamsRoute, asked));
    expect([otherRows, months]).toEqual([0, ['2026-03']]);
    const sum = reply.rows.reduce((total, { amountCents }) => total + BigInt(amountCents), 0n);
    expect(String(sum)).toBe(reply.amountCents);
  });

  it('are one row and a total for a viewer of one team', async () => {
    const whole = await askRoute<TeamsReply>(fleet.dataDir, teamsRoute, { query: MARCH });
    const own = await askRoute<TeamsReply>(fleet.dataDir, teamsRoute, { query: MARCH, viewer: NLP });
    expect(own.rows.map(({ team }) => team)).toEqual(['nlp']);
    expect(own.otherRows).toBe(whole.rows.length - 1);
    expect(own.total).toEqual(whole.total);
    const query = { ...MARCH, team: 'nlp' };
    const statement = (await printedJson(fleet.dataDir, teamsRoute, { query })) as StatementReply;
    const [row] = own.rows;
    expect([statement.team, statement.total.usdMicros, statement.amountCents]).toEqual([
      'nlp',
      row?.usdMicros,
      row?.amountCents,
    ]);
  });

  it('refuses what is no month', async () => {
    await expect(askRoute(fleet.dataDir, teamsRoute, { query: { month: 'march' } })).rejects.toThrow('is not a month');
  });
});

describe('a statement', () => {
  it('is that of the command, to the cent', async () => {
    const asked = { query: MARCH, params: { team: 'nlp' } };
    const reply = await askRoute<StatementReply>(fleet.dataDir, statementRoute, asked);
    const { revision, months: _, trend, ...statement } = reply;
    expect(statement).toEqual(await printedJson(fleet.dataDir, statementRoute, asked));
    expect(revision).toBeNull();
    expect(trend).toEqual([
      {
        month: '2026-03',
        status: 'open',
        usdMicros: statement.total.usdMicros,
        computeSharePermille: statement.computeSharePermille,
      },
    ]);
  });

  it('of nobody is that of --unattributed', async () => {
    const asked = { query: MARCH };
    const reply = await askRoute<StatementReply>(fleet.dataDir, unattributedStatementRoute, asked);
    const { revision: _, months: __, trend, ...statement } = reply;
    expect(statement).toEqual(await printedJson(fleet.dataDir, unattributedStatementRoute, asked));
    expect(trend[0]?.usdMicros).toBe(statement.total.usdMicros);
  });

  it('of another team is refused to a viewer of one', async () => {
    const asked = { query: MARCH, params: { team: 'vision' }, viewer: NLP };
    await expect(askRoute(fleet.dataDir, statementRoute, asked)).rejects.toThrow('you may see nlp, not vision');
  });

  it('of a team there is not names no other to a viewer of one', async () => {
    const viewer: Viewer = { ...NLP, team: 'visio' };
    const asked = { params: { team: 'visio' }, query: MARCH, viewer };
    const failure = await askRoute(fleet.dataDir, statementRoute, asked).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'unknown-team' });
    expect(JSON.stringify(failure)).not.toMatch(/vision|nlp|asr/);
  });

  it('of a team there is not says which is like it', async () => {
    const asked = { query: MARCH, params: { team: 'nlpp' } };
    await expect(askRoute(fleet.dataDir, statementRoute, asked)).rejects.toMatchObject({ hint: 'Did you mean nlp?' });
  });

  it('has its number, revision and date once the month is closed, and its trend is what was stated', async () => {
    const closing = { month: '2026-03', clock: new Date('2026-05-01T00:00:00Z'), config: undefined, isFirst: true };
    const plan = await withReader(fleet.dataDir, (space) => planClosing(space, closing));
    await withWriter(fleet.dataDir, 'test', async (space) => issue(space, closing, plan));
    const asked = { query: MARCH, params: { team: 'nlp' } };
    const reply = await askRoute<StatementReply>(fleet.dataDir, statementRoute, asked);
    expect(reply).toMatchObject({ status: 'closed', revision: 1, trend: [{ month: '2026-03', status: 'closed' }] });
    expect(reply.number).toMatch(/^2026-03-\d{3}$/);
    expect(reply.issuedAt).not.toBeNull();
  });
});

describe('what a team achieved and waited', () => {
  it('is what the command says of it, and of no other', async () => {
    const asked = { query: { window: '2026-03' }, params: { team: 'nlp' } };
    const reply = await askRoute<TeamOutcomesReply>(fleet.dataDir, teamOutcomesRoute, asked);
    const printed = (await printedJson(fleet.dataDir, teamOutcomesRoute, asked)) as {
      readonly runs: readonly { readonly name: string | null }[];
    };
    expect(reply.runs).toEqual(printed.runs.filter(({ name }) => name === 'nlp'));
    expect(new Set(printed.runs.map(({ name }) => name))).toEqual(new Set(['nlp', 'vision']));
  });

  it('the queue is that of the command; a viewer of one team sees no other’s name in it, nor what the fleet left idle', async () => {
    const asked = { query: { window: 'all' } };
    const reply = await askRoute<QueueReply>(fleet.dataDir, queueRoute, asked);
    expect(reply).toEqual(await printedJson(fleet.dataDir, queueRoute, asked));
    const own = await askRoute<QueueReply>(fleet.dataDir, queueRoute, { ...asked, viewer: NLP });
    expect(reply.teams.map(({ team }) => team)).toEqual(['nlp', 'vision']);
    expect(own.teams).toEqual(reply.teams.filter(({ team }) => team === 'nlp'));
    expect(JSON.stringify(own)).not.toMatch(/vision|asr|lopez|kim|usdMicros/);
    expect(reply.models).not.toEqual([]);
    expect(own.models).toBeNull();
    expect(own).toEqual(await printedJson(fleet.dataDir, queueRoute, { query: { ...asked.query, team: 'nlp' } }));
  });
});
