import { expect, it } from 'vitest';
import { fleetFolder } from '../../test/fleet-folder.ts';
import { TWO_TEAMS } from '../../test/two-teams.ts';
import { auditPage } from '../report/audit-page.ts';
import { audit, firstKnown, isLeftBehind } from './audit.ts';
import { findFindings } from './findings/find-findings.ts';
import { changeFinding } from './findings/one-finding.ts';
import { ledgerWindow } from './window.ts';
import { withReader } from './workspace.ts';

const SINCE = new Date('2026-03-01T00:00:00Z');

it.each([
  { name: 'a notebook nobody has used for weeks', detector: 'idle-sessions', liveSince: SINCE, want: true },
  { name: 'a habit of leaving notebooks on at night', detector: 'idle-sessions', liveSince: null, want: false },
  { name: 'a job that is done and still holds its GPUs', detector: 'finished-holders', liveSince: SINCE, want: true },
  { name: 'jobs that did so and ended', detector: 'finished-holders', liveSince: null, want: false },
  { name: 'a pool that stands empty', detector: 'empty-nodes', liveSince: null, want: true },
  { name: 'a run that waits for its data', detector: 'starved-runs', liveSince: SINCE, want: false },
  {
    name: 'a standby that may be needed',
    detector: 'forgotten-resources',
    kind: 'question',
    liveSince: SINCE,
    want: false,
  },
  {
    name: 'money of nobody, which is asked about',
    detector: 'untagged-spend',
    kind: 'question',
    liveSince: null,
    want: true,
  },
] as const)('of $name: $want', ({ want, ...finding }) =>
  expect(isLeftBehind({ kind: 'capacity', ...finding })).toBe(want),
);

it.each([
  {
    name: 'of a window that begins before there is a fact, since the first fact',
    firstDay: '2026-03-09',
    want: '03-09',
  },
  { name: 'of facts that are older, since the window begins', firstDay: '2026-02-01', want: '03-01' },
  { name: 'of no facts at all, since the window begins', firstDay: undefined, want: '03-01' },
])('what is of nobody is so $name', ({ firstDay, want }) =>
  expect(firstKnown({ from: SINCE }, firstDay)).toEqual(new Date(`2026-${want}T00:00:00Z`)),
);

it('of one team has what is that team’s, and says so', async () => {
  const fleet = await fleetFolder(TWO_TEAMS);
  const now = { at: new Date('2026-03-02T22:00:00Z'), by: 'newest fact' as const };
  const pageOf = async (team?: string): Promise<string> =>
    withReader(fleet.dataDir, async (space) => {
      const window = ledgerWindow('all', now.at, space.scope);
      const answer = await audit(space, { window, now, ...(team !== undefined && { team }) });
      return auditPage(answer, 200).join('\n');
    });
  // Both notebooks were left today.
  expect(await pageOf()).toMatch(/\neverything;[^]*\n2 more things began less than 7 days ago: bursar findings$/);
  expect(await pageOf('nlp')).toMatch(
    /\nteam nlp;[^]*\n1 more thing began less than 7 days ago: bursar findings --team nlp$/,
  );
  await fleet.remove();
});

it('an exemption of what is the platform’s, or of what has an owner, is not asked about while it lasts', async () => {
  const fleet = await fleetFolder(TWO_TEAMS);
  const now = { at: new Date('2026-03-02T22:00:00Z'), by: 'newest fact' as const };
  const { findings } = await withReader(fleet.dataDir, async (space) =>
    findFindings(space, { window: ledgerWindow('all', now.at, space.scope), now: now.at, nowBy: now.by }),
  );
  expect(new Set(findings.map(({ ownerSubject }) => ownerSubject === null))).toEqual(new Set([true, false]));
  for (const { number } of findings)
    await changeFinding(fleet.dataDir, number ?? 0, {
      change: 'exempt',
      now: now.at,
      at: now.at,
      by: 'kim',
      until: '2026-03-31',
      reason: 'the launch',
    });
  const answer = await withReader(fleet.dataDir, async (space) =>
    audit(space, { window: ledgerWindow('all', now.at, space.scope), now }),
  );
  expect(answer.items).toEqual([]);
  await fleet.remove();
});
