import { OperationError } from '../../../facts/operation-error.ts';
import { firstWords } from '../../http/http-failure.ts';
import { textAt } from './json-shape.ts';

/** How the cluster is called in messages and in commands to paste. */
export interface ClusterName {
  /** The context of the kubeconfig; undefined inside a cluster. */
  readonly context?: string;
  readonly server: string;
}

const CERTIFICATE_CODES = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

/** What went wrong on the way to the API server, in words, and what to do. */
export function connectionProblem(cluster: ClusterName, cause: unknown): OperationError {
  if (cause instanceof OperationError) return cause;
  const code = codeOf(cause);
  const server = cluster.server;
  const problem = (name: string, message: string, hint: string): OperationError =>
    new OperationError(name, message, { hint, cause });
  if (CERTIFICATE_CODES.has(code)) {
    return problem(
      'kubernetes-certificate',
      `${server} shows a certificate that the kubeconfig's authority did not sign (${code})`,
      `the kubeconfig may be of an earlier cluster: fetch it again, or correct certificate-authority-data${ofContext(cluster)}`,
    );
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    const hint = 'renew the certificate, and check the clocks of both machines';
    return problem('kubernetes-certificate', `${server}: the certificate is not valid now (${code})`, hint);
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const hint = 'use a name that the certificate has, or set tls-server-name in the kubeconfig';
    return problem('kubernetes-certificate', `${server}: the certificate is for another name`, hint);
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    const hint = 'check the address in the kubeconfig; a client certificate may be broken or refused';
    return problem('kubernetes-tls', `${server}: no secure connection (${code})`, hint);
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    const hint = `check the address${ofContext(cluster)}; private clusters are known only inside their network or VPN`;
    return problem('kubernetes-unreachable', `${server}: the name is not known`, hint);
  }
  const hint = `check that the cluster runs and that this machine reaches it (VPN?): kubectl${contextFlag(cluster)} version`;
  return problem('kubernetes-unreachable', `${server} cannot be reached${code === '' ? '' : ` (${code})`}`, hint);
}

/** An error status of the API server, in words. */
export function statusProblem(cluster: ClusterName, what: string, status: number, body: unknown): OperationError {
  const said = textAt(body, 'message') ?? '';
  if (status === 401) {
    return new OperationError('kubernetes-unauthorized', `${cluster.server} does not accept the credentials`, {
      hint: `the token or certificate has expired or is of another cluster: log in again, then try kubectl${contextFlag(cluster)} get nodes`,
    });
  }
  if (status === 403) {
    return new OperationError('kubernetes-forbidden', `may not ${what}${said === '' ? '' : `: ${firstWords(said)}`}`, {
      hint: `somebody with the right to do so runs: ${roleCommand(cluster, said)}`,
    });
  }
  if (status === 429 || status >= 500) {
    return new OperationError(
      'kubernetes-busy',
      `${cluster.server} answers ${status} to ${what}: ${firstWords(said)}`,
      {
        hint: 'the API server has trouble of its own or asks for patience; the next pull tries again',
      },
    );
  }
  return new OperationError(
    'kubernetes-answer',
    `${cluster.server} answers ${status} to ${what}${said === '' ? '' : `: ${firstWords(said)}`}`,
    { hint: 'is this the address of a Kubernetes API server?' },
  );
}

export function notKubernetes(cluster: ClusterName, what: string): OperationError {
  return new OperationError(
    'kubernetes-answer',
    `${cluster.server} answers ${what} with something that is no JSON of Kubernetes`,
    {
      hint: 'is there a login page or a proxy in front of the API server?',
    },
  );
}

export function tooSlow(cluster: ClusterName, what: string, limitMs: number): OperationError {
  return new OperationError(
    'kubernetes-timeout',
    `${cluster.server}: no answer to ${what} within ${Math.round(limitMs / 1000)} s`,
    {
      hint: 'the API server may be overloaded, or a firewall drops silently; the next pull tries again',
    },
  );
}

export function tooMuch(cluster: ClusterName, what: string, limit: string): OperationError {
  return new OperationError(
    'kubernetes-too-large',
    `${cluster.server}: the answer to ${what} is larger than ${limit}`,
    {
      hint: 'this does not look like an API server; if it is one, please report the size of the cluster',
    },
  );
}

interface Role {
  readonly name: string;
  readonly verbs: string;
  readonly resources: string;
}

/** The least that is needed; the same stands in docs/sources/kubernetes.yaml. */
const READER: Role = { name: 'bursar-reader', verbs: 'get,list,watch', resources: 'pods,nodes' };

/** Optional: what stands between most pods and the thing people know by name. */
export const OWNERS: Role = {
  name: 'bursar-owners',
  verbs: 'get,list',
  resources: 'replicasets.apps,deployments.apps,statefulsets.apps,jobs.batch,cronjobs.batch',
};

/** The command that gives a role to who was refused. It needs no file, only somebody with the right to run it. */
export function roleCommand(cluster: ClusterName, refusal: string, role: Role = READER): string {
  const [, user] = /User "([^"]+)"/.exec(refusal) ?? [];
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user ?? '') ?? [];
  const who =
    namespace !== undefined && account !== undefined
      ? `--serviceaccount=${word(`${namespace}:${account}`)}`
      : `--user=${word(user ?? 'NAME')}`;
  const kubectl = `kubectl${contextFlag(cluster)}`;
  return (
    `${kubectl} create clusterrole ${role.name} --verb=${role.verbs} --resource=${role.resources} && ` +
    `${kubectl} create clusterrolebinding ${role.name} --clusterrole=${role.name} ${who}`
  );
}

function contextFlag({ context }: ClusterName): string {
  return context === undefined ? '' : ` --context ${word(context)}`;
}

function ofContext({ context }: ClusterName): string {
  return context === undefined ? '' : ` of context ${context}`;
}

/** One word of a shell command, whatever is in it: names come from the outside and end in what people paste. */
function word(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '');
  return /^[\w@%+=:,./-]+$/.test(clean) ? clean : `'${clean.replaceAll("'", String.raw`'\''`)}'`;
}

function codeOf(error: unknown): string {
  const code = textAt(error, 'code') ?? (error instanceof Error ? textAt(error.cause, 'code') : undefined);
  return code ?? '';
}
