import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { stopMachines, type StoppableMachine } from './stop-machines.ts';

const machine = (over: Partial<StoppableMachine>): StoppableMachine => ({
  nodeId: 'n1',
  resourceId: null,
  provider: 'AWS',
  region: null,
  zone: null,
  ...over,
});
const AZURE_ID = '/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/n1';

it.each([
  {
    name: 'machines of two regions are two commands',
    of: [
      machine({ resourceId: 'i-0a', region: 'us-east-1' }),
      machine({ resourceId: 'arn:aws:ec2:us-west-2:1:instance/i-0b' }),
      machine({ resourceId: 'i-0c', region: 'us-east-1' }),
    ],
    want: [
      'aws ec2 stop-instances --instance-ids i-0a i-0c --region us-east-1',
      'aws ec2 stop-instances --instance-ids i-0b --region us-west-2',
    ],
  },
  {
    name: 'where the region is no fact it is to be filled in',
    of: [machine({ resourceId: 'i-0a' })],
    want: ['# the region is not known: add --region', 'aws ec2 stop-instances --instance-ids i-0a'],
  },
  {
    name: 'the name of a host is no id of Amazon',
    of: [machine({ resourceId: 'n1', region: 'us-east-1' })],
    want: ['# stop n1 where it was started; what is owned can be lent out instead'],
  },
  {
    name: 'a machine nobody named is told by its GPU',
    of: [machine({ provider: null, nodeId: null, deviceId: 'GPU-b0' })],
    want: ['# stop the machine with GPU-b0 where it was started; what is owned can be lent out instead'],
  },
  {
    name: 'of a machine of which nothing is known nothing is made up',
    of: [machine({ provider: null, nodeId: null, resourceId: '' })],
    want: ['# stop a machine without a name where it was started; what is owned can be lent out instead'],
  },
  {
    name: 'Google takes names and a zone, not the number it bills by',
    of: [machine({ provider: 'Google Cloud', resourceId: '4711', nodeId: 'box@p/z', zone: 'europe-west4-a' })],
    want: ['gcloud compute instances stop box --zone europe-west4-a'],
  },
  {
    name: 'a path of Google names project and zone',
    of: [
      machine({ provider: 'gcp', resourceId: '//compute.googleapis.com/projects/p/zones/us-central1-a/instances/b' }),
    ],
    want: ['gcloud compute instances stop b --zone us-central1-a --project p'],
  },
  {
    name: 'a zone nobody knows is asked for',
    of: [machine({ provider: 'gcp', resourceId: 'b' })],
    want: [
      `gcloud compute instances stop b --zone "$(gcloud compute instances list --filter=name=b --format='value(zone.basename())')"`,
    ],
  },
  {
    name: 'Azure takes full ids',
    of: [machine({ provider: 'Microsoft', resourceId: AZURE_ID })],
    want: [`az vm deallocate --ids ${AZURE_ID}`],
  },
  {
    name: 'and is asked for the id of a name',
    of: [machine({ provider: 'azure', resourceId: 'n1' })],
    want: [`az vm deallocate --ids "$(az vm list --query "[?name=='n1'].id" --output tsv)"`],
  },
  {
    name: 'a machine of a scale set comes again',
    of: [machine({ provider: 'azure', resourceId: '/subscriptions/s/x/virtualMachineScaleSets/pool' })],
    want: [
      '# of a scale set, which starts others in their place: lower its count (az aks nodepool scale, az vmss scale): pool',
    ],
  },
  {
    name: 'a cloud without a command of its own',
    of: [machine({ provider: 'Polar Compute' }), machine({ provider: 'Polar Compute', nodeId: 'n2' })],
    want: ['# stop n1, n2 where they were started; what is owned can be lent out instead'],
  },
])('$name', ({ of, want }) => expect(stopMachines(of)).toEqual(want));

it('a spot machine of Amazon cannot be stopped', () => {
  expect(stopMachines([machine({ resourceId: 'i-0a', region: 'r' })], { isSpot: true })).toEqual([
    'aws ec2 terminate-instances --instance-ids i-0a --region r',
  ]);
});

it.each([
  `i-'; printf h%s it #`,
  '$(printf h%s it >&2)',
  '"; printf h%s it; "',
  `n'].id"; printf h%s it; "`,
  '`printf h%s it`',
])('the name %j is never a second command', (hostile) => {
  const lines = ['aws', 'gcp', 'azure', 'other'].flatMap((provider) => [
    ...stopMachines([machine({ provider, nodeId: hostile })]),
    ...stopMachines([machine({ provider, resourceId: hostile, region: hostile })]),
    ...stopMachines([machine({ provider, resourceId: `i-${hostile}`, region: hostile, zone: hostile })]),
    ...stopMachines([machine({ provider, resourceId: `/subscriptions/${hostile}`, zone: 'z' })]),
  ]);
  // At the prompt of a zsh # is a command like any other.
  const hits = lines
    .map((line) => line.replace(/^# /, ': '))
    .filter((line) => {
      const { stdout, stderr } = spawnSync('bash', ['-c', `aws() { :; }; gcloud() { :; }; az() { :; }; ${line}`], {
        encoding: 'utf8',
      });
      return `${stdout}${stderr}`.includes('hit');
    });
  expect(hits).toEqual([]);
});
