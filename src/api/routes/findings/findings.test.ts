import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askRoute, doDeed, printedJson } from '../../../../test/asked-route.ts';
import { csv, fleetFolder } from '../../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { at, IDLE_FLEET, samples } from '../../../../test/idle-fleet.ts';
import { served } from '../../../../test/served.ts';
import { withReader } from '../../../app/workspace.ts';
import { loadSqlite } from '../../../state/database.ts';
import type { Viewer } from '../../route.ts';
import { FINDING_DEEDS } from './decide.ts';
import type { DecidedReply } from './decide.ts';
import { findingsRoute } from './list-findings.ts';
import type { FindingsReply } from './list-findings.ts';
import { findingRoute, findingRowsRoute } from './one-finding.ts';
import type { FindingRowsReply, OneFindingAnswer } from './one-finding.ts';

let fleet: FleetFolder;
let told: FindingsReply;
beforeAll(async () => {
  fleet = await fleetFolder(IDLE_FLEET);
  told = await list();
});
afterAll(() => fleet.remove());

const deedOf = (change: string) => FINDING_DEEDS.find(({ path }) => path.endsWith(`/${change}`));
const list = (query: Record<string, string> = {}, viewer?: Viewer): Promise<FindingsReply> =>
  askRoute(fleet.dataDir, findingsRoute, { query, ...(viewer !== undefined && { viewer }) });
const one = (id: string, viewer?: Viewer): Promise<OneFindingAnswer> =>
  askRoute(fleet.dataDir, findingRoute, { params: { finding: id }, ...(viewer !== undefined && { viewer }) });
const idleOf = (team: string): string =>
  told.findings.find((each) => each.team === team && each.detector === 'idle-sessions')?.id ?? 'none';
const changesOf = (id: string): Promise<readonly string[]> =>
  withReader(fleet.dataDir, async (space) => space.findings.history(Number(id.slice(2))).map(({ change }) => change));
const ofTeam = (team: string): Viewer => ({ name: 'lead', role: 'operator', team });

describe('the list of findings', () => {
  it('is what the command prints', async () => {
    expect(told).toEqual(await printedJson(fleet.dataDir, findingsRoute));
    expect(told.findings.length).toBeGreaterThan(1);
  });

  it('is of one team where that is asked, and its command says so', async () => {
    const query = { team: 'nlp' };
    const reply = await list(query);
    expect(new Set(reply.findings.map(({ team }) => team))).toEqual(new Set(['nlp']));
    expect(reply).toEqual(await printedJson(fleet.dataDir, findingsRoute, { query }));
  });

  it.each([
    ['of a category', { category: 'idle' }],
    ['of an owner as it is shown', { owner: 'nlp / mchen' }],
    ['of a team as owner', { owner: 'nlp' }],
    ['of a detector, a category and an owner', { detector: 'idle-sessions', category: 'idle', owner: 'nlp' }],
  ])('%s is what the command prints, and what a file has', async (_, query) => {
    const reply = await list(query);
    expect(reply).toEqual(await printedJson(fleet.dataDir, findingsRoute, { query }));
    expect(reply.findings.length).toBeLessThan(told.findings.length);
    expect(findingsRoute.csv?.(reply).trimEnd().split('\n')).toHaveLength(reply.findings.length + 1);
    // The other names can still be asked for.
    expect(reply.names).toEqual(told.names);
  });

  it('without the small ones tells what these come to together', async () => {
    const { findings, small } = await list({ small: 'no' });
    const isSmall = ({ kind, usdMicros }: FindingsReply['findings'][number]): boolean =>
      kind !== 'question' && usdMicros !== null && BigInt(usdMicros) < BigInt(told.smallBelowUsdMicros);
    expect(findings).toEqual(told.findings.filter((each) => !isSmall(each)));
    expect(small.count).toBe(told.findings.filter(isSmall).length);
    expect(findingsRoute.command?.(findingsRoute.query.parse({ small: 'no', owner: "o'neil" }), {})).toBe(
      `bursar findings --window 30d --owner 'o'\\''neil' --all`,
    );
  });

  it('with a small one is what the command prints, and so it is without', async () => {
    const cheap = await fleetFolder({
      ...IDLE_FLEET,
      'nodes 2': csv(`
        node_id|present_from|provider|resource_id|purchase |cluster|gpu_count|model
        k3     |${at(0)}    |AWS     |i-k3       |on-demand|a      |1        |L4`),
      'devices 2': 'device_id,node_id,model\nk3-0,k3,L4\n',
      'allocations 2': csv(`
        source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|namespace|user_name|workload_kind|workload_name
        kubernetes|u4|k3|k3-0|${at(8)}| |1|a|asr|kim|Notebook|toy`),
      'rates 2': 'model,usd_per_gpu_hour\nL4,0.0001\n',
      'samples 2': csv(`
        device_id|ts|step_s|engine_permille
        ${samples('k3-0', 8, 10, 700)}
        ${samples('k3-0', 10, 20, 0)}`),
    });
    try {
      for (const [small, count] of [
        ['yes', 0],
        ['no', 1],
      ] as const) {
        const reply = await askRoute<FindingsReply>(cheap.dataDir, findingsRoute, { query: { small } });
        expect(reply.small.count).toBe(count);
        expect(reply).toEqual(await printedJson(cheap.dataDir, findingsRoute, { query: { small } }));
      }
    } finally {
      await cheap.remove();
    }
  });

  it('as CSV has a line for each, and no cell that a spreadsheet runs', () => {
    const [first] = told.findings;
    const hostile = { ...told, findings: first === undefined ? [] : [first, { ...first, what: '=1+1' }] };
    const lines = findingsRoute.csv?.(hostile).trimEnd().split('\n') ?? [];
    expect(lines.length).toBe(3);
    expect(lines[2]?.endsWith(`,'=1+1`)).toBe(true);
  });

  it.each([
    ['a state there is not', { state: 'done' }, /no state of a finding/],
    ['a detector there is not', { detector: 'idle-session' }, /no detector/],
    ['a category there is not', { category: 'idel' }, /categor/],
    ['a window nobody understands', { window: 'soon' }, /is not a window/],
  ])('refuses %s', async (_, query, words) => {
    await expect(list(query)).rejects.toThrow(words);
  });
});

describe('one finding', () => {
  it('has the finding of the command, and rows that add up to it', async () => {
    const id = idleOf('nlp');
    const reply = await one(id);
    const printed = (await printedJson(fleet.dataDir, findingRoute, { params: { finding: id } })) as object;
    expect(reply).toMatchObject(printed);
    const sum = reply.subjects.reduce((total, { usdMicros }) => total + BigInt(usdMicros ?? '0'), 0n);
    expect(String(sum)).toBe(reply.finding?.usdMicros);
    expect(reply.teams.map(({ team }) => team)).toEqual(['nlp']);
    // Names are what somebody typed: they arrive as they are, and pages show them as text.
    expect(reply.subjects[0]?.name).toBe('<img src=x>');
  });

  it('shows each hour: two computed, ten idle, and none where nobody had it', async () => {
    const { strips } = await one(idleOf('nlp'));
    const hours = strips.rows[0]?.hours ?? [];
    expect(hours.length).toBe(7 * 24);
    expect(hours.filter((hour) => hour === 1000).length).toBe(2);
    expect(hours.filter((hour) => hour === 0).length).toBe(10);
    expect(hours.filter((hour) => hour === null).length).toBe(7 * 24 - 12);
  });

  it('says beside the hours of each what it is called and when it last computed, listed or not', async () => {
    const { strips, subjects } = await one(idleOf('nlp'));
    const said = (each: { subject: string; name: string; lastComputingAt: string | null }) => [
      each.subject,
      each.name,
      each.lastComputingAt,
    ];
    expect(strips.rows.map(said)).toEqual(subjects.map(said));
    expect(strips.rows[0]).toMatchObject({ name: '<img src=x>', lastComputingAt: expect.stringMatching(/Z$/) });
  });

  it('explains itself by rows that add up, as the command does', async () => {
    const asked = { params: { finding: idleOf('nlp') } };
    const reply = await askRoute<FindingRowsReply>(fleet.dataDir, findingRowsRoute, asked);
    const { parts } = (await printedJson(fleet.dataDir, findingRowsRoute, asked)) as FindingRowsReply;
    expect(reply.parts).toEqual(parts);
    const { finding } = await one(asked.params.finding);
    const sum = parts.reduce((total, { usdMicros }) => total + BigInt(usdMicros ?? '0'), 0n);
    expect(String(sum)).toBe(finding?.usdMicros);
  });

  it('is not there for another team', async () => {
    const id = idleOf('nlp');
    await expect(one(id, ofTeam('vision'))).rejects.toThrow(`there is no finding ${id}`);
    expect((await one(id, ofTeam('nlp'))).finding?.team).toBe('nlp');
  });

  it.each([
    ['a number there is not', 'F-999', /there is no finding F-999/],
    ['no number', 'abc', /not the number of a finding/],
  ])('refuses %s', async (_, id, words) => {
    await expect(one(id)).rejects.toThrow(words);
  });
});

it('a list that could not get its numbers while another wrote is asked anew, and then has them', async () => {
  const server = await served(fleet.dataDir);
  const other = (await loadSqlite())(join(fleet.dataDir, 'state.sqlite'), { mode: 'write', busyTimeoutMs: 1000 });
  const numbers = async (): Promise<unknown> =>
    ((await (await server.request('/api/v1/findings')).json()) as Record<string, unknown>)['numbers'];
  try {
    other.exec('BEGIN IMMEDIATE');
    expect(await numbers()).toBe('refused');
    other.exec('ROLLBACK');
    expect(await numbers()).toBe('kept');
  } finally {
    other.close();
    await server.close();
  }
}, 60_000);

describe('deciding about a finding', () => {
  it('is told by the list at once, with who said it, and is taken back', async () => {
    const id = idleOf('vision');
    const accepted = await doDeed<DecidedReply>(fleet.dataDir, deedOf('accept'), id, { seen: 'open' });
    expect(accepted).toMatchObject({ id, state: 'accepted', by: 'tester' });
    expect((await list()).findings.find((each) => each.id === id)?.state).toBe('accepted');
    const reopened = await doDeed<DecidedReply>(fleet.dataDir, deedOf('reopen'), id);
    expect(reopened.history.map(({ change }) => change)).toEqual(['found', 'accept', 'reopen']);
  });

  it('exempts to a day: it leaves the list, is counted as set aside, and is listed where it is asked for', async () => {
    const id = idleOf('vision');
    const body = { until: '2026-12-01', reason: 'warm standby' };
    const exempt = await doDeed<DecidedReply>(fleet.dataDir, deedOf('exempt'), id, body);
    expect(exempt).toMatchObject({ state: 'exempt', exemptUntil: '2026-12-01', stateReason: 'warm standby' });
    const reply = await list();
    expect([reply.findings.some((each) => each.id === id), reply.setAside]).toEqual([false, 1]);
    const query = { state: 'exempt' };
    const aside = await list(query);
    expect(aside.findings.map((each) => each.id)).toEqual([id]);
    expect(aside).toEqual(await printedJson(fleet.dataDir, findingsRoute, { query }));
    await doDeed(fleet.dataDir, deedOf('reopen'), id);
  });

  it('assigns, and dismisses with a reason', async () => {
    const id = idleOf('nlp');
    expect(await doDeed(fleet.dataDir, deedOf('assign'), id, { to: 'kim' })).toMatchObject({ assignedTo: 'kim' });
    const dismissed = await doDeed(fleet.dataDir, deedOf('dismiss'), id, { reason: 'a demo of ours' });
    expect(dismissed).toMatchObject({ state: 'dismissed', stateReason: 'a demo of ours' });
    await doDeed(fleet.dataDir, deedOf('reopen'), id);
  });

  it.each([
    ['a dismissal without a reason', 'dismiss', { reason: ' ' }, /say why/],
    ['an exemption without an end', 'exempt', { reason: 'x' }, /until/],
    ['an exemption that is over', 'exempt', { reason: 'x', until: '2020-01-01' }, /not in the future/],
    ['a day nobody understands', 'exempt', { reason: 'x', until: 'soon' }, /--until/],
    ['nobody to assign to', 'assign', { to: '' }, /to whom/],
    ['what was decided meanwhile', 'accept', { seen: 'dismissed' }, /changed meanwhile: tester says open/],
  ])('refuses %s, and nothing changes', async (_, change, body, words) => {
    const id = idleOf('vision');
    await doDeed(fleet.dataDir, deedOf('reopen'), id);
    const before = await changesOf(id);
    await expect(doDeed(fleet.dataDir, deedOf(change), id, body)).rejects.toThrow(words);
    expect(await changesOf(id)).toEqual(before);
  });

  it('is for its own team only', async () => {
    const id = idleOf('nlp');
    const before = await changesOf(id);
    await expect(doDeed(fleet.dataDir, deedOf('accept'), id, {}, ofTeam('vision'))).rejects.toThrow(
      'there is no finding',
    );
    expect(await changesOf(id)).toEqual(before);
    const own = await doDeed<DecidedReply>(fleet.dataDir, deedOf('accept'), id, {}, ofTeam('nlp'));
    expect(own).toMatchObject({ state: 'accepted', by: 'lead' });
  });

  it('needs the role of an operator, whatever it is', () => {
    expect(FINDING_DEEDS.map(({ access }) => access.role)).toEqual(FINDING_DEEDS.map(() => 'operator'));
  });
});
