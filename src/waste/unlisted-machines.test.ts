import { expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { unlistedMachines } from './unlisted-machines.ts';

const charge = (id: string, category = 'unknown') => ({
  day: '2026-03-03',
  subject: `resource ${id}`,
  category,
  provider: 'AWS',
  usd_micros: 5,
});

it('says nothing of charges that are no GPU machine, nor of unknown time of machines that are known', async () => {
  const rows = [charge('bucket', 'beside'), { ...charge('x'), subject: 'job slurm/1/0', device_id: 'g0' }];
  expect(await claimsOn(unlistedMachines, { subject_day: rows })).toEqual([]);
});

it('names the machines of a provider together, with the command that looks at them', async () => {
  const [claim, ...others] = await claimsOn(unlistedMachines, { subject_day: [charge('i-1'), charge('i-2')] });
  expect(others).toEqual([]);
  expect(claim?.what).toBe('2 GPU machines on the bill of AWS that no inventory knows');
  expect(claim?.fix[0]).toBe('aws ec2 describe-instances --instance-ids i-1 i-2');
  expect(claim?.takes.map(({ subject, category }) => `${subject} ${category}`)).toEqual([
    'resource i-1 unknown',
    'resource i-2 unknown',
  ]);
});

it('asks in the region of the bill, one command for each', async () => {
  const east = { region: 'us-east-1' };
  const [claim] = await claimsOn(unlistedMachines, {
    subject_day: [
      { ...charge('i-1'), ...east },
      { ...charge('i-2'), ...east },
      { ...charge('i-3'), region: 'eu-west-1' },
    ],
  });
  expect(claim?.fix.slice(0, 2)).toEqual([
    'aws ec2 describe-instances --instance-ids i-1 i-2 --region us-east-1',
    'aws ec2 describe-instances --instance-ids i-3 --region eu-west-1',
  ]);
});
