import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';

/** Time limits of Front50, milliseconds. */
export interface PoolTimeouts {
  /** To connect, including TLS. */
  readonly connectMs: number;
  /** Until its answer begins. */
  readonly headersMs: number;
  /** Longest pause between two pieces of its answer. */
  readonly bodyMs: number;
}

/** Connections to Front50. Disposing of them cuts them. */
export type ConnectionPool = ReturnType<typeof startConnectionPool>;

/** Opens a pool of at most four connections, on demand. */
export function startConnectionPool({ connectMs, headersMs, bodyMs }: PoolTimeouts) {
  const agent = new Agent({
    allowH2: false,
    connections: 4,
    connect: { timeout: connectMs },
    headersTimeout: headersMs,
    bodyTimeout: bodyMs,
  });
  return {
    /** Sends a GET and returns the response; does not follow redirects. @throws undici's errors, the signal's reason. */
    get: (url: URL, signal: AbortSignal) =>
      request.call(agent, {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        headers: { accept: 'application/json', 'user-agent': 'busdriver' },
        signal,
      }),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
