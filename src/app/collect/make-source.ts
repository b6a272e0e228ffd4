import { hostname } from 'node:os';
import { OperationError } from '../../facts/operation-error.ts';
import type { Haul, RunCommand, Source, SourceHealth } from '../../facts/source.ts';
import { secretOf, withoutSecrets } from '../config/secret.ts';
import type { SecretContext } from '../config/secret.ts';
import { KIND_WORDS } from '../config/source-config.ts';
import type { Headers, SlurmConfig, SourceConfig } from '../config/source-config.ts';
import { runCommand } from '../run-command.ts';

export interface MakeContext extends SecretContext {
  /** How programs are run; tests bring their own. */
  readonly run?: RunCommand;
}

const SILENT_PRIORITY = 0;
const USUAL_POLL_S = 60;

/**
 * The source a piece of configuration stands for.
 *
 * Never throws for what the outside world does wrong: a source whose secret is missing is one that is down, so that the others
 * go on. Secrets are looked up again for each pull, because tokens in files are replaced while `collect --follow` runs.
 */
export async function makeSource(config: SourceConfig, context: MakeContext): Promise<Source> {
  let made: { readonly secrets: string; readonly source: Source } | undefined;
  const current = async (): Promise<Source> => {
    const found = secretsOf(config, context);
    const secrets = JSON.stringify(found);
    if (made?.secrets !== secrets) made = { secrets, source: await build(config, context, found) };
    return made.source;
  };
  try {
    const { name, kind, reads, priority, pollS } = await current();
    return {
      name,
      kind,
      reads,
      priority,
      pollS,
      check: async (signal) => {
        try {
          return withoutSecrets(await (await current()).check(signal), made?.secrets);
        } catch (failure) {
          return downBecause(withoutSecrets(asOperation(failure), made?.secrets));
        }
      },
      async *pull(cursor, request) {
        const progress = (line: string): void => request.progress(withoutSecrets(line, made?.secrets));
        try {
          for await (const haul of (await current()).pull(cursor, { ...request, progress })) {
            yield { ...haul, ...withoutSecrets(pickWords(haul), made?.secrets) };
          }
        } catch (failure) {
          throw failure instanceof OperationError ? withoutSecrets(failure, made?.secrets) : failure;
        }
      },
    };
  } catch (failure) {
    return brokenSource(config, asOperation(failure));
  }
}

/** What of a haul are words of the source: servers are known to repeat what was sent to them. */
function pickWords({ skipped, gaps }: Haul): Pick<Haul, 'skipped' | 'gaps'> {
  return { ...(skipped !== undefined && { skipped }), ...(gaps !== undefined && { gaps }) };
}

interface Secrets {
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
}

function secretsOf(config: SourceConfig, context: SecretContext): Secrets {
  if (config.kind === 'prometheus' || config.kind === 'scrape') {
    return config.headers === undefined ? {} : { headers: headersOf(config.headers, context) };
  }
  const token = config.kind === 'slurm' ? config.rest?.token : undefined;
  return token === undefined ? {} : { token: secretOf(token, context) };
}

function headersOf(headers: Headers, context: SecretContext): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : secretOf(value, context),
    ]),
  );
}

/** Each kind's code is loaded only where it is used: cloud and cluster clients are large. */
async function build(config: SourceConfig, context: MakeContext, { headers, token }: Secrets): Promise<Source> {
  const run = context.run ?? runCommand;
  const poll = config.everyS === undefined ? {} : { pollS: config.everyS };
  const sent = headers === undefined ? {} : { headers };
  switch (config.kind) {
    case 'prometheus': {
      const { prometheusSource } = await import('../../sources/prometheus/prometheus-source.ts');
      return prometheusSource({ ...ownOptions(config), ...sent, ...poll });
    }
    case 'scrape': {
      const { scrapeSource } = await import('../../sources/scrape/scrape-source.ts');
      return scrapeSource({ ...ownOptions(config), ...sent, ...poll });
    }
    case 'local': {
      const { localSource } = await import('../../sources/smi/local-source.ts');
      const { name, commandPrefix: prefix, node } = config;
      const machine = node ?? (prefix === undefined ? hostname() : hostOf(prefix));
      return localSource({ name, run, hostname: machine, ...(prefix !== undefined && { prefix }), ...poll });
    }
    case 'kubernetes': {
      const { kubernetesSource } = await import('../../sources/kubernetes/kubernetes-source.ts');
      return kubernetesSource({ ...ownOptions(config), ...poll });
    }
    case 'slurm': {
      const { slurmSource } = await import('../../sources/slurm/slurm-source.ts');
      const { commandPrefix: prefix, rest, ...options } = ownOptions(config);
      return slurmSource({
        ...options,
        run,
        ...poll,
        ...(prefix !== undefined && { prefix }),
        ...(rest !== undefined && { rest: restOf(rest, token) }),
      });
    }
    case 'aws': {
      const { awsSource } = await import('../../sources/cloud/aws-source.ts');
      return awsSource({ ...ownOptions(config), ...poll });
    }
    case 'gcp': {
      const { gcpSource } = await import('../../sources/cloud/gcp-source.ts');
      return gcpSource({ name: config.name, file: config.file });
    }
    case 'azure': {
      const { azureSource } = await import('../../sources/cloud/azure-source.ts');
      return azureSource({ name: config.name, file: config.file });
    }
  }
}

/** What the source itself takes: when to ask it is the collector's, what is secret comes apart. */
function ownOptions<Config extends SourceConfig>(
  config: Config,
): Omit<Config, 'kind' | 'everyS' | 'backfillS' | 'headers'> {
  const { kind: _kind, everyS: _everyS, backfillS: _backfillS, ...options } = config;
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== 'headers')) as Omit<
    Config,
    'kind' | 'everyS' | 'backfillS' | 'headers'
  >;
}

function restOf({ url, user }: NonNullable<SlurmConfig['rest']>, token: string | undefined) {
  return { url, ...(user !== undefined && { user }), ...(token !== undefined && { token }) };
}

/** `box1` of `ssh -p 22 kim@box1`. */
function hostOf(prefix: readonly string[]): string {
  const last = prefix.at(-1) ?? '';
  return last.slice(last.indexOf('@') + 1);
}

function brokenSource({ name, kind, everyS }: SourceConfig, failure: OperationError): Source {
  return {
    name,
    kind,
    reads: `${KIND_WORDS[kind]}, which cannot be asked yet`,
    priority: SILENT_PRIORITY,
    pollS: everyS ?? USUAL_POLL_S,
    check: async () => downBecause(failure),
    pull: () => ({
      [Symbol.asyncIterator]: () => ({ next: async () => Promise.reject(failure) }),
    }),
  };
}

function downBecause(failure: unknown): SourceHealth {
  const { message, hint } = asOperation(failure);
  return { state: 'down', says: message, ...(hint !== undefined && { todo: hint }), advice: [] };
}

/** A mistake of ours is not the outside world's: it goes on as it is. */
function asOperation(failure: unknown): OperationError {
  if (failure instanceof OperationError) return failure;
  throw failure;
}
