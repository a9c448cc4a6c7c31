import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import type { Queue } from '#functions/queues.ts';
import type { Route } from '#functions/routes.ts';
import type { Schedule } from '#functions/schedules.ts';
import type { Table } from '#platform/aws/tables.ts';
import type { MeterPort } from '#platform/services/meter.ts';
import { type HttpServer, type StartHttpOptions, startHttp } from './front-door/http.ts';
import type { Invoker } from './functions/invoker.ts';
import { offerResponseStreaming } from './functions/response-streaming.ts';
import { startScheduler } from './functions/scheduler.ts';
import { type EventSource, type QueueClient, startWorkers } from './functions/workers.ts';
import type { ServeMetricsOptions } from './metrics/serve-metrics.ts';

/** The functions and what they need: what CDK deploys, this runs. */
export interface Inventory {
  readonly routes: readonly Route[];
  readonly queues: readonly Queue[];
  readonly schedules: readonly Schedule[];
  readonly tables: readonly Table[];
}

/** What has functions called in this process. */
export interface ServeFunctionsOptions {
  readonly inventory: Inventory;
  /** Loads functions, and runs them. */
  readonly invoker: Invoker;
  /** Where and how the API answers. */
  readonly http: Omit<StartHttpOptions, 'routes' | 'invoker' | 'log' | 'meter'>;
  /** Takes what functions measure. */
  readonly meter: MeterPort;
  /** Port of metrics; 0 takes any free one. Default: nothing is measured. */
  readonly metricsPort?: number | undefined;
  /** Where the messages come from that functions take. */
  readonly sources: readonly EventSource[];
  /** What calls SQS. */
  readonly sqs: QueueClient;
  /** Turns the schedules. */
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds that invocations under way get when it is disposed of. */
  readonly shutdownTimeoutMs: number;
}

/**
 * Has functions called in this process: by requests over HTTP, by messages of queues, and by the clock. Disposing takes nothing new, and
 * lets end what runs.
 *
 * @throws Error when the address cannot be bound (`EADDRINUSE`, `EACCES` …)
 */
export async function serveFunctions(options: ServeFunctionsOptions) {
  const { inventory, invoker, sources, sqs, clock, log, meter, metricsPort } = options;
  await using starting = new AsyncDisposableStack();
  offerResponseStreaming();
  // Disposed of in reverse order: first nothing new is taken, then what runs may end, then connections are cut.
  const http = starting.use(
    await startHttp({ ...options.http, routes: inventory.routes, invoker, log, meter }),
  );
  const metrics =
    metricsPort === undefined
      ? undefined
      : starting.use(await showMetrics({ meter, port: metricsPort, http: options.http, log }));
  starting.defer(async () => {
    await invoker.shutDown(options.shutdownTimeoutMs);
  });
  starting.use(startWorkers({ sources, sqs, invoker, log }));
  const scheduler = starting.use(startScheduler({ schedules: inventory.schedules, invoker, clock }));
  starting.defer(() => http.stopAccepting());
  void invoker.preload(listModules(inventory));
  const running = starting.move();
  return {
    /** Where the API answers, for example `http://127.0.0.1:7002`. */
    url: http.url,
    /** Where metrics are shown; undefined where they are not. */
    metricsUrl: metrics && `${metrics.url}/metrics`,
    /** Has the schedules run soon that are to run after an event of this type. */
    tell: (eventType: string) => scheduler.tell(eventType),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Loaded late: without a port nothing is measured. */
async function showMetrics(options: ServeMetricsOptions): Promise<HttpServer> {
  const { serveMetrics } = await import('./metrics/serve-metrics.ts');
  return serveMetrics(options);
}

/** Modules of all functions of Spinnaker's API, those first that a deploy waits for. */
function listModules({ routes, queues, schedules }: Inventory): readonly string[] {
  const ours = routes.filter(({ api = 'clouddriver' }) => api === 'clouddriver');
  return [...ours.filter(({ method }) => method === 'POST'), ...queues, ...ours, ...schedules].map(
    ({ module }) => module,
  );
}
