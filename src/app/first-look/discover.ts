import { delimiter, join } from 'node:path';
import type { SourceKind } from '../../facts/source.ts';
import { shellWord } from '../../report/shell-word.ts';
import type { SourceConfig } from '../config/source-config.ts';
import { programInPath, settingsText } from './surroundings.ts';
import type { Surroundings } from './surroundings.ts';

/** A source that is there, and how that is known. */
export interface FoundSource {
  readonly config: SourceConfig;
  /** `PROMETHEUS_URL`, `sinfo in PATH`. */
  readonly by: string;
}

/** A source that is not read, and the command that would add it. */
export interface MissingSource {
  readonly kind: SourceKind;
  /** `no Prometheus answers at http://localhost:9090`. */
  readonly says: string;
  /** To be typed as it is; capitals stand for what only the user knows. */
  readonly command: string;
}

export interface Discovery {
  readonly found: readonly FoundSource[];
  readonly missing: readonly MissingSource[];
}

/** What the user named on the command line. With any of these, nothing else is read. */
export interface SourceFlags {
  readonly prometheus?: readonly string[];
  readonly kubeconfig?: string;
  readonly slurm?: boolean;
  readonly local?: boolean;
  readonly aws?: boolean;
}

const PROBE_MS = 2000;
const PROBE_BYTES_MAX = 64 * 1024;

export function namesSources({ prometheus = [], kubeconfig, slurm, local, aws }: SourceFlags): boolean {
  return prometheus.length > 0 || kubeconfig !== undefined || [slurm, local, aws].includes(true);
}

/**
 * Question: what is there on this machine that knows about GPUs, and how would one add the rest?
 *
 * Looks at the environment, at programs in PATH and at the settings of other tools; the only thing it asks over the network is
 * whether a Prometheus answers, for two seconds. The metadata service of clouds is never asked.
 */
export async function discover(flags: SourceFlags, around: Surroundings): Promise<Discovery> {
  const named = namesSources(flags);
  const findings = [
    ...(await prometheusFindings(flags, around, named)),
    await kubernetesFinding(flags, around, named),
    commandsFinding('slurm', flags.slurm === true, named, around),
    commandsFinding('local', flags.local === true, named, around),
    awsFinding(flags.aws === true, named, around),
  ];
  const found = findings.flatMap((finding) => ('config' in finding ? [finding] : []));
  const missing = findings.flatMap((finding) => ('config' in finding ? [] : [finding]));
  return { found: withOwnNames(found), missing: [...missing.map(advised(found)), ...OTHER_CLOUDS] };
}

type Finding = FoundSource | MissingSource;

const OTHER_CLOUDS: readonly MissingSource[] = [
  {
    kind: 'gcp',
    says: 'read from a file',
    command: 'gcloud compute instances list --format=json > gcp.json && bursar import gcloud gcp.json',
  },
  {
    kind: 'azure',
    says: 'read from a file',
    command: 'az vm list -d --output json > azure.json && bursar import az azure.json',
  },
];

async function prometheusFindings(flags: SourceFlags, around: Surroundings, named: boolean): Promise<Finding[]> {
  const asked = flags.prometheus ?? [];
  if (asked.length > 0) {
    return asked.map((url) => ({ config: { kind: 'prometheus', name: 'prometheus', url }, by: '--prometheus' }));
  }
  const command = 'bursar look --prometheus http://HOST:9090';
  if (named) return [{ kind: 'prometheus', says: 'not asked for', command }];
  const ofEnv = around.env['PROMETHEUS_URL'] ?? '';
  const urls = ofEnv === '' ? around.usualPrometheusUrls : [ofEnv];
  const answers = await Promise.all(urls.map((url) => answersAsPrometheus(url, around.fetch)));
  const found = urls.filter((_, index) => answers[index] === true);
  if (found.length === 0) {
    return [{ kind: 'prometheus', says: `none answers at ${urls.map(withoutSecret).join(', ')}`, command }];
  }
  const by = ofEnv === '' ? 'answers' : 'PROMETHEUS_URL';
  return found.map((url) => ({ config: { kind: 'prometheus', name: 'prometheus', url }, by }));
}

/** Other servers like port 9090 too: only one that answers a query as Prometheus does is one. */
async function answersAsPrometheus(url: string, ask: typeof fetch): Promise<boolean> {
  try {
    const target = new URL(url);
    const headers = basicAuthOf(target);
    const path = `${target.pathname.replace(/\/+$/, '')}/api/v1/query?query=vector(1)`;
    const response = await ask(new URL(path, target), { headers, signal: AbortSignal.timeout(PROBE_MS) });
    const text = await limitedText(response);
    const answer = JSON.parse(text) as { status?: unknown } | null;
    return answer?.status === 'success';
  } catch {
    // Whatever is there instead, it is no Prometheus; the missing line says what was tried.
    return false;
  }
}

/** `fetch` refuses an address with a password in it; what follows is the header that says the same. */
function basicAuthOf(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

async function limitedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > PROBE_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function withoutSecret(url: string): string {
  if (!URL.canParse(url)) return 'the address given';
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.search = '';
  return shown.href.replace(/\/$/, '');
}

async function kubernetesFinding(flags: SourceFlags, around: Surroundings, named: boolean): Promise<Finding> {
  const command = 'bursar look --kubeconfig FILE';
  const missing = (says: string): Finding => ({ kind: 'kubernetes', says, command });
  if (flags.kubeconfig !== undefined) {
    const config = { kind: 'kubernetes', name: 'kubernetes', kubeconfig: flags.kubeconfig } as const;
    return { config, by: '--kubeconfig' };
  }
  const files = (around.env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const usual = join(around.homeDir, '.kube', 'config');
  const tried = files.length > 0 ? files : [usual];
  const context = await currentContext(tried);
  if (named) {
    return context === undefined
      ? missing('not asked for')
      : {
          kind: 'kubernetes',
          says: 'here, not asked for',
          command: `bursar look --kubeconfig ${shellWord(context.file)}`,
        };
  }
  if (context !== undefined) {
    const ofFile = context.file === usual ? {} : { kubeconfig: context.file };
    const config = { kind: 'kubernetes', name: 'kubernetes', ...ofFile, context: context.name } as const;
    return { config, by: `current context of ${context.file}` };
  }
  const inPod = around.env['KUBERNETES_SERVICE_HOST'] !== undefined;
  if (inPod && settingsText(join(around.serviceAccountDir, 'token')) !== undefined) {
    return { config: { kind: 'kubernetes', name: 'kubernetes', inCluster: true }, by: 'service account of this pod' };
  }
  return missing(`no current context in ${tried.join(', ')}`);
}

/** The first file that names one decides, as in kubectl. */
async function currentContext(files: readonly string[]): Promise<{ name: string; file: string } | undefined> {
  for (const file of files) {
    const text = settingsText(file);
    if (text === undefined) continue;
    const { parseDocument } = await import('yaml');
    const name: unknown = parseDocument(text, { prettyErrors: false, logLevel: 'silent' }).get('current-context');
    if (typeof name === 'string' && name !== '') return { name, file };
  }
  return undefined;
}

const COMMANDS = {
  slurm: {
    every: ['sinfo', 'squeue', 'sacct'],
    any: ['sinfo'],
    says: 'no sinfo in PATH',
    command: 'bursar look --slurm   # on a login node',
  },
  local: {
    every: [],
    any: ['nvidia-smi', 'rocm-smi', 'amd-smi'],
    says: 'no nvidia-smi or rocm-smi in PATH',
    command: 'bursar look --local   # on a machine with GPUs',
  },
} as const;

function commandsFinding(kind: 'slurm' | 'local', asked: boolean, named: boolean, { env }: Surroundings): Finding {
  const { every, any, says, command } = COMMANDS[kind];
  if (asked) return { config: { kind, name: kind }, by: `--${kind}` };
  const there = any.find((program) => programInPath(program, env) !== undefined);
  if (there === undefined) return { kind, says: named ? 'not asked for' : says, command };
  if (named) return { kind, says: 'here, not asked for', command: `bursar look --${kind}` };
  const lacking = every.filter((program) => programInPath(program, env) === undefined);
  if (lacking.length > 0) return { kind, says: `${there} is in PATH, but not ${lacking.join(', ')}`, command };
  return { config: { kind, name: kind }, by: `${there} in PATH` };
}

function awsFinding(asked: boolean, named: boolean, { env, homeDir }: Surroundings): Finding {
  const profile = env['AWS_PROFILE'] ?? '';
  const config = { kind: 'aws', name: 'aws', ...(profile !== '' && { profile }) } as const;
  if (asked) return { config, by: '--aws' };
  const by = awsCredentials(env, homeDir);
  if (by !== undefined && !named) return { config, by };
  return by === undefined
    ? {
        kind: 'aws',
        says: named ? 'not asked for' : 'no credentials here',
        command: 'AWS_PROFILE=NAME bursar look --aws',
      }
    : { kind: 'aws', says: 'here, not asked for', command: 'bursar look --aws' };
}

function awsCredentials(env: Surroundings['env'], homeDir: string): string | undefined {
  const names = [
    'AWS_PROFILE',
    'AWS_ACCESS_KEY_ID',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  ];
  const named = names.find((name) => (env[name] ?? '') !== '');
  if (named !== undefined) return named;
  const files = [
    env['AWS_SHARED_CREDENTIALS_FILE'] ?? join(homeDir, '.aws', 'credentials'),
    env['AWS_CONFIG_FILE'] ?? join(homeDir, '.aws', 'config'),
  ];
  // A config file may hold no more than a region; without a way to sign in it finds nothing.
  const signsIn =
    /^\s*(aws_access_key_id|credential_process|sso_\w+|role_arn|web_identity_token_file|login_session)\s*=/m;
  return files.find((file) => signsIn.test(settingsText(file) ?? ''));
}

/** Inside a cluster Prometheus is seldom reachable from outside: the way through is one command. */
function advised(found: readonly FoundSource[]): (missing: MissingSource) => MissingSource {
  const hasCluster = found.some(({ config }) => config.kind === 'kubernetes');
  return (missing) => {
    if (missing.kind !== 'prometheus' || !hasCluster) return missing;
    const forward = 'kubectl -n monitoring port-forward svc/prometheus-operated 9090 & bursar look';
    return { ...missing, command: forward };
  };
}

/** Two of a kind are told apart by a number: facts are kept under the name. */
function withOwnNames(found: readonly FoundSource[]): FoundSource[] {
  const seen = new Map<string, number>();
  return found.map(({ config, by }) => {
    const before = seen.get(config.name) ?? 0;
    seen.set(config.name, before + 1);
    return { by, config: before === 0 ? config : { ...config, name: `${config.name}-${before + 1}` } };
  });
}
