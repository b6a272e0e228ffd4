import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allocationLines } from '../../src/demo/fact-lines.ts';
import { unmanaged } from '../../src/demo/world/unmanaged.ts';
import { readExposition, type ExpositionSample } from '../../src/sources/exposition/parse-exposition.ts';
import { labelsOfDevice } from '../../src/sources/gpu-metrics/device-labels.ts';
import { writeHistory } from './history.ts';
import { kubernetesOnly } from './kubernetes-only.ts';
import { PAGES, serveExporter, type LiveExporter } from './live.ts';
import { play, type Play } from './play.ts';
import { FAMILIES } from './series.ts';
import { deviceIdOf, heldTruth } from './truth.ts';
import { worldClock } from './world-clock.ts';

const DAY_S = 86_400;
const FROM = Date.UTC(2026, 10, 2) / 1000;
const STEP_S = 600;
/** A Tuesday afternoon: people are there, services are called. */
const MOMENT = FROM + DAY_S + 14 * 3600 + 120;
const COLLECTED_AT = MOMENT - 120;

describe('a world that is played', () => {
  let folder: string;
  let played: Play;
  let live: LiveExporter;
  let history: readonly ExpositionSample[];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-exporter-'));
    played = play(kubernetesOnly(unmanaged), { seed: 3, gpus: 48, from: FROM, until: FROM + 3 * DAY_S, stepS: STEP_S });
    live = await serveExporter(played, worldClock(MOMENT, 0));
    writeHistory(played, join(folder, 'history.txt'), FROM + 2 * DAY_S);
    history = samplesOf(readFileSync(join(folder, 'history.txt'), 'utf8'), 'openmetrics');
  });
  afterAll(async () => {
    await live.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is worth looking at: slices, shared GPUs, several machines, pods that wait, end and vanish', () => {
    const { pods } = played;
    expect(pods.some(({ devices }) => devices.some(({ parent }) => parent !== undefined))).toBe(true);
    expect(pods.some(({ node }) => node.pool.sharing === 'time-slice')).toBe(true);
    expect(pods.some(({ createdAt, from }) => createdAt < from)).toBe(true);
    expect(new Set(pods.map(({ end }) => end))).toEqual(new Set(['Succeeded', 'Failed', 'deleted']));
  });

  it('has no two pods of one name at the same time', () => {
    const newest = new Map<string, number>();
    for (const { namespace, name, createdAt, goneAt } of played.pods.toSorted((a, b) => a.createdAt - b.createdAt)) {
      const key = `${namespace}/${name}`;
      expect(newest.get(key) ?? 0, key).toBeLessThanOrEqual(createdAt);
      newest.set(key, goneAt);
    }
  });

  it('is shown in lines that all can be read, each of a family with a type, none twice', async () => {
    for (const page of PAGES) {
      const samples = samplesOf(await pageOf(live, page), 'text');
      expect(samples.length, page).toBeGreaterThan(0);
      const keys = samples.map(({ name, labels }) => JSON.stringify([name, labels]));
      expect(new Set(keys).size, page).toBe(keys.length);
      expect(samples.filter(({ name }) => FAMILIES[name] === undefined)).toEqual([]);
    }
  });

  it('names in DCGM the pods that hold a device at the moment, once for each, and nobody else', async () => {
    const samples = samplesOf(await pageOf(live, 'dcgm'), 'text').filter(({ name }) => name === 'DCGM_FI_DEV_FB_USED');
    const truth = heldTruth(played, COLLECTED_AT, COLLECTED_AT + 1);
    const said = new Set<string>();
    for (const { labels } of samples) {
      const { deviceId, mig, pod } = labelsOfDevice(labels)!;
      const id = mig === undefined ? deviceId : deviceIdOf(deviceNamed(played, deviceId, mig.instance));
      if (pod !== undefined) said.add(`${id} ${pod.namespace}/${pod.name}`);
    }
    const shown = new Set(samples.map(({ labels }) => labels['UUID']));
    const held = truth.filter(({ device }) => shown.has((device.parent ?? device).id));
    expect(held.length).toBeGreaterThan(10);
    expect(said).toEqual(new Set(held.map(({ deviceId, pod }) => `${deviceId} ${pod.namespace}/${pod.name}`)));
  });

  it('has in its history what the page said at that moment', async () => {
    const then = history.filter(({ name, timestampMs = 0 }) => {
      return name.startsWith('DCGM_FI_PROF') && Math.floor(timestampMs / 1000) === COLLECTED_AT;
    });
    const now = samplesOf(await pageOf(live, 'dcgm'), 'text').filter(({ name }) => name.startsWith('DCGM_FI_PROF'));
    const what = ({ name, labels, value }: ExpositionSample): string =>
      [name, labels['UUID'], labels['GPU_I_ID'], value].join(' ');
    expect(then.length).toBeGreaterThan(100);
    expect(then.map(what).toSorted()).toEqual(now.map(what).toSorted());
  });

  it('has in its history an idle GPU that seems to belong to the exporter, where its labels were renamed', () => {
    const renamed = history.filter(({ labels }) => labels['namespace'] === 'gpu-operator');
    expect(renamed.some(({ labels }) => labels['exported_pod'] !== undefined)).toBe(true);
    expect(renamed.some(({ labels }) => labels['exported_pod'] === undefined)).toBe(true);
    expect(renamed.filter(({ labels }) => labels['exported_pod'] === '')).toEqual([]);
  });

  it('gives each series its times in order, and none at or after the end', () => {
    const newest = new Map<string, number>();
    const offences: string[] = [];
    for (const { name, labels, timestampMs = 0 } of history) {
      const key = JSON.stringify([name, labels]);
      if ((newest.get(key) ?? 0) >= timestampMs) offences.push(key);
      newest.set(key, timestampMs);
    }
    expect(offences).toEqual([]);
    expect([...newest.values()].filter((ms) => ms >= (FROM + 2 * DAY_S) * 1000)).toEqual([]);
  });

  it('counts tokens that never become fewer while a replica lives', () => {
    const tokens = history.filter(({ name }) => name === 'vllm:generation_tokens_total');
    const last = new Map<string, number>();
    let fewer = 0;
    for (const { labels, value } of tokens) {
      if ((last.get(labels['pod']!) ?? 0) > value) fewer += 1;
      last.set(labels['pod']!, value);
    }
    expect(fewer).toBe(0);
    expect([...last.values()].filter((value) => value > 0).length).toBeGreaterThan(2);
  });

  it('tells the same holdings as truth that the demo tells as a scheduler', () => {
    const until = FROM + 3 * DAY_S;
    const rows = played.days.flatMap((day) => [...allocationLines(day)].map((line) => line.split(',')));
    const told = rows.map(([, , , node, , from, end, , device]) => {
      return [node, device, from, end === '' ? iso(until) : end].join(' ');
    });
    const truth = heldTruth(played, FROM, until);
    expect(
      truth
        .map(({ pod, device, ...held }) => [pod.node.id, device.id, iso(held.from), iso(held.until)].join(' '))
        .toSorted(),
    ).toEqual(told.filter((row) => !row.endsWith('undefined')).toSorted());
    const activeS = truth.reduce((sum, each) => sum + each.activeS, 0);
    const heldS = truth.reduce((sum, each) => sum + each.heldS, 0);
    expect(activeS / heldS).toBeGreaterThan(0.2);
    expect(activeS / heldS).toBeLessThan(0.9);
  });

  it('has a clock that is moved, and says so where there is no world', async () => {
    const move = async (word: string): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`${live.url}/clock`, { method: 'POST', body: word });
      return { status: answer.status, text: await answer.text() };
    };
    expect(await move('+60')).toEqual({ status: 200, text: `${new Date((MOMENT + 60) * 1000).toISOString()}\n` });
    expect(await move('2027-01-01T00:00:00Z')).toEqual({ status: 200, text: '2027-01-01T00:00:00.000Z\n' });
    const after = await fetch(`${live.url}/dcgm`);
    expect([after.status, await after.text()]).toEqual([
      503,
      'The world is played from 2026-11-02T00:00:00.000Z to 2026-11-05T00:00:00.000Z.\n',
    ]);
    expect((await move('soon')).text).toContain('the clock does not know "soon"');
    await move(iso(MOMENT));
  });
});

function samplesOf(text: string, format: 'text' | 'openmetrics'): readonly ExpositionSample[] {
  const samples: ExpositionSample[] = [];
  const reader = readExposition((sample) => samples.push(sample), { format });
  reader.push(text);
  expect(reader.end().notUnderstood).toEqual([]);
  return samples;
}

async function pageOf({ url }: LiveExporter, page: string): Promise<string> {
  const answer = await fetch(`${url}/${page}`);
  expect(answer.status).toBe(200);
  return answer.text();
}

function deviceNamed({ nodes }: Play, id: string, instance: string | number) {
  const [parentId] = id.split('/');
  const slices = nodes.flatMap(({ devices }) => devices).filter(({ parent }) => parent?.id === parentId);
  return slices[Number(instance) - 7]!;
}

function iso(moment: number): string {
  return new Date(moment * 1000).toISOString().replace('.000', '');
}
