import { spawn } from 'node:child_process';
import { dirname, isAbsolute, join } from 'node:path';
import { OperationError } from '../../../facts/operation-error.ts';
import { firstWords } from '../../http/http-failure.ts';
import { listAt, textAt } from './json-shape.ts';

/** What a credential plugin (aws, gke-gcloud-auth-plugin, kubelogin, tsh, …) gave. */
export interface ExecCredential {
  readonly token?: string;
  readonly certificatePem?: string;
  readonly keyPem?: string;
}

interface ExecContext {
  /** Where a command with a path of its own is looked for. */
  readonly kubeconfig?: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * Runs the plugin that a kubeconfig names and gives its credential.
 *
 * The client library would wait for it for ever; plugins do hang, on a browser login nobody sees or on a network. They run without a
 * terminal and are ended with all they have started.
 */
export async function execCredential(exec: unknown, context: ExecContext): Promise<ExecCredential> {
  const command = textAt(exec, 'command');
  if (command === undefined) throw badPlugin('the kubeconfig names a credential plugin without a command');
  if (textAt(exec, 'interactiveMode') === 'Always') {
    throw badPlugin(`the credential plugin ${command} wants a person at a terminal`);
  }
  const args = listAt(exec, 'args').map(String);
  const program = command.includes('/') && !isAbsolute(command) ? fromFolderOf(context.kubeconfig, command) : command;
  const apiVersion = textAt(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1';
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
  const own = listAt(exec, 'env').flatMap((pair): [string, string][] => {
    const name = textAt(pair, 'name');
    return name === undefined ? [] : [[name, textAt(pair, 'value') ?? '']];
  });
  const env = { ...process.env, ...Object.fromEntries(own), KUBERNETES_EXEC_INFO: info };
  return credentialIn(await outputOf(program, args, env, context), command);
}

function fromFolderOf(kubeconfig: string | undefined, command: string): string {
  return kubeconfig === undefined ? command : join(dirname(kubeconfig), command);
}

function outputOf(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { signal, timeoutMs }: ExecContext,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let [stdout, stderr, bytes] = ['', '', 0];
    const end = (failure: OperationError): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
      endGroup(child.pid);
      reject(failure);
    };
    const onAbort = (): void =>
      end(
        new OperationError('aborted', `stopped while ${program} was asked for a credential`, { cause: signal.reason }),
      );
    const limit = setTimeout(() => {
      end(badPlugin(`the credential plugin ${program} gave nothing within ${Math.round(timeoutMs / 1000)} s`));
    }, timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const take = (chunk: string): string => {
      bytes += chunk.length;
      if (bytes > OUTPUT_BYTES_MAX) end(badPlugin(`the credential plugin ${program} prints without end`));
      return chunk;
    };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += take(chunk)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += take(chunk)));
    child.on('error', (cause) => end(badPlugin(`the credential plugin ${program} cannot be run`, cause)));
    child.on('close', (code) => {
      clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
      if (code === 0) resolve(stdout);
      else reject(badPlugin(`the credential plugin ${program} failed: ${withoutSecrets(stderr)}`));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (failure) {
    // It has ended by itself in the meantime.
    if (textAt(failure, 'code') !== 'ESRCH') throw failure;
  }
}

function credentialIn(output: string, command: string): ExecCredential {
  let json: unknown;
  try {
    json = JSON.parse(output);
  } catch (cause) {
    throw badPlugin(`the credential plugin ${command} printed no JSON`, cause);
  }
  const token = textAt(json, 'status', 'token');
  const certificatePem = textAt(json, 'status', 'clientCertificateData');
  const keyPem = textAt(json, 'status', 'clientKeyData');
  if (token === undefined && (certificatePem === undefined || keyPem === undefined)) {
    throw badPlugin(`the credential plugin ${command} gave neither a token nor a certificate`);
  }
  return {
    ...(token !== undefined && { token }),
    ...(certificatePem !== undefined && { certificatePem }),
    ...(keyPem !== undefined && { keyPem }),
  };
}

/** The end of what a plugin complained about, without anything that could be a token. */
function withoutSecrets(text: string): string {
  const lines = text.trim().split('\n');
  return (
    firstWords(
      lines
        .slice(-2)
        .join(' ')
        .replaceAll(/[\w-]{40,}(?:\.[\w-]+)*/g, '…'),
    ) || 'it said nothing'
  );
}

function badPlugin(message: string, cause?: unknown): OperationError {
  return new OperationError('kubernetes-credential-plugin', message, {
    hint: 'run kubectl get nodes in a terminal; when that works without asking anything, Bursar can read the cluster too',
    ...(cause !== undefined && { cause }),
  });
}
