import { randomUUID } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { asString, getPath } from '#core/json.ts';
import type { Route } from '#functions/routes.ts';
import { systemClock } from '#platform/services/system.ts';
import { parseTarget, toProxyEvent } from './front-door/http-event.ts';
import type { Invoker } from './functions/invoker.ts';
import { ResponseStream } from './functions/response-streaming.ts';

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
  const chunks: Buffer[] = [];
  const stream = new ResponseStream({
    begin: () => undefined,
    write: async (bytes) => void chunks.push(bytes),
    end: () => undefined,
  });
  const { module, timeoutSeconds } = route;
  const answer = await invoker.invoke({ module, event, timeoutSeconds, requestId, stream });
  if (!stream.writableEnded) return JSON.parse(asString(getPath(answer, 'body')) ?? 'null');
  await finished(stream);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** A request that came over no connection. */
function makeRequest(): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method: 'GET', httpVersion: '1.1' });
}
