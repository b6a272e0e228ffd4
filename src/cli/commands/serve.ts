import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, Option } from 'commander';
import type { Reply } from '../../api/edge/answer.ts';
import { apiOf } from '../../api/http.ts';
import { isLoopback, listen, parseListen, urlOf } from '../../api/listen.ts';
import type { Address } from '../../api/listen.ts';
import { findConfig } from '../../app/config/config-file.ts';
import { hasDemo } from '../../app/demo/has-demo.ts';
import type { Serving } from '../../app/serve/open-serving.ts';
import { openServing } from '../../app/serve/open-serving.ts';
import { listTokens } from '../../app/serve/tokens.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { tokenState } from '../../facts/token-record.ts';
import { turnTeller } from '../collect-talk.ts';
import { DEMO_DIR } from '../folders.ts';
import { dataFlag, dataOption } from '../question-options.ts';
import { outputOf } from '../output.ts';
import type { Output } from '../output.ts';

interface ServeOptions {
  readonly data: string;
  readonly listen: string;
  readonly config?: string;
  readonly collect: boolean;
  readonly demo?: boolean;
  readonly requireToken?: boolean;
  readonly trustProxy?: boolean;
  readonly allowHost: readonly string[];
}

/** What runs when the signal comes has this long to end. */
const GRACE_MS = 4000;

/** `bursar serve`: collects, derives, and shows: the dashboard and the API. */
export function command(): Command {
  return new Command('serve')
    .description(
      'The dashboard and the API in one process that also collects (where bursar.yaml names sources) and derives.\n' +
        'On this machine only, unless --listen says otherwise; others need a token (bursar token create).',
    )
    .option('--listen <host:port>', 'where to listen', '127.0.0.1:4600')
    .option('--config <file>', 'instead of ./bursar.yaml')
    .option('--no-collect', 'ask no source; facts that others bring in are derived all the same')
    .addOption(
      new Option('--demo', `a made-up organisation, in ${DEMO_DIR}; it is made where it is missing`).conflicts('data'),
    )
    .option('--require-token', 'ask for a token on this machine too; needed behind any proxy')
    .option('--trust-proxy', 'a proxy in front says whose a request is (X-Forwarded-For); --require-token is included')
    .option(
      '--allow-host <name>',
      'a name the server is reached by, behind a proxy for one; may be repeated',
      (name: string, all: string[]) => [...all, name],
      [],
    )
    .addOption(dataOption())
    .action(async (options: ServeOptions, self: Command) => {
      const output = outputOf(self);
      const address = parseListen(options.listen);
      const dataDir = await folderOf(options, self);
      await refuseWithoutToken(address, dataDir, options);
      // Before a demo is made, which takes a minute: a port that is taken is said at once.
      await (await listen({ fetch: () => new Response(), ...address })).stop(0);
      if (options.demo === true) await showDemo(output);
      await serveUntilStopped({ ...options, data: dataDir }, address, output);
    });
}

async function folderOf({ demo, config, data }: ServeOptions, self: Command): Promise<string> {
  if (demo === true) return DEMO_DIR;
  const isSaid = self.getOptionValueSource('data') !== 'default';
  return isSaid || config === undefined ? data : ((await findConfig(config))?.data ?? data);
}

async function showDemo(output: Output): Promise<void> {
  const { makeAndShowDemo, showAgain } = await import('./demo.ts');
  if (await hasDemo(DEMO_DIR)) await showAgain(DEMO_DIR, output);
  else await makeAndShowDemo(DEMO_DIR, output);
  output.talk('');
}

function needsToken(address: Address, { requireToken, trustProxy }: ServeOptions): boolean {
  return !isLoopback(address) || requireToken === true || trustProxy === true;
}

/** Money is nobody's business beyond this machine unless somebody is let in by name. */
async function refuseWithoutToken(address: Address, dataDir: string, options: ServeOptions): Promise<void> {
  if (!needsToken(address, options)) return;
  const now = new Date();
  const tokens = existsSync(join(dataDir, 'state.sqlite')) ? await listTokens(dataDir) : [];
  if (tokens.some((token) => tokenState(token, now) === 'in force')) return;
  throw new OperationError('no-token', `${address.host} can be reached by others, and there is no token yet`, {
    hint:
      `First: bursar token create --name NAME --role admin${dataFlag(dataDir)}. ` +
      'Bursar speaks plain HTTP: put a proxy with TLS in front of it.',
  });
}

async function serveUntilStopped(options: ServeOptions, address: Address, output: Output): Promise<void> {
  const teller = turnTeller(output, () => new Date());
  const serving = await openServing<Reply>({
    dataDir: options.data,
    ...(options.config !== undefined && { configPath: options.config }),
    collect: options.collect,
    now: () => new Date(),
    onTurn: teller.onTurn,
    onTrouble: teller.onTrouble,
    progress: (line) => output.progress(line),
  });
  const { app, events } = apiOf({
    dataDir: options.data,
    desk: serving.desk,
    standing: serving.standing,
    writer: () => serving.keeper.state(),
    webDir: fileURLToPath(new URL('web/', import.meta.url)),
    isLoopback: isLoopback(address),
    needsToken: needsToken(address, options),
    trustsProxy: options.trustProxy === true,
    hosts: options.allowHost,
    now: () => new Date(),
    onMistake: (failure) =>
      output.talk(failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)),
  });
  try {
    // Behind a proxy all connections are of its address.
    const limits = options.trustProxy === true ? { perAddress: Number.POSITIVE_INFINITY } : {};
    const listening = await listen({ fetch: app.fetch, ...address, limits });
    for (const line of greeting(serving, listening.address, options)) output.talk(line);
    try {
      await Promise.race([signalled(), serving.keeper.ended]);
      output.talk('stopping');
    } finally {
      events.close();
      await listening.stop(GRACE_MS);
    }
  } finally {
    await serving.close();
  }
  output.talk('stopped; what was read is kept');
}

function greeting({ keeper }: Serving<Reply>, address: Address, options: ServeOptions): string[] {
  const does =
    keeper.state().does === 'collects'
      ? 'collects from the sources of bursar.yaml and derives'
      : 'asks no source; what is imported meanwhile is derived';
  const who = needsToken(address, options)
    ? 'a token is needed; it speaks plain HTTP, so put a proxy with TLS in front of it'
    : 'only this machine can reach it, without a token (behind a proxy: --require-token, or everybody is this machine)';
  return [urlOf(address), `shows ${options.data}; ${does}; ${who}. Ctrl-C ends it`];
}

async function signalled(): Promise<void> {
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
  });
}
