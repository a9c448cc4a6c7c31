import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Identity } from '#test/shared/providers/kubernetes/credentials/certificates.ts';

/** A host on this machine that keeps all that it is sent. */
export interface Place extends AsyncDisposable {
  /** For example `https://localhost:41234`: `https` where it has a certificate. */
  readonly url: string;
  /** Target, headers and body of each request, as one text. */
  readonly received: readonly string[];
}

/** How a place is started. */
export interface PlaceOptions {
  /** How others call this machine. Default `127.0.0.1`. */
  readonly name?: string;
  /** Default: it speaks plain HTTP. */
  readonly identity?: Identity | undefined;
}

/** Starts a place. @param answer called when a request is there as a whole */
export async function startPlace(
  answer: (request: IncomingMessage, response: Parameters<RequestListener>[1]) => void,
  { name = '127.0.0.1', identity }: PlaceOptions = {},
): Promise<Place> {
  const received: string[] = [];
  const listener: RequestListener = async (request, response) => {
    const body = await text(request);
    received.push([request.url, ...request.rawHeaders, body].join('\n'));
    answer(request, response);
  };
  const server =
    identity === undefined
      ? createServer(listener)
      : createTlsServer({ cert: identity.certificate, key: identity.key }, listener);
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${identity === undefined ? 'http' : 'https'}://${name}:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
