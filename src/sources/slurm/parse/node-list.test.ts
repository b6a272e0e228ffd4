import { describe, expect, it } from 'vitest';
import { expandNodeList, expandTasks } from './node-list.ts';

describe('expandNodeList', () => {
  const cases: Record<string, { text: string; want: readonly string[] | undefined }> = {
    'one machine': { text: 'gpu-01', want: ['gpu-01'] },
    'numbers keep their width': { text: 'gpu-h100-[01-02,05]', want: ['gpu-h100-01', 'gpu-h100-02', 'gpu-h100-05'] },
    'numbers without a width of their own': { text: 'n[8-11]', want: ['n8', 'n9', 'n10', 'n11'] },
    'several names': { text: 'a1,b[1-2],c', want: ['a1', 'b1', 'b2', 'c'] },
    'brackets multiply': { text: 'r[1-2]n[1-2]', want: ['r1n1', 'r1n2', 'r2n1', 'r2n2'] },
    'a name goes on after its bracket': { text: 'gpu[1-2]-ib', want: ['gpu1-ib', 'gpu2-ib'] },
    'dashes within names': {
      text: 'cpn-f13-03-[01-02],cpn-f13-04-01',
      want: ['cpn-f13-03-01', 'cpn-f13-03-02', 'cpn-f13-04-01'],
    },
    'a machine twice is one': { text: 'a,a', want: ['a'] },
    'nobody has been given any': { text: 'None assigned', want: [] },
    'nothing is said': { text: '', want: [] },
    'a bracket that never closes': { text: 'gpu[1-2', want: undefined },
    'a range backwards': { text: 'gpu[5-2]', want: undefined },
    'words in brackets': { text: 'gpu[a-b]', want: undefined },
    'an empty name': { text: 'a,,b', want: undefined },
    'more machines than there are': { text: 'n[1-999999999]', want: undefined },
    'brackets that multiply without end': { text: 'a[1-999]b[1-999]c[1-999]', want: undefined },
    'a command instead of a name': { text: 'a;rm -rf x', want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { text, want }) => expect(expandNodeList(text)).toEqual(want));
});

describe('expandTasks', () => {
  const cases: Record<string, { text: string; want: ReturnType<typeof expandTasks> }> = {
    'a throttled range': { text: '5-9%2', want: { tasks: [5, 6, 7, 8], count: 5 } },
    'in brackets': { text: '[1,3,7]', want: { tasks: [1, 3, 7], count: 3 } },
    'with a step': { text: '0-20:10', want: { tasks: [0, 10, 20], count: 3 } },
    'a list that Slurm cut off': { text: '1-2,...', want: { tasks: [1, 2], count: 2 } },
    'a step of nothing': { text: '0-9:0', want: undefined },
    'no numbers': { text: 'x', want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { text, want }) => expect(expandTasks(text, 4)).toEqual(want));
});
