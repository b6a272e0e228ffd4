import { expect, test } from 'vitest';
import { sessionOf } from './session.ts';

const GPU = { resources: { limits: { 'nvidia.com/gpu': '1' } } };
const runs = (...command: readonly string[]) => [{ ...GPU, image: 'acme/trainer:7', command }];

const cases: Readonly<Record<string, { readonly containers: readonly unknown[]; readonly want: string | undefined }>> =
  {
    training: { containers: runs('python', 'train.py'), want: undefined },
    'nothing but sleep': { containers: runs('sleep', 'infinity'), want: 'sleep' },
    'sleep in a shell': { containers: runs('/bin/bash', '-c', 'sleep 604800'), want: 'sleep' },
    'sleep that can be stopped': {
      containers: runs('sh', '-c', 'trap : TERM INT; sleep infinity & wait'),
      want: 'sleep',
    },
    'a tail of nothing': { containers: runs('tail', '-f', '/dev/null'), want: 'sleep' },
    'sleep after work is a job that does not end': {
      containers: runs('bash', '-c', 'python train.py; sleep infinity'),
      want: undefined,
    },
    Jupyter: { containers: runs('jupyter', 'lab', '--ip=0.0.0.0'), want: 'jupyter' },
    'a notebook that runs to its end': {
      containers: runs('jupyter', 'nbconvert', '--execute', 'x.ipynb'),
      want: undefined,
    },
    'an editor': { containers: runs('/usr/bin/code-server', '--auth=none'), want: 'code-server' },
    'a way to log in': { containers: runs('/usr/sbin/sshd', '-D'), want: 'ssh' },
    'an image that starts a notebook by itself': {
      containers: [{ ...GPU, image: 'quay.io/jupyter/pytorch-notebook:cuda12' }],
      want: 'jupyter',
    },
    'such an image with a command of its own': {
      containers: [{ ...GPU, image: 'jupyter/pytorch-notebook', args: ['python', 'train.py'] }],
      want: undefined,
    },
    'a sidecar that sleeps beside training': {
      containers: [...runs('python', 'train.py'), { image: 'busybox', command: ['sleep', 'infinity'] }],
      want: undefined,
    },
    'by name of a digest and a port': {
      containers: [{ ...GPU, image: 'reg:5000/code-server@sha256:00' }],
      want: 'code-server',
    },
    'no containers': { containers: [], want: undefined },
  };

test.each(Object.entries(cases))('%s', (_, { containers, want }) => {
  expect(sessionOf({ containers })).toBe(want);
});

test.each([
  null,
  7,
  'x',
  { containers: 'x' },
  { containers: [null, { command: [1, null] }, { resources: { limits: 7 } }] },
])('whatever %j is, nothing throws', (spec) => {
  expect(sessionOf(spec)).toBeUndefined();
});
