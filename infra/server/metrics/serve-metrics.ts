import type { Logger } from '#core/logger.ts';
import type { Route } from '#functions/routes.ts';
import type { MeterPort } from '#platform/services/meter.ts';
import { systemClock } from '#platform/services/system.ts';
import { type HttpServer, type StartHttpOptions, startHttp } from '../front-door/http.ts';
import { type Handler, Invoker } from '../functions/invoker.ts';
import { ServerMetrics } from './server-metrics.ts';

/** Where metrics are shown. */
export interface ServeMetricsOptions {
  /** Measures from now on. */
  readonly meter: MeterPort;
  readonly port: number;
  /** The rules of the API's own address. */
  readonly http: Omit<StartHttpOptions, 'routes' | 'invoker' | 'log' | 'port'>;
  readonly log: Logger;
}

/** Paths, each with what it shows: Prometheus' text, and the form of Spinnaker's monitoring daemon. */
const shown: {
  readonly [path: string]: (metrics: ServerMetrics) => Promise<{ type: string; body: string }>;
} = {
  '/metrics': async (metrics) => ({ type: metrics.contentType, body: await metrics.formatForPrometheus() }),
  '/spectator/metrics': async (metrics) => ({
    type: 'application/json',
    body: await metrics.formatForSpectator(systemClock.now()),
  }),
};

/** Shows the metrics of this process at a port of their own, behind the same door as the API. @throws Error when the address cannot be bound */
export async function serveMetrics({ meter, port, http, log }: ServeMetricsOptions): Promise<HttpServer> {
  const metrics = new ServerMetrics();
  const load = async (path: string): Promise<Handler> => {
    return async () => {
      const { type, body } = (await shown[path]?.(metrics)) ?? { type: 'text/plain', body: '' };
      return { statusCode: 200, headers: { 'content-type': type }, body };
    };
  };
  const toRoute = (path: string): Route => {
    return { method: 'GET', path, module: path, reaches: 'store', access: 'anonymous', timeoutSeconds: 10 };
  };
  const routes = Object.keys(shown).map(toRoute);
  const server = await startHttp({ ...http, routes, invoker: new Invoker(load, log), port, log });
  meter.bind(metrics);
  log.info('metrics are shown', { url: `${server.url}/metrics` });
  return server;
}
