import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LabVariables } from '../../lab.ts';

/** An object of Kubernetes as tests write it. */
export type KubeObject = Readonly<Record<string, unknown>>;

/** What tests need of an object that was made: enough to own others. */
export interface MadeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** A pod as the API server gives it, as far as tests look at it. */
export interface PodObject {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly state: { readonly terminated?: { readonly finishedAt: string } };
    }[];
  };
}

/** The lab's cluster, driven by kubectl as its administrator. */
export interface Cluster {
  readonly kubeconfig: string;
  kubectl(...args: readonly string[]): Promise<string>;
  /** Gives the objects as the server has them, in the same order. */
  apply(...objects: readonly KubeObject[]): Promise<readonly MadeObject[]>;
  get<Shape>(...args: readonly string[]): Promise<Shape>;
  /** A kubeconfig for a service account, in the folder of the test. */
  accountConfig(namespace: string, account: string): Promise<string>;
  /** Waits until it is so, and fails with a word on what was awaited. */
  until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void>;
}

const PATIENCE_MS = 180_000;
const KUBECTL_MS = 30_000;

export function clusterOf(variables: LabVariables, folder: string): Cluster {
  const kubeconfig = variables['KUBECONFIG'] ?? '';
  const program = variables['KUBECTL'] ?? '';
  const kubectl = (args: readonly string[], input = ''): Promise<string> =>
    outputOf(program, ['--kubeconfig', kubeconfig, ...args], input);
  return {
    kubeconfig,
    kubectl: (...args) => kubectl(args),
    apply: async (...objects) => {
      const list = { apiVersion: 'v1', kind: 'List', items: objects };
      const args = ['apply', '--server-side', '--force-conflicts', '-o', 'json', '-f', '-'];
      const made = JSON.parse(await kubectl(args, JSON.stringify(list))) as MadeObject & {
        items?: readonly MadeObject[];
      };
      return made.items ?? [made];
    },
    get: async <Shape>(...args: readonly string[]) =>
      JSON.parse(await kubectl(['get', '-o', 'json', ...args])) as Shape,
    accountConfig: async (namespace, account) => {
      const token = (await kubectl(['create', 'token', account, '-n', namespace, '--duration', '1h'])).trim();
      const [, server = ''] = /server: "?([^",\s]+)/.exec(await readFile(kubeconfig, 'utf8')) ?? [];
      const path = join(folder, `${account}.kubeconfig`);
      await writeFile(path, kubeconfigText({ server, caFile: variables['KUBERNETES_CA'] ?? '', token }));
      return path;
    },
    until: async (what, isSo) => {
      const deadline = Date.now() + PATIENCE_MS;
      while (!(await isSo())) {
        if (Date.now() > deadline) throw new Error(`after ${PATIENCE_MS / 1000} s still not: ${what}`);
        await delay(100);
      }
    },
  };
}

export function kubeconfigText(given: { server: string; caFile: string; token: string }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'reader',
    clusters: [{ name: 'lab', cluster: { server: given.server, 'certificate-authority': given.caFile } }],
    users: [{ name: 'reader', user: { token: given.token } }],
    contexts: [{ name: 'reader', context: { cluster: 'lab', user: 'reader' } }],
  });
}

async function outputOf(program: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(program, args, { stdio: 'pipe', timeout: KUBECTL_MS });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`kubectl ${args.slice(2).join(' ')}: ${stderr.slice(-1000)}`);
  return stdout;
}

/** What a pod's holding must come to, from the API server's own words. */
export interface Truth {
  readonly name: string;
  readonly heldFromS: number;
  /** Undefined while it is held. */
  readonly heldUntilS?: number;
}

/**
 * Everything the API server says about pods, as it says it: the other witness. kubectl watches beside us all the time, with the
 * administrator's rights and code that is not ours.
 */
export class Witness {
  readonly #pods = new Map<string, { last: PodObject; goneS?: number }>();
  readonly #child: ChildProcess;
  #text = '';

  constructor(kubectl: string, kubeconfig: string) {
    const args = ['get', 'pods', '-A', '--watch', '--output-watch-events', '-o', 'json'];
    this.#child = spawn(kubectl, ['--kubeconfig', kubeconfig, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#take(text));
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.kill();
    await ended;
  }

  /** Whether pods whose names begin so are there and in this phase, all of them. */
  isIn(phase: string, ...names: readonly string[]): boolean {
    const there = [...this.#pods.values()].filter(({ goneS }) => goneS === undefined).map(({ last }) => last);
    return names.every((name) => {
      const found = there.filter(({ metadata }) => metadata.name.startsWith(name));
      return found.length > 0 && found.every(({ status }) => status.phase === phase);
    });
  }

  /** Whether these were there and no longer are. */
  areGone(...names: readonly string[]): boolean {
    return names.every((name) =>
      [...this.#pods.values()].some(({ last, goneS }) => last.metadata.name === name && goneS !== undefined),
    );
  }

  /** By uid, all pods that ever had a machine. */
  truths(): ReadonlyMap<string, Truth> {
    const entries = [...this.#pods].flatMap(([uid, { last, goneS }]): [string, Truth][] => {
      const scheduled = last.status.conditions?.find(
        ({ type, status }) => type === 'PodScheduled' && status === 'True',
      );
      if (last.spec.nodeName === undefined || scheduled === undefined) return [];
      const finished = (last.status.containerStatuses ?? []).map(({ state }) => state.terminated?.finishedAt);
      const isOver = finished.length > 0 && finished.every((time) => time !== undefined);
      const endS = isOver ? Math.max(...finished.map((time) => seconds(time ?? ''))) : goneS;
      return [
        [
          uid,
          {
            name: last.metadata.name,
            heldFromS: seconds(scheduled.lastTransitionTime),
            ...(endS !== undefined && { heldUntilS: endS }),
          },
        ],
      ];
    });
    return new Map(entries);
  }

  /** kubectl prints one event a line. */
  #take(text: string): void {
    this.#text += text;
    const lines = this.#text.split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; object: PodObject };
      const gone = event.type === 'DELETED' ? { goneS: Math.round(Date.now() / 1000) } : {};
      this.#pods.set(event.object.metadata.uid, { last: event.object, ...gone });
    }
  }
}

function seconds(time: string): number {
  return Date.parse(time) / 1000;
}
