import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { safeText } from '../report/safe-text.ts';
import { stopCommand } from './stop-command.ts';

const HOSTILE = [
  `x'; printf 'h%s' it #`,
  '$(printf h%s it >&2)',
  '`printf h%s it >&2`',
  '"; printf h%s it; "',
  'x\nprintf h%s it',
  `x\u001b'; printf h%s it #`,
  '; printf h%s it',
  '-x; printf h%s it',
];
const holder = { source: 'kubernetes', allocationId: 'u1', namespace: 'nlp', kind: 'Job', name: 'train' };

/** Whether a line runs anything beside the commands of schedulers, which do nothing here. */
function isHit(line: string): boolean {
  const { stdout, stderr } = spawnSync('bash', ['-c', `kubectl() { :; }; scancel() { :; }; ${line}`], {
    encoding: 'utf8',
  });
  return stdout.includes('hit') || stderr.includes('hit');
}

it.each(HOSTILE)('the name %j is never a second command, as it is and as it is shown', (name) => {
  const lines = [
    stopCommand({ ...holder, kind: 'Notebook', name }),
    stopCommand({ ...holder, kind: 'Notebook', hubUser: name, hubServer: name }),
    stopCommand({ ...holder, name }),
    stopCommand({ ...holder, namespace: name }),
    stopCommand({ ...holder, cluster: name }),
    stopCommand({ ...holder, source: 'file', cluster: name }),
    stopCommand({ ...holder, kind: 'Deployment', name }),
    stopCommand({ ...holder, kind: 'InferenceService', name }),
    stopCommand({ ...holder, kind: name }),
    stopCommand({ ...holder, source: 'slurm', allocationId: name }),
    stopCommand({ ...holder, source: 'file', name }),
    stopCommand({ ...holder, source: 'file', kind: name }),
    stopCommand({ ...holder, source: 'file', name: null, allocationId: name }),
  ];
  // At the prompt of a zsh, the shell of every Mac, # is a command like any other.
  const pasted = lines.flatMap((line) => [line, safeText(line), line.replace(/^# /, ': ').replace('   # ', ' ')]);
  expect(pasted.filter(isHit)).toEqual([]);
});

it.each([
  {
    name: 'a notebook of Kubeflow is stopped, not deleted',
    of: { ...holder, kind: 'Notebook', name: 'notes' },
    want: 'kubectl annotate notebook notes -n nlp kubeflow-resource-stopped="$(date -u +%FT%TZ)" --overwrite',
  },
  {
    name: 'a server of JupyterHub is a pod of its user, and no Notebook object',
    of: { ...holder, kind: 'Notebook', name: 'mchen', hubUser: 'mchen', hubServer: '' },
    want: `kubectl delete pod -n nlp -l 'component=singleuser-server,hub.jupyter.org/username=mchen'`,
  },
  {
    name: 'a deployment keeps its settings',
    of: { ...holder, kind: 'Deployment', name: 'chat' },
    want: 'kubectl scale deployment chat -n nlp --replicas=0',
  },
  {
    name: 'a service of KServe keeps its settings',
    of: { ...holder, kind: 'InferenceService', name: 'llm-old' },
    want: 'kubectl annotate inferenceservice llm-old -n nlp serving.kserve.io/stop=true --overwrite',
  },
  {
    name: 'a set of groups is scaled as a deployment is',
    of: { ...holder, kind: 'LeaderWorkerSet', name: 'llm' },
    want: 'kubectl scale leaderworkerset llm -n nlp --replicas=0',
  },
  {
    name: 'what makes its own pods is deleted itself: no pod has its name, and one would come again',
    of: { ...holder, kind: 'SparkApplication', name: 'etl' },
    want: 'kubectl delete sparkapplication etl -n nlp',
  },
  {
    name: 'a kind that nobody here knows may be more than the workload: the command is only told',
    of: { ...holder, kind: 'Node', name: 'gpu-7' },
    want: '# look at it first: kubectl delete node gpu-7 -n nlp',
  },
  {
    name: 'where the cluster is known it stands behind the command',
    of: { ...holder, source: 'slurm', allocationId: '5896', cluster: 'atlas' },
    want: 'scancel 5896   # cluster=atlas',
  },
  {
    name: 'a pod of nobody is deleted',
    of: { ...holder, kind: 'Pod', name: 'shell' },
    want: 'kubectl delete pod shell -n nlp',
  },
  {
    name: 'no empty name gets into a command',
    of: { ...holder, kind: 'Job', name: '', allocationId: null },
    want: '# stop Job that nobody named',
  },
  {
    name: 'what has no kind is a pod',
    of: { ...holder, kind: null, name: 'shell' },
    want: 'kubectl delete pod shell -n nlp',
  },
])('$name', ({ of, want }) => expect(stopCommand(of)).toBe(want));
