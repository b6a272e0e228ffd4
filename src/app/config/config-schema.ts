import { z } from 'zod';
import { rulesForms } from '../rules/rules-schema.ts';
import { LENGTH_OF_TIME } from './length-of-time.ts';
import { statementsForm, teamsForm } from './statement-config.ts';

/** The forms of bursar.yaml. Each field has its sentence here, once: errors and the JSON Schema take it from there. */
const text = (sentence: string) => z.string().min(1).describe(sentence);

const length = (sentence: string) =>
  z.string().regex(LENGTH_OF_TIME, 'a length of time such as 60s, 5m, 2h or 30d').describe(sentence);

const webAddress = (sentence: string) =>
  z
    .string()
    .regex(/^https?:\/\/[^\s/]+\S*$/i, 'an address such as http://prometheus:9090')
    .describe(sentence);

const restAddress = (sentence: string) =>
  z
    .string()
    .regex(
      /^(https?:\/\/[^\s/]+\S*|unix:\/\/\/\S+)$/i,
      'an address such as http://slurm:6820 or unix:///run/slurmrestd',
    )
    .describe(sentence);

const time = (sentence: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/, 'a day or a time in UTC: 2026-11-01 or 2026-11-01T09:00:00Z')
    .describe(sentence);

const secret = z.strictObject({
  env: text('The environment variable that holds it.').optional(),
  file: text('The file that holds it, alone on one line; taken from the folder of bursar.yaml.').optional(),
  prefix: z.string().describe('What goes before it, e.g. "Bearer ".').optional(),
});

const headers = z
  .record(z.string().min(1), z.union([z.string(), secret]))
  .describe('Headers to send. Secrets only as {env: NAME} or {file: PATH}.');

const cluster = text('The name of the cluster in every report; needed where there are several.').optional();

const commandPrefix = (where: string) =>
  z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .describe(`Words to put before each command, to run it ${where}: [ssh, login1].`)
    .optional();

const prometheus = z.strictObject({
  url: webAddress('Its address, with the path before /api if there is one.'),
  headers: headers.optional(),
  matchers: text('Labels every series must have: cluster="a".').optional(),
  cluster,
  node_label: text('The label that names the machine, where it is none of the usual ones.').optional(),
  parallel: z.number().int().min(1).max(16).describe('Questions asked at the same time; 2 where not said.').optional(),
});

const scrapeTarget = z.strictObject({
  url: webAddress('The address of its metrics: http://gpu1:9400/metrics.'),
  node: text('The machine it runs on, where its metrics do not say.').optional(),
});

const scrape = z.strictObject({
  targets: z
    .array(z.union([webAddress('The address of its metrics.'), scrapeTarget]))
    .min(1)
    .describe('The exporters, one a machine.'),
  headers: headers.optional(),
  cluster,
  pods: z.boolean().describe('Take who holds a GPU from the pod labels, where nothing else tells.').optional(),
});

const local = z.strictObject({
  command_prefix: commandPrefix('on another machine'),
  node: text('The name of the machine; its own where not said.').optional(),
});

const kubernetes = z.strictObject({
  kubeconfig: text('The file with the cluster’s address and how to sign in.').optional(),
  context: text('The context in it; the current one where not said.').optional(),
  cluster,
  in_cluster: z.boolean().describe('Use the service account of the pod that Bursar runs in.').optional(),
});

const slurm = z.strictObject({
  command_prefix: commandPrefix('on a login node'),
  rest: z
    .strictObject({
      url: restAddress('The address of slurmrestd.'),
      user: text('The user to ask as.').optional(),
      token: secret.describe('Its token (scontrol token), as {env: NAME} or {file: PATH}.').optional(),
    })
    .describe('Ask slurmrestd instead of running commands.')
    .optional(),
  zone: text('The time zone Slurm prints its times in: Europe/Berlin.').optional(),
  cluster,
});

const aws = z.strictObject({
  regions: z
    .array(z.string().min(1))
    .min(1)
    .describe('Regions to look into; all that are enabled where not said.')
    .optional(),
  profile: text('The profile in ~/.aws to use.').optional(),
  cluster,
});

const vmFile = (command: string) => z.strictObject({ file: text(`What ${command} printed.`) });

/** The kinds of sources, in the order of the documentation. */
export const sourceForms = {
  prometheus: z
    .union([webAddress('Its address.'), prometheus])
    .describe('Prometheus or what speaks its API: its address, or a map with more.'),
  kubernetes: kubernetes.nullable().describe('A Kubernetes API server: pods, nodes, owners.'),
  slurm: slurm.nullable().describe('Slurm: jobs and nodes, by its commands or slurmrestd.'),
  local: local.nullable().describe('nvidia-smi or rocm-smi on this machine, or on another by ssh.'),
  scrape: z
    .union([z.array(webAddress('The address of its metrics.')).min(1), scrape])
    .describe('Exporters without a Prometheus: their addresses, or a map with more.'),
  aws: aws.nullable().describe('GPU instances of an AWS account, by read-only credentials.'),
  gcp: vmFile('gcloud compute instances list --format=json').describe('GPU machines of Google Cloud, from a file.'),
  azure: vmFile('az vm list -d --output json').describe('GPU machines of Azure, from a file.'),
} as const;

export type SourceFormName = keyof typeof sourceForms;

const source = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,62}$/, 'at most 63 letters, digits, dots, dashes and underscores')
    .describe('Its name in reports; facts are kept under it, so that a new name reads everything anew.'),
  prometheus: sourceForms.prometheus.optional(),
  kubernetes: sourceForms.kubernetes.optional(),
  slurm: sourceForms.slurm.optional(),
  local: sourceForms.local.optional(),
  scrape: sourceForms.scrape.optional(),
  aws: sourceForms.aws.optional(),
  gcp: sourceForms.gcp.optional(),
  azure: sourceForms.azure.optional(),
  every: length('How often bursar collect --follow asks it: 60s.').optional(),
  backfill: length('How far back to read on first contact: 30d; all it still has where not said.').optional(),
});

const rate = z.strictObject({
  model: text('The GPU model, or words of its name: H100; any where neither model nor node is said.').optional(),
  node: text('One machine; goes before the model.').optional(),
  usd_per_gpu_hour: z.number().min(0).max(100_000).describe('Dollars for one GPU and one hour, host included.'),
  from: time('First hour it holds for; always where not said.').optional(),
  until: time('First hour after it; until a newer one begins where not said.').optional(),
});

export const configSchema = z.strictObject({
  data: text('The data folder; ./bursar-data where not said, taken from the folder of bursar.yaml.').optional(),
  sources: z.array(source).describe('What to read, each with a name and one kind.').optional(),
  rates: z.array(rate).describe('What an hour of a GPU costs you, where no bill says so.').optional(),
  ...rulesForms,
  teams: teamsForm.optional(),
  statements: statementsForm.optional(),
});

export type ConfigText = z.infer<typeof configSchema>;
export type SourceText = z.infer<typeof source>;
export type RateText = z.infer<typeof rate>;
export type HeaderText = z.infer<typeof headers>;
