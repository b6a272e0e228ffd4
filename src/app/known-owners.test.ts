import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../test/small-fleet.ts';
import { readConfig } from './config/config-file.ts';
import { checkOwner, checkTeam } from './known-owners.ts';
import { NO_RULES } from './rules/rule.ts';
import { withReader } from './workspace.ts';

const WAITING = csv(`
  source|allocation_id|submitted_at|gpu_count|cluster|account|user_name
  slurm |301|2026-03-02T11:00:00Z|1|a|robots|ada`);

describe('a team that is asked for', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder({ ...SMALL_FLEET, waiting: WAITING });
  });
  afterAll(() => fleet.remove());

  const check = async (team: string, yaml?: string, tellsOthers = true): Promise<string> => {
    const config = yaml === undefined ? undefined : readConfig(yaml);
    return withReader(
      fleet.dataDir,
      async (space) =>
        checkTeam(space, { team, config, tellsOthers }).then(
          () => 'known',
          ({ code, hint }: { code: string; hint: string }) => `${code}: ${hint}`,
        ),
      { rules: config?.rules ?? NO_RULES },
    );
  };

  it.each([
    ['has money in some window', 'nlp', undefined],
    ['only waits', 'robots', undefined],
    [
      'a rule names, though nothing is its own yet',
      'speech',
      'rules:\n  - when: {account: none-yet}\n    set: {team: speech}\n',
    ],
    [
      'has its name by a rule that reads it',
      'x-nlp',
      'rules:\n  - when: {account: nlp}\n    set: {team: "x-{account}"}\n',
    ],
    ['went by another name before', 'words', 'aliases:\n  team: {words: nlp}\n'],
    [
      'has a part in a pool by weight',
      'ops',
      'shared:\n  - {name: control, when: {account: vision}, split: {ops: 1, nlp: 2}}\n',
    ],
    ['has a cost centre', 'legal', 'teams:\n  legal: {cost_centre: "471"}\n'],
  ])('is known where it %s', async (_, team, yaml) => {
    expect(await check(team, yaml)).toBe('known');
  });

  it.each([
    ['one letter off', 'nlpp', 'unknown-team: Did you mean nlp?'],
    ['like none', 'zzz', 'unknown-team: Teams: asr, nlp, platform, robots, vision.'],
    ['the word for nobody', 'unattributed', 'filter team='],
    ['no name at all', '', 'filter team='],
  ])('is refused where it is %s', async (_, team, want) => {
    expect(await check(team)).toContain(want);
  });

  it('is not told who else there is where one sees one team', async () => {
    expect(await check('npl', undefined, false)).toMatch(/^unknown-team: Whoever sees the whole fleet/);
  });
});

describe('an owner that is asked for', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder({ ...SMALL_FLEET, waiting: WAITING });
  });
  afterAll(() => fleet.remove());

  it.each([
    ['a person', 'mchen', 'known'],
    ['a team', 'nlp', 'known'],
    ['both, as they are shown', 'nlp / apatel', 'known'],
    ['nobody, as it is shown', 'platform (no owner)', 'known'],
    ['a person without a team', 'no team / kim', 'known'],
    ['who only waits', 'ada', 'known'],
    ['misspelt', 'apatl', 'unknown-owner: Did you mean apatel?'],
    ['like none', 'zzz', 'unknown-owner: bursar findings --small shows whose each is.'],
  ])('is %s', async (_, owner, want) => {
    const said = await withReader(fleet.dataDir, async (space) =>
      checkOwner(space, owner).then(
        () => 'known',
        ({ code, hint }: { code: string; hint: string }) => `${code}: ${hint}`,
      ),
    );
    expect(said).toBe(want);
  });
});
