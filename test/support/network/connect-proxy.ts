import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from '#test/shared/providers/kubernetes/credentials/certificates.ts';

/** A proxy for CONNECT that alone knows where some hosts are. */
export interface ConnectProxy extends AsyncDisposable {
  readonly url: string;
  /** Hosts that were asked for, in the order of their tunnels. */
  readonly hosts: readonly string[];
}

/** Starts a proxy. @param places where hosts are: `127.0.0.1:41234` by name; others are refused */
export async function startConnectProxy(places: ReadonlyMap<string, string>): Promise<ConnectProxy> {
  const hosts: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
  };
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '' }, client: Socket) => {
    keep(client);
    const host = url.replace(/:\d+$/, '');
    hosts.push(host);
    const place = places.get(host);
    if (place === undefined) return client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const { hostname, port } = new URL(`http://${place}`);
    const target = keep(connect(Number(port), hostname, () => client.write('HTTP/1.1 200 OK\r\n\r\n')));
    target.pipe(client).pipe(target);
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hosts,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Speaks TLS in front of a server that does not. @returns where it listens: `127.0.0.1:41234` */
export async function startTlsFront(
  port: number,
  { certificate, key }: Identity,
): Promise<AsyncDisposable & { readonly place: string }> {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ cert: certificate, key }, (client) => {
    const target = connect(port, '127.0.0.1');
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    }
    target.pipe(client).pipe(target);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
