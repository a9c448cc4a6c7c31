import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import createConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { createGuardedLookup, type ResolveHost } from '#provider-kit/http-client/guarded-lookup.ts';
import { joinPieces } from './joined-pieces.ts';
import { createSystemResolver } from './lookup-turns.ts';
import { answerHeadersBytesMax } from './response-body.ts';
import { assertAddressesAllowed } from './url-guard.ts';
import type { UrlRestrictions } from './url-restrictions.ts';

/** The longest time that an idle connection is kept at a server's request, in milliseconds. */
export const idleConnectionMaxMs = 10_000;

/** How connections are made. */
interface GuardedAgentOptions {
  readonly restrictions: UrlRestrictions;
  readonly connectTimeoutMs: number;
  /** The system's resolver by default. */
  readonly resolve?: ResolveHost | undefined;
  /** A scheme, host and port for which any certificate is accepted. None by default. */
  readonly insecureOrigin?: string | undefined;
}

/** A connection pool. Disposing of it cuts its connections. */
export interface GuardedAgent extends AsyncDisposable {
  /**
   * Sends one request and returns its response, like undici's `request`. Does not follow redirects.
   *
   * @throws AccessDeniedError if the host may not be connected to, undici's errors otherwise.
   */
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}

/**
 * A connection pool that connects only to allowed addresses.
 *
 * It connects to exactly the addresses that it has checked, so a name cannot resolve to one address for the check and another for the
 * connection. Before a byte is sent, the socket's own remote address is checked again. A URL with an address instead of a name is not
 * resolved: check it with `assertUrlAllowed` beforehand.
 */
export function startGuardedAgent(options: GuardedAgentOptions): GuardedAgent {
  const { restrictions, connectTimeoutMs, insecureOrigin } = options;
  const assertAllowed = (host: string, addresses: readonly string[]) =>
    assertAddressesAllowed(host, addresses, restrictions);
  const connecting = {
    timeout: connectTimeoutMs,
    allowH2: false,
    lookup: createGuardedLookup(options.resolve ?? createSystemResolver(connectTimeoutMs), assertAllowed),
  };
  const connect = createConnector(connecting);
  const connectInsecurely = createConnector({ ...connecting, rejectUnauthorized: false });
  const agent = new Agent({
    allowH2: false,
    maxHeaderSize: answerHeadersBytesMax,
    keepAliveMaxTimeout: idleConnectionMaxMs,
    connect: (target, callback) => {
      const isInsecure = `${target.protocol}//${target.host}` === insecureOrigin;
      (isInsecure ? connectInsecurely : connect)(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        try {
          assertAllowed(target.hostname, [socket.remoteAddress ?? '']);
        } catch (refused) {
          socket.destroy();
          return callback(refused as Error, null);
        }
        callback(null, socket);
      });
    },
  });
  const joining = agent.compose(joinPieces);
  return {
    request: (target) => request.call(joining, target),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
