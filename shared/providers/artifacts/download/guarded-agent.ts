import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import createConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { joinPieces } from './joined-pieces.ts';
import { createSystemResolver } from './lookup-turns.ts';
import { answerHeadersBytesMax } from './response-body.ts';
import { assertAddressesAllowed, hostAddressesMax } from './url-guard.ts';
import type { UrlRestrictions } from './url-restrictions.ts';

/** Longest time that an idle connection is kept because a server asks for it, in milliseconds. */
export const idleConnectionMaxMs = 10_000;

/** Answers every address of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/** How connections are made. */
export interface GuardedAgentOptions {
  readonly restrictions: UrlRestrictions;
  readonly connectTimeoutMs: number;
  /** The system's resolver by default. */
  readonly resolve?: ResolveHost | undefined;
  /** A scheme, host and port whose certificate may be any. None by default. */
  readonly insecureOrigin?: string | undefined;
}

/** A connection pool. Disposing of it breaks its connections. */
export interface GuardedAgent extends AsyncDisposable {
  /**
   * Sends one request and answers its response, as undici's `request` does. Redirects are not followed.
   *
   * @throws AccessDeniedError when the host may not be connected to, undici's errors otherwise.
   */
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}

/**
 * A connection pool that connects to allowed addresses only.
 *
 * The addresses judged are the very ones that are dialled, so a name cannot answer one address to the check and
 * another to the connection. What was dialled is judged once more by the socket's own word before a byte is sent.
 * A URL that holds an address instead of a name is not looked up: judge it with `assertUrlAllowed` beforehand.
 */
export function startGuardedAgent(options: GuardedAgentOptions): GuardedAgent {
  const { restrictions, connectTimeoutMs, insecureOrigin } = options;
  const connecting = {
    timeout: connectTimeoutMs,
    allowH2: false,
    lookup: createGuardedLookup(restrictions, options.resolve ?? createSystemResolver(connectTimeoutMs)),
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
          assertAddressesAllowed(target.hostname, [socket.remoteAddress ?? ''], restrictions);
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

function createGuardedLookup(restrictions: UrlRestrictions, resolve: ResolveHost): LookupFunction {
  async function resolveAllowed(hostname: string): Promise<LookupAddress[]> {
    const found = (await resolve(hostname)).slice(0, hostAddressesMax);
    assertAddressesAllowed(
      hostname,
      found.map(({ address }) => address),
      restrictions,
    );
    return found;
  }
  return (hostname, { all }, callback) => {
    resolveAllowed(hostname).then(
      (found) =>
        all === true ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family),
      (error: Error) => callback(error, []),
    );
  };
}
