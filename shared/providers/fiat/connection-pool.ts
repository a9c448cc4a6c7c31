import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';

/** Connections that a process keeps to Fiat at most. */
export const connectionsMax = 16;

/** A question. */
export interface PoolRequest {
  readonly origin: string;
  /** Sent as it is. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

/** Connections to Fiat, kept alive between questions. Disposing of them breaks them. */
export interface ConnectionPool extends AsyncDisposable {
  /** Sends a GET and answers the response; redirects are not followed. @throws undici's errors, the signal's reason. */
  get(question: PoolRequest): Promise<Dispatcher.ResponseData>;
}

/** Opens a pool, which connects on demand. `tryMs`: milliseconds for each step of a question. */
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
