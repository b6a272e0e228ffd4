import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import { Agent as HttpAgent } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { RequestOptions } from 'node:https';
import { OperationError } from '../../../facts/operation-error.ts';
import { execCredential } from './exec-credential.ts';
import { textAt } from './json-shape.ts';
import type { ClusterName } from './problem.ts';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
}

/** Everything a request needs beside its path. */
export interface Connection extends ClusterName {
  readonly baseUrl: URL;
  readonly options: Omit<RequestOptions, 'headers'>;
  readonly headers: OutgoingHttpHeaders;
  close(): void;
}

const CREDENTIAL_TIMEOUT_MS = 20_000;
const SOCKETS_MAX = 8;

/**
 * Finds the cluster and its credentials as kubectl would. Made anew for each pull, so that a token or kubeconfig that was replaced
 * meanwhile is the one that counts.
 */
export async function connect(asked: ClusterOptions, signal: AbortSignal): Promise<Connection> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  load(config, asked);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw noContext(config, asked);
  const context = asked.inCluster === true ? undefined : config.getCurrentContext();
  const baseUrl = addressOf(cluster);
  // The library refuses plain HTTP; on loopback, where kubectl proxy listens, there is nobody to hide from.
  if (baseUrl.protocol === 'http:' && isLoopback(baseUrl.hostname)) Object.assign(cluster, { skipTLSVerify: true });
  await runPlugin(config, asked, signal);
  const { headers, ...options } = await authenticated(config, baseUrl);
  const agent = agentFor(cluster, options);
  return {
    ...(context !== undefined && { context }),
    server: `${baseUrl.protocol}//${baseUrl.host}`,
    baseUrl,
    options: { ...options, agent },
    headers: headers === undefined || Array.isArray(headers) ? {} : (headers as OutgoingHttpHeaders),
    close: () => agent.destroy(),
  };
}

function load(config: KubeConfig, { kubeconfig, context, inCluster }: ClusterOptions): void {
  try {
    if (inCluster === true) config.loadFromCluster();
    else if (kubeconfig !== undefined) config.loadFromFile(kubeconfig);
    else config.loadFromDefault();
  } catch (cause) {
    const where = kubeconfig ?? process.env['KUBECONFIG'] ?? '~/.kube/config';
    throw new OperationError('kubernetes-config', `the kubeconfig ${where} cannot be read: ${reasonOf(cause)}`, {
      hint: 'check the path and who may read the file; kubectl config view shows what kubectl makes of it',
      cause,
    });
  }
  if (context !== undefined) config.setCurrentContext(context);
  // The library invents an address where it finds no configuration at all.
  const invented = config.getCurrentCluster()?.server === 'http://localhost:8080' && kubeconfig === undefined;
  if (invented || (inCluster === true && process.env['KUBERNETES_SERVICE_HOST'] === undefined)) {
    throw new OperationError(
      'kubernetes-config',
      inCluster === true ? 'this is not inside a Kubernetes cluster' : 'there is no kubeconfig',
      { hint: 'say where it is with --kubeconfig FILE, or set KUBECONFIG' },
    );
  }
}

function noContext(config: KubeConfig, { context }: ClusterOptions): OperationError {
  const names = config.getContexts().map(({ name }) => name);
  const known = names.length === 0 ? 'it has none' : `it has ${names.slice(0, 10).join(', ')}`;
  const asked = context ?? config.getCurrentContext();
  return new OperationError(
    'kubernetes-config',
    asked === undefined || asked === ''
      ? 'the kubeconfig has no current context'
      : `the kubeconfig has no usable context ${asked}`,
    { hint: `choose one with context: in bursar.yaml, or kubectl config use-context NAME; ${known}` },
  );
}

function addressOf(cluster: Cluster): URL {
  if (!URL.canParse(cluster.server) || !/^https?:/.test(cluster.server)) {
    throw new OperationError('kubernetes-config', `the kubeconfig gives ${cluster.name} an address that is no URL`, {
      hint: 'server: must look like https://HOST:6443',
    });
  }
  return new URL(cluster.server);
}

/** Replaces the plugin by what it gave: the library's own way to run it has no time limit. */
async function runPlugin(config: KubeConfig, { kubeconfig }: ClusterOptions, signal: AbortSignal): Promise<void> {
  const user = config.getCurrentUser();
  const exec: unknown = user?.exec;
  if (user === null || exec === undefined || exec === null) return;
  const { token, certificatePem, keyPem } = await execCredential(exec, {
    ...(kubeconfig !== undefined && { kubeconfig }),
    signal,
    timeoutMs: CREDENTIAL_TIMEOUT_MS,
  });
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  Object.assign(user, {
    exec: undefined,
    ...(token !== undefined && { token }),
    ...(certificatePem !== undefined && { certData: base64(certificatePem), certFile: undefined }),
    ...(keyPem !== undefined && { keyData: base64(keyPem), keyFile: undefined }),
  });
}

async function authenticated(config: KubeConfig, baseUrl: URL): Promise<RequestOptions> {
  const options: RequestOptions = {};
  let limit: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    limit = setTimeout(() => {
      const message = `no credential for ${baseUrl.host} within ${CREDENTIAL_TIMEOUT_MS / 1000} s`;
      reject(new OperationError('kubernetes-credential', message, { hint: 'log in again with kubectl' }));
    }, CREDENTIAL_TIMEOUT_MS);
  });
  try {
    await Promise.race([config.applyToHTTPSOptions(options), tooLate]);
  } catch (cause) {
    if (cause instanceof OperationError) throw cause;
    throw new OperationError('kubernetes-credential', `no credential for ${baseUrl.host}: ${reasonOf(cause)}`, {
      hint: 'check certificates, keys and token files of the kubeconfig; kubectl get nodes should work',
      cause,
    });
  } finally {
    clearTimeout(limit);
  }
  return options;
}

/** The library's agent opens a connection for each request; only through a proxy there is no way around it. */
function agentFor(cluster: Cluster, options: RequestOptions): HttpAgent {
  const { agent } = options;
  if (textAt(cluster, 'proxyUrl') !== undefined && agent instanceof HttpAgent) return agent;
  const pool = { keepAlive: true, maxSockets: SOCKETS_MAX };
  if (cluster.server.startsWith('http:')) return new HttpAgent(pool);
  const { ca, cert, key, passphrase, rejectUnauthorized, servername } = options;
  const given = Object.entries({ ca, cert, key, passphrase, rejectUnauthorized, servername });
  return new HttpsAgent({ ...pool, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** A file's trouble is named; anything else of a library may repeat what it was given, which may be secret. */
function reasonOf(cause: unknown): string {
  const code = textAt(cause, 'code');
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'this user may not read it';
  if (code === 'EISDIR') return 'it is a folder';
  const isNamed = cause instanceof Error && cause.message.endsWith('is missing');
  return isNamed ? cause.message : 'it is not what it should be';
}
