import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import manifest from '../../package.json' with { type: 'json' };
import type { Desk } from '../app/serve/desk.ts';
import type { WriterState } from '../app/serve/keep-ledger.ts';
import { OperationError } from '../facts/operation-error.ts';
import { replyOf } from './edge/answer.ts';
import type { Reply } from './edge/answer.ts';
import { serverMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { gaugesRoute } from './routes/spend/gauges.ts';
import type { GaugesReply } from './routes/spend/gauges.ts';
import type { Serves } from './service.ts';

/** What the page needs of the server it is of. */
export interface MetricsParts {
  readonly desk: Desk<Reply>;
  readonly writer: () => WriterState | undefined;
  readonly eventClients: () => number;
  readonly now: () => Date;
}

export function newMetrics(): Metrics {
  return serverMetrics(manifest.version);
}

/** Times every request, by the route it was for and not by its address, of which there are too many. */
export function measured(metrics: Metrics): MiddlewareHandler {
  return async (context, next) => {
    const began = performance.now();
    await next();
    metrics.observe({
      method: context.req.method,
      route: routeOf(context),
      status: context.res.status,
      seconds: (performance.now() - began) / 1000,
    });
  };
}

/** Of the handler that answered: `/api/v1/jobs/{job}`, as the document has it; every page and file of the dashboard is one. */
function routeOf(context: Context): string {
  const path = routePath(context).replaceAll(/:(\w+)/g, '{$1}');
  return path.includes('*') ? 'pages' : path;
}

/**
 * Serves /metrics.
 *
 * Where the ledger cannot be read the page is there all the same and says so: an alarm must not depend on what it is about.
 */
export function mountMetrics(serves: Serves, metrics: Metrics, parts: MetricsParts): void {
  serves('getMetrics', async (context) => {
    const gauges = await known(parts.desk);
    const text = await metrics.text(gauges, {
      deriveSeconds: parts.writer()?.lastDeriveSeconds,
      waiting: parts.desk.state().waiting,
      eventClients: parts.eventClients(),
      now: parts.now(),
    });
    return context.body(text, 200, { 'content-type': metrics.contentType });
  });
}

async function known(desk: Desk<Reply>): Promise<GaugesReply | undefined> {
  try {
    const { value } = await desk.ask({
      name: gaugesRoute.name,
      key: 'metrics',
      asOf: undefined,
      answer: async (at) => {
        const answer = await gaugesRoute.answer({
          ...at,
          viewer: { team: undefined },
          query: {},
          params: {},
        });
        return replyOf(JSON.stringify(answer), 'application/json');
      },
    });
    return JSON.parse(new TextDecoder().decode(value.body)) as GaugesReply;
  } catch (failure) {
    if (failure instanceof OperationError) return undefined;
    throw failure;
  }
}
