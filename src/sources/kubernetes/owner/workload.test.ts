import { describe, expect, it } from 'vitest';
import { userOf } from './user-name.ts';
import { guessedWorkload, labelledWorkload } from './workload.ts';

type Texts = Readonly<Record<string, string>>;

const named: Record<string, { labels?: Texts; annotations?: Texts; want: string | undefined }> = {
  'nothing says': { labels: { app: 'x' }, want: undefined },
  KServe: { labels: { 'serving.kserve.io/inferenceservice': 'llama' }, want: 'InferenceService/llama' },
  'a leader and its workers': { labels: { 'leaderworkerset.sigs.k8s.io/name': 'vllm' }, want: 'LeaderWorkerSet/vllm' },
  'a Kubeflow notebook': { labels: { 'notebook-name': 'ada' }, want: 'Notebook/ada' },
  'Ray, by where its cluster came from': {
    labels: { 'ray.io/originated-from-crd': 'RayJob', 'ray.io/originated-from-cr-name': 'tune' },
    want: 'RayJob/tune',
  },
  'Ray that claims to be something else': {
    labels: { 'ray.io/originated-from-crd': 'Secret', 'ray.io/originated-from-cr-name': 'tune' },
    want: undefined,
  },
  JupyterHub: {
    labels: { component: 'singleuser-server' },
    annotations: { 'hub.jupyter.org/username': 'ada', 'hub.jupyter.org/servername': 'gpu' },
    want: 'Notebook/ada-gpu',
  },
  Argo: { labels: { 'workflows.argoproj.io/workflow': 'etl' }, want: 'Workflow/etl' },
};

describe('the workload that labels name', () => {
  for (const [name, { labels = {}, annotations = {}, want }] of Object.entries(named)) {
    it(name, () => {
      const found = labelledWorkload(labels, annotations);
      expect(found === undefined ? undefined : `${found.kind}/${found.name}`).toBe(want);
    });
  }
});

const owner = (kind: string, name: string) => ({ apiVersion: 'v1', kind, name, uid: 'u' });
const guessed: Record<string, { pod: Parameters<typeof guessedWorkload>[0]; want: string }> = {
  'nobody owns it': { pod: { name: 'p', labels: {} }, want: 'Pod/p' },
  'a Job': { pod: { name: 'p', labels: {}, owner: owner('Job', 'train') }, want: 'Job/train' },
  'a ReplicaSet has the name of its Deployment and a hash': {
    pod: { name: 'p', labels: { 'pod-template-hash': '7f9c' }, owner: owner('ReplicaSet', 'asr-7f9c') },
    want: 'Deployment/asr',
  },
  'a ReplicaSet of a Rollout': {
    pod: { name: 'p', labels: { 'rollouts-pod-template-hash': '7f9c' }, owner: owner('ReplicaSet', 'asr-7f9c') },
    want: 'Rollout/asr',
  },
  'a ReplicaSet on its own': {
    pod: { name: 'p', labels: {}, owner: owner('ReplicaSet', 'asr-7f9c') },
    want: 'ReplicaSet/asr-7f9c',
  },
  'a ReplicaSet whose name is only a hash': {
    pod: { name: 'p', labels: { 'pod-template-hash': '7f9c' }, owner: owner('ReplicaSet', '-7f9c') },
    want: 'ReplicaSet/-7f9c',
  },
};

describe('the workload as far as the pod tells', () => {
  for (const [name, { pod, want }] of Object.entries(guessed)) {
    it(name, () => {
      const found = guessedWorkload(pod);
      expect(`${found.kind}/${found.name}`).toBe(want);
    });
  }
});

describe('whose a pod is', () => {
  it('is said by the surest word', () => {
    expect(userOf({ owner: 'team-a', 'skypilot-user': 'kim' }, {})).toBe('kim');
    expect(userOf({ user: ' ' }, { owner: 'ada' })).toBe('ada');
    expect(userOf({ team: 'nlp' }, {})).toBeUndefined();
  });
});
