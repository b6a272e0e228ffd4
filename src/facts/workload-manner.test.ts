import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEngine } from '../lake/engine.ts';
import type { Engine } from '../lake/engine.ts';
import { tableOf } from '../../test/stage-on.ts';
import { mannerSql, SESSION_LABEL } from './workload-manner.ts';

interface Holding {
  readonly source?: string;
  readonly kind?: string | null;
  readonly name?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly want: 'job' | 'serving' | 'interactive';
}

const slurm = (name: string | null, want: Holding['want'], labels: Holding['labels'] = {}): Holding => ({
  source: 'slurm',
  kind: 'Job',
  name,
  labels,
  want,
});
const kubernetes = (kind: string, name: string, want: Holding['want'], labels: Holding['labels'] = {}): Holding => ({
  source: 'kubernetes',
  kind,
  name,
  labels,
  want,
});

const cases: Readonly<Record<string, Holding>> = {
  'a training job of Slurm': slurm('train-7b', 'job', { partition: 'gpu', qos: 'normal' }),
  'a job without a name': slurm(null, 'job'),
  'salloc, which Slurm calls interactive': slurm('interactive', 'interactive'),
  'srun --pty bash, by the name of the shell': slurm('bash', 'interactive'),
  'a batch job whose script is a shell script': slurm('train.sh', 'job'),
  'a session of Open OnDemand': slurm('sys/dashboard/sys/bc_desktop', 'interactive'),
  'the same of a portal with a name': slurm('ondemand/sys/dashboard/sys/jupyter', 'interactive'),
  'a Jupyter server in a batch script': slurm('jupyter-lab', 'interactive'),
  'a model whose name contains one': slurm('jupyterian-moons', 'job'),
  'a partition for people': slurm('work', 'interactive', { partition: 'gpu-interactive' }),
  'a QOS for people': slurm('work', 'interactive', { qos: 'interactive' }),
  'a partition called debug, as in Slurm’s own example': slurm('train', 'job', { partition: 'debug' }),
  'a source that saw salloc': slurm('gpu-box', 'interactive', { [SESSION_LABEL]: 'salloc' }),
  'a label goes before all of it': slurm('bash', 'job', { class: 'training', partition: 'interactive' }),
  'another cluster’s Slurm': { ...slurm('interactive', 'interactive'), source: 'slurm/east' },
  'a notebook of Kubeflow': kubernetes('Notebook', 'ada', 'interactive'),
  'a service': kubernetes('Deployment', 'llama-70b', 'serving'),
  'an editor behind a Deployment': kubernetes('Deployment', 'code-server-ada', 'interactive'),
  'Jupyter in a StatefulSet': kubernetes('StatefulSet', 'jupyterlab', 'interactive'),
  'a service that talks about notebooks': kubernetes('Deployment', 'notebook-summarizer', 'serving'),
  'a pod of JupyterHub, where labels are not seen': kubernetes('Pod', 'jupyter-ada', 'interactive'),
  'a pod made by hand to log in to': kubernetes('Pod', 'ssh-ada', 'interactive'),
  'a pod made by hand to look at something': kubernetes('Pod', 'cuda-debug', 'interactive'),
  'a pod that trains': kubernetes('Pod', 'train-7b-worker-0', 'job'),
  'a pod that only sleeps, by what its source saw': kubernetes('Pod', 'gpu-0', 'interactive', {
    [SESSION_LABEL]: 'sleep',
  }),
  'a batch job that runs a notebook': kubernetes('Job', 'jupyter-nightly', 'job'),
  'an inference service, whatever its name': kubernetes('InferenceService', 'vscode-completions', 'serving'),
  'a label that says what an editor is for': kubernetes('Deployment', 'vscode-completions', 'serving', {
    class: 'inference',
  }),
  'a file that says nothing': { source: 'files', kind: null, name: 'bash', want: 'job' },
};

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
});
afterAll(() => engine.close());

describe('the manner of', () => {
  test.each(Object.entries(cases))(
    '%s',
    async (_, { source = 'slurm', kind = null, name = null, labels = {}, want }) => {
      const told = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
      const row = {
        source,
        workload_kind: kind,
        workload_name: name,
        labels: told.length === 0 ? null : `{${told.join(', ')}}`,
      };
      await engine.run(`DROP TABLE IF EXISTS holding; ${tableOf('holding', [row])}`);
      expect(await engine.rows(`SELECT ${mannerSql('holding')} AS manner FROM holding`)).toEqual([{ manner: want }]);
    },
  );
});
