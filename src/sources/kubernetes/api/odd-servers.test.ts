import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Haul } from '../../../facts/source.ts';
import { kubernetesSource } from '../kubernetes-source.ts';
import { connect } from './connection.ts';
import { get } from './request.ts';

/** A server that is no API server, or a sick one: the real one of the lab never behaves like this. */
type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

let folder: string;
let server: Server | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-odd-'));
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => (server === undefined ? done(undefined) : server.close(done)));
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function kubeconfigOf(answer: Answer, user: object = { token: 'secret-token' }): Promise<string> {
  server = createServer((request, response) => answer(request, response, new URL(request.url ?? '/', 'http://x')));
  await new Promise((done) => server?.listen(0, '127.0.0.1', () => done(undefined)));
  const { port } = server.address() as AddressInfo;
  const path = join(folder, 'kubeconfig');
  const config = {
    'current-context': 'odd',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'odd', context: { cluster: 'c', user: 'u' } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

async function pull(kubeconfig: string, cursor?: unknown, signal = AbortSignal.timeout(50_000)): Promise<Haul> {
  const source = kubernetesSource({ name: 'k', kubeconfig });
  for await (const haul of source.pull(cursor, { now: new Date(), signal, progress: () => undefined })) return haul;
  throw new Error('no haul');
}

const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const list = (items: readonly unknown[], metadata: object = {}) => ({
  items,
  metadata: { resourceVersion: '100', ...metadata },
});
const gpuPod = (name: string, version: string) => ({
  metadata: {
    uid: `uid-${name}`,
    name,
    namespace: 'nlp',
    creationTimestamp: '2026-11-16T08:59:00Z',
    resourceVersion: version,
  },
  spec: { nodeName: 'n1', containers: [{ resources: { limits: { 'nvidia.com/gpu': '1' } } }] },
  status: {
    phase: 'Running',
    conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-16T09:00:00Z' }],
  },
});
const openNames = (haul: Haul) =>
  haul.facts.find(({ batch }) => batch === 'open')?.rows.map((row) => row['workload_name']);

/** Nodes, kinds and versions as any server has them; pods as the case wants. */
const withPods =
  (pods: Answer): Answer =>
  (request, response, url) => {
    if (url.pathname === '/api/v1/pods') pods(request, response, url);
    else if (url.pathname === '/api/v1/nodes') json(response, list([]));
    else if (url.pathname === '/version') json(response, { gitVersion: 'v1.34.4' });
    else json(response, {}, 404);
  };

const refused: Record<string, { answer: Answer; code: string }> = {
  'a login page': {
    answer: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>log in</html>'),
    code: 'kubernetes-answer',
  },
  'a server in trouble': { answer: (_, response) => json(response, { message: 'etcd' }, 503), code: 'kubernetes-busy' },
  'a server that cuts every answer': {
    answer: (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"items"');
      setImmediate(() => response.destroy());
    },
    code: 'kubernetes-unreachable',
  },
  'a list without a version': {
    answer: withPods((_, response) => json(response, { items: [] })),
    code: 'kubernetes-answer',
  },
  'a list without end': {
    answer: withPods((_, response) => json(response, list([], { continue: 'more' }))),
    code: 'kubernetes-too-large',
  },
  'an answer larger than any list': {
    answer: withPods((_, response) => {
      const piece = Buffer.alloc(1_048_576, 32);
      const send = (): void => {
        while (response.write(piece));
        response.once('drain', send);
      };
      send();
    }),
    code: 'kubernetes-too-large',
  },
};

describe('a server that is none, or is sick', () => {
  for (const [name, { answer, code }] of Object.entries(refused)) {
    it(`${name} is told in words, within time and memory`, async () => {
      const kubeconfig = await kubeconfigOf(answer);
      await expect(pull(kubeconfig)).rejects.toMatchObject({ name: 'OperationError', code });
      const health = await kubernetesSource({ name: 'k', kubeconfig }).check(AbortSignal.timeout(50_000));
      expect(JSON.stringify(health)).not.toContain('secret-token');
    });
  }

  it('one that never answers is given up on', async () => {
    const kubeconfig = await kubeconfigOf(() => undefined);
    const signal = AbortSignal.timeout(20_000);
    const connection = await connect({ kubeconfig }, signal);
    const ask = { path: '/version', what: 'ask for its version', signal, silenceMsMax: 200 };
    await expect(get(connection, ask)).rejects.toMatchObject({ code: 'kubernetes-timeout' });
    connection.close();
  });

  it('one that stops in the middle is given up on', async () => {
    const kubeconfig = await kubeconfigOf((_, response) => {
      response.writeHead(200);
      response.write('{');
    });
    const signal = AbortSignal.timeout(20_000);
    const connection = await connect({ kubeconfig }, signal);
    const ask = { path: '/version', what: 'ask for its version', signal, silenceMsMax: 200 };
    await expect(get(connection, ask)).rejects.toMatchObject({ code: 'kubernetes-timeout' });
    connection.close();
  });

  it('a pull that is stopped stops', async () => {
    const kubeconfig = await kubeconfigOf(() => undefined);
    await expect(pull(kubeconfig, undefined, AbortSignal.timeout(200))).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('lists and watches that go wrong', () => {
  const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
  const bookmark = event('BOOKMARK', { metadata: { resourceVersion: '200' } });

  it('a list whose pages expire is read at once', async () => {
    const kubeconfig = await kubeconfigOf(
      withPods((_, response, { searchParams }) => {
        if (searchParams.has('continue')) json(response, { message: 'expired' }, 410);
        else if (searchParams.has('limit')) json(response, list([gpuPod('a', '1')], { continue: 'more' }));
        else json(response, list([gpuPod('a', '1'), gpuPod('b', '2')]));
      }),
    );
    expect(openNames(await pull(kubeconfig))).toEqual(['a', 'b']);
  });

  /** By the version that is watched from: what the watch sends, and whether it is cut there. */
  const watches: Record<
    string,
    { sends: Record<string, string>; status?: number; want: string[]; versions: string[] }
  > = {
    'a watch that is cut goes on from its last event': {
      sends: {
        100: event('ADDED', gpuPod('b', '101')) + '{"type":"ADD',
        101: event('ADDED', gpuPod('c', '102')) + bookmark,
      },
      want: ['a', 'b', 'c'],
      versions: ['100', '101'],
    },
    'a watch that has expired, as an event under HTTP 200, is followed by a list': {
      sends: { 100: event('ERROR', { code: 410, reason: 'Expired' }) },
      want: ['a'],
      versions: ['100'],
    },
    'a watch that has expired, as a status': { sends: {}, status: 410, want: ['a'], versions: ['100'] },
    'a watch that is not allowed': { sends: {}, status: 403, want: ['a'], versions: ['100'] },
    'a watch that talks nonsense': { sends: { 100: 'what?\n' }, want: ['a'], versions: ['100'] },
    'a watch of a server that knows no bookmarks': {
      sends: { 100: event('DELETED', gpuPod('a', '101')), 101: '' },
      want: [],
      versions: ['100', '101'],
    },
  };
  for (const [name, { sends, status = 200, want, versions }] of Object.entries(watches)) {
    it(name, async () => {
      const asked: string[] = [];
      const kubeconfig = await kubeconfigOf(
        withPods((_, response, { searchParams }) => {
          if (!searchParams.has('watch')) return json(response, list([gpuPod('a', '1')]));
          const version = searchParams.get('resourceVersion') ?? '';
          asked.push(version);
          if (status !== 200) return json(response, {}, status);
          response.writeHead(200);
          response.write(sends[version] ?? '');
          return void setImmediate(() => response.end());
        }),
      );
      const { cursor } = await pull(kubeconfig);
      expect(openNames(await pull(kubeconfig, cursor))).toEqual(want);
      expect(asked).toEqual(versions);
    });
  }
});

describe('credential plugins', () => {
  const plugin = (script: string, more: object = {}) => ({
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', script], ...more },
  });
  const authorization: string[] = [];
  const answer: Answer = withPods((request, response) => {
    authorization.push(request.headers.authorization ?? '');
    json(response, list([]));
  });

  it('give the token', async () => {
    const script = `const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      console.log(JSON.stringify({ status: { token: info.kind + '-' + process.env.OWN } }))`;
    await pull(await kubeconfigOf(answer, plugin(script, { env: [{ name: 'OWN', value: 'mine' }] })));
    expect(authorization).toContain('Bearer ExecCredential-mine');
  });

  const broken: Record<string, { user: object; says: RegExp }> = {
    'that fail are told with their last words, without tokens': {
      user: plugin(`console.error('login has expired ' + 'x'.repeat(60)); process.exit(1)`),
      says: /failed: login has expired …$/,
    },
    'that are not there': {
      user: { exec: { command: 'no-such-plugin-anywhere' } },
      says: /no-such-plugin-anywhere cannot be run/,
    },
    'that print no JSON': { user: plugin(`console.log('hello')`), says: /printed no JSON/ },
    'that give nothing': { user: plugin(`console.log('{}')`), says: /neither a token nor a certificate/ },
    'that want a person': { user: plugin('', { interactiveMode: 'Always' }), says: /wants a person/ },
    'that print without end': {
      user: plugin(`setInterval(() => console.log('x'.repeat(1e5)), 0)`),
      says: /without end/,
    },
  };
  for (const [name, { user, says }] of Object.entries(broken)) {
    it(name, async () => {
      const kubeconfig = await kubeconfigOf(answer, user);
      const health = await kubernetesSource({ name: 'k', kubeconfig }).check(AbortSignal.timeout(20_000));
      expect(health.state).toBe('down');
      expect(health.says).toMatch(says);
    });
  }

  it('that hang are ended with all they started', async () => {
    const kubeconfig = await kubeconfigOf(answer, plugin('setInterval(() => {}, 1000)'));
    const begun = Date.now();
    await expect(pull(kubeconfig, undefined, AbortSignal.timeout(500))).rejects.toMatchObject({ code: 'aborted' });
    expect(Date.now() - begun).toBeLessThan(15_000);
  });
});
