import { randomUUID } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Route } from '#functions/routes.ts';
import { systemClock } from '#platform/services/system.ts';
import { parseTarget, toProxyEvent } from './front-door/http-event.ts';
import { collectAnswer } from './functions/collected-answer.ts';
import type { Invoker } from './functions/invoker.ts';

/** What a call of our own goes to. */
export interface OwnCallTarget {
  readonly routes: readonly Route[];
  readonly invoker: Invoker;
}

/**
 * Answers a GET as the front door would, without going through it: this process has neither the token nor a certificate that
 * callers may have to show.
 *
 * @param path that of a route without parameters
 * @returns the body, parsed
 * @throws Error when there is no such route, or the function fails
 */
export async function callOwnRoute(path: string, { routes, invoker }: OwnCallTarget): Promise<unknown> {
  const route = routes.find((each) => each.method === 'GET' && each.path === path);
  if (route === undefined) throw new Error(`There is no route GET ${path}`);
  const requestId = randomUUID();
  const event = toProxyEvent({
    ...{ request: makeRequest(), target: parseTarget(path), route, pathParameters: {} },
    ...{ body: Buffer.alloc(0), requestId, receivedAtMs: systemClock.now() },
  });
  const { module, timeoutSeconds } = route;
  const { text } = await collectAnswer(invoker, { module, event, timeoutSeconds, requestId });
  return JSON.parse(text || 'null');
}

/** A request that came over no connection. */
function makeRequest(): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method: 'GET', httpVersion: '1.1' });
}
