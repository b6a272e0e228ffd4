import { expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { holderRows, type ToldGpu, type ToldHolder } from '../../test/holder-rows.ts';
import { sleepingDogs } from './sleeping-dogs.ts';

const [from, until] = ['03-03 00:00', '03-04 00:00'];
/** Job 1 of Slurm, which holds a GPU on 2026-03-03 and goes on; of a GPU that nothing is told of, every second was measured and idle. */
const dog = (gpu: ToldGpu = {}, more: Partial<ToldHolder> = {}): ToldHolder[] => [
  { source: 'slurm', from, until, isOpen: true, gpus: { g0: gpu }, ...more },
];

it('names a dog that never barked, takes its idle time, and says what to paste', async () => {
  const claims = await claimsOn(sleepingDogs, holderRows(dog()));
  const takes = [{ subject: 'job slurm/1/0', lastDay: '2026-03-03', category: 'idle' }];
  expect(claims).toMatchObject([{ about: 'job slurm/1/0', fix: ['scancel 1   # cluster=a'], takes }]);
});

it.each([
  { name: 'that barked an hour ago', told: dog({ computing: [['03-03 22:00', '03-03 23:00']] }) },
  { name: 'nobody measures', told: dog({ unknown: [[from, until]] }) },
  { name: 'that has gone', told: dog({}, { isOpen: false }) },
])('says nothing of a dog $name', async ({ told }) => {
  expect(await claimsOn(sleepingDogs, holderRows(told))).toEqual([]);
});
