import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Haul } from '../../../facts/source.ts';
import { azureSource } from '../azure-source.ts';
import { gcpSource } from '../gcp-source.ts';

const sample = (name: string) => readFile(fileURLToPath(new URL(`samples/${name}`, import.meta.url)), 'utf8');

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-lists-'));
  file = join(folder, 'fleet.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function writeList(text: string, at: Date): Promise<void> {
  await writeFile(file, text);
  await utimes(file, at, at);
}

async function haulOf(cursor?: unknown): Promise<Haul> {
  const request = { now: new Date(), signal: new AbortController().signal, progress: () => undefined };
  for await (const haul of gcpSource({ name: 'gcp', file }).pull(cursor, request)) return haul;
  throw new Error('no haul');
}

const rowsOf = (haul: Haul, batch: string) => haul.facts.find((facts) => facts.batch === batch)?.rows ?? [];
const names = (haul: Haul, batch: string) => rowsOf(haul, batch).map((row) => row['allocation_id']);

describe('a list that is written again and again', () => {
  const monday = new Date('2026-11-16T00:00:00Z');
  const tuesday = new Date('2026-11-17T00:00:00Z');

  it('what runs is open, and what a newer list no longer has ended when it was last listed', async () => {
    const text = await sample('gcloud-instances.json');
    await writeList(text, monday);
    const first = await haulOf();
    expect(names(first, 'open')).toEqual(['vision-big', 'labeling-t4', 'vision-big@heron-staging/us-east4-c']);
    expect(names(first, 'ended/2026-11-12')).toEqual(['notebook-l4']);
    expect(first.coveredUntil).toEqual(monday);
    expect(first.gpus).toEqual({ seen: 14, notRead: 0 });

    expect(await haulOf(first.cursor)).toMatchObject({ facts: [], coveredUntil: monday });

    const fewer = (JSON.parse(text) as { name: string }[]).filter(({ name }) => name !== 'labeling-t4');
    await writeList(JSON.stringify(fewer), tuesday);
    const second = await haulOf(first.cursor);
    expect(names(second, 'open')).toEqual(['vision-big', 'vision-big@heron-staging/us-east4-c']);
    expect(rowsOf(second, 'ended/2026-11-16')).toMatchObject([{ allocation_id: 'labeling-t4', held_until: monday }]);
    expect(rowsOf(second, 'nodes/ended/2026-11-16')).toMatchObject([{ node_id: 'labeling-t4', present_until: monday }]);
  });

  it('every holding names its cluster, or it would speak for all of them', async () => {
    await writeList(await sample('gcloud-instances.json'), monday);
    const { facts } = await haulOf();
    expect(new Set(facts.flatMap(({ rows }) => rows.map((row) => row['cluster'])))).toEqual(new Set(['gcp']));
  });
});

describe('how a list is', () => {
  const check = () => azureSource({ name: 'azure', file }).check(new AbortController().signal);

  it('a fresh one is fine, and still says nothing of what the GPUs do', async () => {
    await writeList(await sample('az-vm-list-d.json'), new Date());
    const health = await check();
    expect(health).toMatchObject({ state: 'ok', gpus: 10 });
    expect(health.advice[0]?.missing).toContain('unknown, not idle');
  });

  it('an old one says how old, and how to write it again', async () => {
    await writeList(await sample('az-vm-list-d.json'), new Date(Date.now() - 9.5 * 86_400_000));
    expect(await check()).toMatchObject({
      state: 'partial',
      says: expect.stringContaining('9 days old') as string,
      todo: `az vm list -d --output json > ${file}`,
    });
  });

  it('one that is not there', async () => {
    expect(await check()).toMatchObject({ state: 'down', says: `${file} does not exist` });
  });
});
