import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import type { RegistryAccount } from './account.ts';
import { createForeignLookup } from './foreign-hosts.ts';
import { requestsAtOnce } from './limits.ts';

/** Time limit of connecting, milliseconds. */
const connectTimeoutMs = 10_000;

/** The most bytes of an answer's headers. */
const answerHeadersBytesMax = 64 * 2 ** 10;

/** One request to one URL; redirects are not followed. */
interface PoolRequest {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Connections of one account. Disposing of them cuts them. */
export type ConnectionPool = ReturnType<typeof startConnectionPool>;

/** Opens the connections of an account on demand: to its registry, at any address, and to other hosts, at public ones unless trusted. */
export function startConnectionPool(account: RegistryAccount) {
  const { baseUrl, insecure, threads, timeoutMs } = account;
  const shared = {
    allowH2: false,
    connections: requestsAtOnce * threads,
    maxHeaderSize: answerHeadersBytesMax,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  };
  const own = new Agent({ ...shared, connect: { timeout: connectTimeoutMs, rejectUnauthorized: !insecure } });
  const lookup = createForeignLookup(baseUrl.hostname, account);
  const foreign = new Agent({ ...shared, connect: { timeout: connectTimeoutMs, lookup } });
  return {
    /** @throws undici's errors, AccessDeniedError for a host that may not be called, the signal's reason. */
    send({ url, method, headers, signal }: PoolRequest) {
      const agent = url.origin === baseUrl.origin ? own : foreign;
      const path = url.pathname + url.search;
      return request.call(agent, { origin: url.origin, path, method, headers, signal });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([own.destroy(), foreign.destroy()]);
    },
  };
}
