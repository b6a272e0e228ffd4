import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { IDLE_FLEET } from '../../../test/idle-fleet.ts';
import { served } from '../../../test/served.ts';
import type { Served } from '../../../test/served.ts';
import { ledgerWindow } from '../window.ts';
import { decideFinding } from './decide-finding.ts';
import { findFindings } from './find-findings.ts';

let fleet: FleetFolder;
let server: Served;
let number = 0;
beforeAll(async () => {
  fleet = await fleetFolder(IDLE_FLEET);
  const configPath = join(dirname(fleet.dataDir), 'elsewhere.yaml');
  await writeFile(configPath, 'rules:\n  - when: {namespace: nlp}\n    set: {team: research}\n');
  server = await served(fleet.dataDir, { configPath });
  number = await server.desk.look('find', async ({ space, now }) => {
    const window = ledgerWindow('30d', now.at, space.scope);
    const { findings } = await findFindings(space, { window, now: now.at, nowBy: now.by });
    return findings.find(({ team }) => team === 'research')?.number ?? 0;
  });
});
afterAll(async () => {
  await server.close();
  await fleet.remove();
});

const parts = () => ({ dataDir: fleet.dataDir, standing: server.standing, desk: server.desk });
const nobodyLooks = { look: async () => Promise.reject(new Error('the ledger was asked')) };

it('whoever sees the whole fleet decides without a look at the ledger', async () => {
  const { record, history } = await decideFinding({ ...parts(), desk: nobodyLooks }, number, {
    change: 'accept',
    by: 'kim',
  });
  expect(record).toMatchObject({ state: 'accepted', by: 'kim' });
  expect(history.at(-1)).toMatchObject({ change: 'accept', by: 'kim' });
});

it('one team’s word is looked up at the desk, by the rules the server was started with', async () => {
  await expect(
    decideFinding({ ...parts(), desk: nobodyLooks }, number, { change: 'accept', by: 'kim', team: 'research' }),
  ).rejects.toThrow('the ledger was asked');
  await expect(decideFinding(parts(), number, { change: 'accept', by: 'kim', team: 'nlp' })).rejects.toMatchObject({
    code: 'no-such-finding',
  });
  const { record } = await decideFinding(parts(), number, { change: 'assign', to: 'lee', by: 'kim', team: 'research' });
  expect(record.assignedTo).toBe('lee');
});

it('of two who assign it at once, the second is told who has it', async () => {
  const { record } = await decideFinding(parts(), number, { change: 'assign', to: 'ann', by: 'kim' });
  const assign = { change: 'assign', by: 'kim', seen: record.state, seenAssignedTo: 'ann' } as const;
  await decideFinding(parts(), number, { ...assign, to: 'bo' });
  await expect(decideFinding(parts(), number, { ...assign, to: 'cy' })).rejects.toMatchObject({
    code: 'finding-changed',
    message: `F-${number} has changed meanwhile: it is assigned to bo`,
  });
});

it('somebody who decides while the ledger is asked is first, and the other is told so', async () => {
  const decide = async (desk: Pick<Served['desk'], 'look'>, by: string) =>
    decideFinding({ ...parts(), desk }, number, {
      change: 'dismiss',
      reason: 'ours',
      by,
      team: 'research',
      seen: 'accepted',
    });
  await decideFinding(parts(), number, { change: 'accept', by: 'kim' });
  const slowly: Pick<Served['desk'], 'look'> = {
    look: async (name, work) => {
      const told = await server.desk.look(name, work);
      await decide(server.desk, 'lee');
      return told;
    },
  };
  await expect(decide(slowly, 'kim')).rejects.toMatchObject({
    code: 'finding-changed',
    message: `F-${number} has changed meanwhile: lee says dismissed`,
  });
});
