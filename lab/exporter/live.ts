import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Seconds } from '../../src/demo/timeline.ts';
import { writeDcgm } from './dcgm.ts';
import { kubeStateSeries } from './kube-state.ts';
import { dayAt, type Play } from './play.ts';
import { familyHeader, type Series, type Sink } from './series.ts';
import type { WorldClock } from './world-clock.ts';
import { vllmSeries } from './vllm.ts';

/** What can be scraped; `second` is the other DCGM exporter some machines have. */
export const PAGES = ['dcgm', 'second', 'ksm', 'vllm'] as const;
export type PageName = (typeof PAGES)[number];

export interface LiveExporter {
  /** `127.0.0.1:9400`, as a target of Prometheus. */
  readonly address: string;
  readonly url: string;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 4096;

/** Shows the play at the moment of its clock: `/dcgm`, `/second`, `/ksm` and `/vllm`; `/clock` tells and moves the clock. */
export async function serveExporter(played: Play, clock: WorldClock, port = 0): Promise<LiveExporter> {
  const pages = pagesOf(played);
  const server = createServer((request, response) => {
    // A client that was busy for long would else meet a connection that is just being closed.
    response.setHeader('connection', 'close');
    answer(request, response, played, pages, clock).catch((failure: unknown) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(failure)}\n`);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, url: `http://${address}`, close: () => closed(server) };
}

async function closed(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { scope }: Play,
  pages: ReadonlyMap<string, (moment: Seconds) => string>,
  clock: WorldClock,
): Promise<void> {
  const path = (request.url ?? '').replace(/^\/|\?.*$/g, '');
  if (path === 'clock') {
    if (request.method === 'POST') clock.move(await bodyOf(request));
    response.end(`${new Date(clock.now() * 1000).toISOString()}\n`);
    return;
  }
  const page = pages.get(path);
  const moment = Math.floor(clock.now());
  const text = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
  if (page === undefined) response.writeHead(404, text).end(`There are ${[...pages.keys()].join(', ')} and clock.\n`);
  else if (moment < scope.from || moment >= scope.until)
    response.writeHead(503, text).end(`The world is played from ${iso(scope.from)} to ${iso(scope.until)}.\n`);
  else response.writeHead(200, text).end(page(moment));
}

function pagesOf(played: Play): ReadonlyMap<string, (moment: Seconds) => string> {
  const [kubeState, vllm] = [kubeStateSeries(played, {}), vllmSeries(played, {})];
  return new Map<PageName, (moment: Seconds) => string>([
    ['dcgm', (moment) => dcgmPage(played, moment, 'first')],
    ['second', (moment) => dcgmPage(played, moment, 'second')],
    ['ksm', (moment) => seriesPage(kubeState, moment)],
    ['vllm', (moment) => seriesPage(vllm, moment)],
  ]);
}

/** An exporter shows what it collected last: the newest step that is not after the moment. */
function dcgmPage(played: Play, moment: Seconds, which: 'first' | 'second'): string {
  const { from: origin, stepS } = played.scope;
  const offsetS = which === 'second' ? Math.floor(stepS / 2) : 0;
  const collectedAt = origin + offsetS + Math.floor((moment - origin - offsetS) / stepS) * stepS;
  const day = dayAt(played, collectedAt);
  const page = new Page();
  if (day !== undefined) writeDcgm(played, { ...day, from: collectedAt, until: collectedAt + 1 }, 'sent', page, which);
  return page.text();
}

function seriesPage(series: readonly Series[], moment: Seconds): string {
  const page = new Page();
  for (const { metric, labels, from, until, at } of series)
    if (moment >= from && moment < until) page.sample(metric, labels, String(at(moment)));
  return page.text();
}

/** Samples family by family, as a page of an exporter has them. */
class Page implements Sink {
  readonly #families = new Map<string, string[]>();

  sample(metric: string, labels: string, value: string): void {
    const line = `${metric}{${labels}} ${value}\n`;
    const lines = this.#families.get(metric);
    if (lines === undefined) this.#families.set(metric, [familyHeader(metric, 'text'), line]);
    else lines.push(line);
  }

  text(): string {
    return [...this.#families.values()].flat().join('');
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > BODY_BYTES_MAX) throw new Error('the body is too long: a moment, or seconds such as +60');
  }
  return body.trim();
}

function iso(moment: Seconds): string {
  return new Date(moment * 1000).toISOString();
}
