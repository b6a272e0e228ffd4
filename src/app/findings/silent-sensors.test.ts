import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { detector } from '../../facts/detector.ts';
import type { Claim, WasteCategory } from '../../facts/detector.ts';
import { NO_RULES } from '../rules/rule.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { lookForFindings } from './find-findings.ts';
import { partsOf } from './settle-claims.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-03-02T00:00:00Z');
const at = (hour: number): string => `${new Date(START + hour * HOUR_MS).toISOString().slice(0, 19)}Z`;
const samples = (device: string, from: number, until: number): string =>
  Array.from({ length: (until - from) * 2 }, (_, half) => `${device}|${at(from + half / 2)}|1800|0`).join('\n');

const FLEET = {
  nodes: csv(`
    node_id|present_from|purchase|cluster|gpu_count|model
    n1     |${at(0)}    |owned   |a      |3        |H100`),
  devices: csv(`
    device_id|node_id|model
    heard|n1|H100
    half|n1|H100
    never|n1|H100`),
  allocations: csv(`
    source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|namespace|user_name|workload_kind|workload_name
    kubernetes|u1|n1|heard|${at(0)}| |1|a|nlp|mchen|Notebook|one
    kubernetes|u2|n1|half |${at(0)}| |1|a|nlp|mchen|Notebook|two
    kubernetes|u3|n1|never|${at(0)}| |1|a|nlp|mchen|Notebook|three`),
  rates: csv(`
    model|usd_per_gpu_hour
    H100|3.00`),
  samples: csv(`
    device_id|ts|step_s|engine_permille
    ${samples('heard', 0, 48)}
    ${samples('half', 0, 36)}`),
};

const SUBJECTS = ['u1', 'u2', 'u3'].map((id) => `job kubernetes/${id}/0`);

/** A detector that looks at nothing and claims everything. */
const greedy = (category: WasteCategory) =>
  detector({
    name: 'greedy',
    title: 'everything',
    category,
    factor: 'utilisation',
    basis: 'measured',
    blastRadius: 1,
    blast: 'None.',
    effort: 'none',
    options: z.object({}),
    ask: () => ({}),
    judge: () =>
      SUBJECTS.map((subject): Claim => ({
        about: subject,
        ownerSubject: subject,
        what: subject,
        because: [],
        fix: [],
        unless: '',
        takes: [{ subject, firstDay: '2026-03-02', lastDay: '2026-03-03', category }],
      })),
  });

describe('what can be claimed of a GPU whose sensors fall silent', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder(FLEET);
  });
  afterAll(() => fleet.remove());

  const claimed = async (category: WasteCategory): Promise<string[]> => {
    const now = new Date(at(48));
    return withReader(
      fleet.dataDir,
      async (space) => {
        const window = ledgerWindow('all', now, space.scope);
        const request = { window, now, detectors: [greedy(category)], keepsNumbers: false };
        const { settled } = await lookForFindings(space, request);
        const parts = await Promise.all(settled.map(({ settled: { claimNo } }) => partsOf(space, claimNo)));
        return parts.flatMap((each) => each.map(({ deviceId, day }) => `${deviceId} ${day}`)).toSorted();
      },
      { rules: NO_RULES },
    );
  };

  it('idle time: the days that were measured, and no finding where none was', async () => {
    expect(await claimed('idle')).toEqual(['half 2026-03-02', 'heard 2026-03-02', 'heard 2026-03-03']);
  });

  it('unknown time: all of it, that it is unknown is what is known', async () => {
    expect(await claimed('unknown')).toEqual(['half 2026-03-03', 'never 2026-03-02', 'never 2026-03-03']);
  });
});
