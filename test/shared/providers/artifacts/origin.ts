import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web server on this machine that remembers what it was asked. */
export interface Origin extends AsyncDisposable {
  /** For example `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly IncomingMessage[];
  /** How many connections were opened to it. */
  readonly connections: number;
}

/** Starts a server on 127.0.0.1. */
export async function startOrigin(listener: RequestListener): Promise<Origin> {
  const requests: IncomingMessage[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
