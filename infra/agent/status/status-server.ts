import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import type { AgentHealth, Health } from './agent-health.ts';
import type { AgentMetrics } from './agent-metrics.ts';

/** Connections at once: of a kubelet and some who collect metrics. */
const connectionsMax = 50;

/** Milliseconds and bytes that a request's head may take. */
const headMs = 5_000;
const headBytesMax = 8_192;

/** The answer at a path. */
interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

type Pages = ReadonlyMap<string, () => Page | Promise<Page>>;

/** The address of a server. */
export interface StatusAddress {
  /** Name or address to bind; undefined: all addresses, of IPv6 too where the machine has it. */
  readonly host: string | undefined;
  /** 0 takes any free port. */
  readonly port: number;
  /** For TLS: certificate, key and authorities, as texts. */
  readonly tls?: TlsOptions | undefined;
}

/** A server that shows how the agent is. Disposing closes it, with its connections. */
export interface StatusServer extends AsyncDisposable {
  /** The port that it got. */
  readonly port: number;
}

/** Serves `/health` (liveness), `/health/liveness` and `/health/readiness`. @throws Error when the address cannot be had */
export async function startHealthServer(
  health: Pick<AgentHealth, 'liveness' | 'readiness'>,
  address: StatusAddress,
): Promise<StatusServer> {
  return startServer(
    new Map([
      ['/health', () => toHealthPage(health.liveness)],
      ['/health/liveness', () => toHealthPage(health.liveness)],
      ['/health/readiness', () => toHealthPage(health.readiness)],
    ]),
    address,
  );
}

/** Serves `/metrics`, and the same at `/prometheus_metrics`. @throws Error when the address cannot be had */
export async function startMetricsServer(
  metrics: Pick<AgentMetrics, 'contentType' | 'format'>,
  address: StatusAddress,
): Promise<StatusServer> {
  const page = async (): Promise<Page> => ({
    status: 200,
    contentType: metrics.contentType,
    body: await metrics.format(),
  });
  return startServer(
    new Map([
      ['/metrics', page],
      ['/prometheus_metrics', page],
    ]),
    address,
  );
}

function toHealthPage({ isGood, status }: Health): Page {
  return {
    status: isGood ? 200 : 503,
    contentType: 'application/json',
    body: `${JSON.stringify({ status })}\n`,
  };
}

async function startServer(pages: Pages, { host, port, tls }: StatusAddress): Promise<StatusServer> {
  const options = { headersTimeout: headMs, requestTimeout: headMs, maxHeaderSize: headBytesMax };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(pages, request, response).catch(() => response.destroy());
  const server: Server =
    tls === undefined
      ? createServer(options, listener)
      : createSecureServer({ ...options, ...tls }, listener);
  server.maxConnections = connectionsMax;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  // A connection that broke before its request was read does not matter.
  server.off('error', reject).on('error', () => undefined);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(pages: Pages, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  request.resume();
  const isRead = method === 'GET' || method === 'HEAD';
  const page = isRead ? await pages.get(url.split('?', 1)[0] ?? '')?.() : undefined;
  const { status, contentType, body } = page ?? toRefusal(isRead);
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(!isRead && { allow: 'GET, HEAD' }),
  });
  response.end(method === 'HEAD' ? undefined : body);
}

function toRefusal(isRead: boolean): Page {
  const [status, body] = isRead ? [404, 'not found\n'] : [405, 'only GET and HEAD\n'];
  return { status, contentType: 'text/plain; charset=utf-8', body };
}
