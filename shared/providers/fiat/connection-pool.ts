import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';

/** The most connections of a process to Fiat. */
export const connectionsMax = 16;

/** A request. */
export interface PoolRequest {
  readonly origin: string;
  /** Sent unchanged. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

/** Connections to Fiat, kept alive between requests. Disposing of them cuts them. */
export interface ConnectionPool extends AsyncDisposable {
  /** Sends a GET and returns the response; does not follow redirects. @throws undici's errors, the signal's reason. */
  get(question: PoolRequest): Promise<Dispatcher.ResponseData>;
}

/** Opens a pool, which connects on demand. `tryMs`: milliseconds for each step of a request. */
export function startConnectionPool(tryMs: number): ConnectionPool {
  const agent = new Agent({
    allowH2: false,
    connections: connectionsMax,
    connect: { timeout: tryMs },
    headersTimeout: tryMs,
    bodyTimeout: tryMs,
  });
  return {
    get: ({ origin, path, headers, signal }) =>
      request.call(agent, {
        origin,
        path,
        method: 'GET',
        headers: { accept: 'application/json', 'user-agent': 'busdriver', ...headers },
        signal,
      }),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
