import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../../../facts/operation-error.ts';
import { AZ, readAzList } from './az-list.ts';
import { GCLOUD, readGcloudList } from './gcloud-list.ts';
import { readList } from './list-file.ts';

const sample = (name: string): Buffer => readFileSync(fileURLToPath(new URL(`samples/${name}`, import.meta.url)));
const gcloud = readGcloudList(readList(sample('gcloud-instances.json'), 'fleet.json', GCLOUD));
const az = readAzList(readList(sample('az-vm-list-d.json'), 'vms.json', AZ));

describe('what gcloud lists', () => {
  it('gives every GPU machine with its last start, and says what became of the others', () => {
    expect(gcloud.listed).toBe(6);
    expect(gcloud.vms.length + gcloud.skipped.reduce((sum, { count }) => sum + count, 0)).toBe(6);
    expect(gcloud.skipped).toEqual([
      { reason: 'no GPU', count: 1, example: 'bastion (e2-medium)' },
      { reason: 'a machine type with GPUs nobody here knows', count: 1, example: 'from-the-future (a9-hypergpu-8g)' },
    ]);
  });

  it('a machine that runs', () => {
    expect(gcloud.vms[0]).toEqual({
      cloud: 'gcp',
      id: 'vision-big',
      resourceId: '4810220955170316113',
      region: 'us-central1',
      zone: 'us-central1-a',
      instanceType: 'a3-highgpu-8g',
      purchase: 'on-demand',
      gpus: { model: 'H100', count: 8 },
      name: 'vision-big',
      user: { name: 'rosa', from: 'tag owner' },
      from: new Date('2026-11-09T18:00:00Z'),
      tags: {
        owner: 'rosa',
        team: 'vision',
        env: 'research',
        'gcp:project': 'heron-research',
        'gcp:service-account': 'trainer@heron-research.iam.example.com',
      },
    });
  });

  const told = Object.fromEntries(gcloud.vms.map((vm) => [vm.resourceId, vm]));
  const cases: Record<string, { id: string; want: object }> = {
    'spot, with GPUs that were attached': {
      id: '7310220955170316114',
      want: { purchase: 'spot', gpus: { model: 'T4', count: 2 }, user: { name: 'kenji', from: 'tag created-by' } },
    },
    'a stopped machine is told with its last run': {
      id: '9910220955170316115',
      want: { from: new Date('2026-11-12T16:00:00Z'), until: new Date('2026-11-12T22:30:00Z') },
    },
    'a second machine of a name carries where it stands': {
      id: '3310220955170316118',
      want: { id: 'vision-big@heron-staging/us-east4-c', purchase: 'committed', isDown: true },
    },
  };
  it.each(Object.entries(cases))('%s', (_, { id, want }) => {
    expect(told[id]).toMatchObject(want);
  });
});

describe('what az lists', () => {
  it('gives every GPU machine that is billed, and says what became of the others', () => {
    expect(az.listed).toBe(6);
    expect(az.vms.map(({ id, gpus, isDown }) => [id, gpus.count, gpus.model, isDown === true])).toEqual([
      ['speech-01', 8, 'H100', false],
      ['sweep-spot', 1, 'A100-80GB', false],
      ['viewer', 1, '1/6A10', true],
    ]);
    expect(az.skipped).toEqual([
      { reason: 'deallocated: costs no GPU money', count: 1, example: 'v100-old' },
      { reason: 'no GPU', count: 1, example: 'jump (Standard_D4s_v5)' },
      { reason: 'a size with GPUs nobody here knows', count: 1, example: 'preview (Standard_ND256isr_X999_v9)' },
    ]);
  });

  it('a machine that runs', () => {
    expect(az.vms[0]).toEqual({
      cloud: 'azure',
      id: 'speech-01',
      resourceId:
        '/subscriptions/3f1c9a52-0000-4000-8000-00000000aa01/resourcegroups/ml-training/providers/microsoft.compute/virtualmachines/speech-01',
      region: 'eastus',
      zone: 'eastus-2',
      instanceType: 'Standard_ND96isr_H100_v5',
      purchase: 'on-demand',
      gpus: { model: 'H100', count: 8 },
      name: 'Speech-01',
      user: { name: 'farah@heron.example', from: 'tag Owner' },
      from: new Date('2026-11-02T08:15:30Z'),
      tags: {
        Owner: 'farah@heron.example',
        Team: 'speech',
        'azure:subscription': '3f1c9a52-0000-4000-8000-00000000aa01',
        'azure:resource-group': 'ml-training',
        'azure:power-state': 'running',
      },
    });
  });

  it('an administrator’s name is a guess, and the portal’s default is nobody', () => {
    expect(az.vms.map(({ user }) => user)).toEqual([
      { name: 'farah@heron.example', from: 'tag Owner' },
      { name: 'okafor', from: 'admin user name (assumed)' },
      undefined,
    ]);
  });

  it('says that stopped is still billed, and how to end it', () => {
    expect(az.notes).toContain(
      'viewer is stopped but not deallocated, so it is still billed: az vm deallocate -g desktops -n viewer',
    );
  });

  it('a name never becomes a command', () => {
    const vm = {
      name: 'x; rm -rf ~',
      hardwareProfile: { vmSize: 'Standard_NC6' },
      timeCreated: '2026-11-01T00:00:00Z',
    };
    const { notes } = readAzList([{ ...vm, powerState: 'VM stopped', resourceGroup: "a'b" }]);
    expect(notes[0]).toMatch(/-g 'a'\\''b' -n 'x; rm -rf ~'$/);
  });

  it('without -d nobody knows what runs: taken, and said', () => {
    const plain = { name: 'a', hardwareProfile: { vmSize: 'Standard_NC6' }, timeCreated: '2026-11-01T00:00:00Z' };
    const list = readAzList([plain]);
    expect(list.vms).toHaveLength(1);
    expect(list.notes[0]).toBe(
      '1 machines without a power state are taken to run, e.g. a: list them with -d: az vm list -d --output json',
    );
  });

  it('reads the instance view and the shape of REST replies', () => {
    const statuses = [{ code: 'ProvisioningState/succeeded' }, { code: 'PowerState/deallocated' }];
    const properties = {
      hardwareProfile: { vmSize: 'Standard_NC6' },
      timeCreated: '2026-11-01T00:00:00Z',
      instanceView: { statuses },
    };
    expect(readAzList([{ name: 'a', properties }]).skipped).toEqual([
      { reason: 'deallocated: costs no GPU money', count: 1, example: 'a' },
    ]);
  });
});

describe('the file of a list', () => {
  const text = '[{"name": "a"}]';
  const read: Record<string, { bytes: Buffer; want: unknown }> = {
    'an array': { bytes: Buffer.from(text), want: [{ name: 'a' }] },
    packed: { bytes: gzipSync(text), want: [{ name: 'a' }] },
    'as PowerShell writes it': { bytes: Buffer.from(`\uFEFF${text}`, 'utf16le'), want: [{ name: 'a' }] },
    'a REST reply of Google': { bytes: Buffer.from(`{"kind": "x", "items": ${text}}`), want: [{ name: 'a' }] },
    'a REST reply of Azure': { bytes: Buffer.from(`{"value": ${text}, "nextLink": "x"}`), want: [{ name: 'a' }] },
    'no machines at all': { bytes: Buffer.from('[]'), want: [] },
  };
  it.each(Object.entries(read))('%s', (_, { bytes, want }) => {
    expect(readList(bytes, 'x.json', GCLOUD)).toEqual(want);
  });

  const refused: Record<string, { bytes: Buffer; want: string; code: string }> = {
    'the table for people': {
      bytes: Buffer.from('NAME  ZONE  STATUS\na b c'),
      code: 'not-json',
      want: 'x.json is a table for people: gcloud can print JSON',
    },
    'a page to sign in': {
      bytes: Buffer.from('<html>'),
      code: 'not-json',
      want: 'x.json is not JSON, or was cut off: gcloud can print JSON',
    },
    'half a file': {
      bytes: Buffer.from('[{"name": '),
      code: 'not-json',
      want: 'x.json is not JSON, or was cut off: gcloud can print JSON',
    },
    'half a packed file': {
      bytes: gzipSync(text).subarray(0, 20),
      code: 'truncated-file',
      want: 'x.json is a gzip file that was cut off or damaged',
    },
    nothing: { bytes: Buffer.from(' \n'), code: 'empty-file', want: 'x.json is empty' },
    'something else': {
      bytes: Buffer.from('{"error": {"code": 403}}'),
      code: 'not-a-list',
      want: 'x.json is JSON, but no list of machines',
    },
  };
  it.each(Object.entries(refused))('refuses %s', (_, { bytes, want, code }) => {
    const failure = failureOf(() => readList(bytes, 'x.json', GCLOUD));
    expect(failure).toBeInstanceOf(OperationError);
    expect(failure).toMatchObject({ code, message: want, hint: expect.stringMatching(/\w/) as string });
  });

  it('refuses a list of another cloud, which would empty what was there', () => {
    const failure = failureOf(() => readAzList(readList(sample('gcloud-instances.json'), 'x.json', AZ)));
    expect(failure).toMatchObject({ code: 'wrong-list', message: 'none of the 6 entries is what az lists' });
    expect(failureOf(() => readGcloudList(readList(sample('az-vm-list-d.json'), 'x.json', AZ)))).toMatchObject({
      code: 'wrong-list',
    });
  });
});

function failureOf(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (failure) {
    return failure;
  }
}
