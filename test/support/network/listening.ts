import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on a port of its own. Disposing closes it, and breaks its connections. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
}

/** Has a server listen on any free port of 127.0.0.1, whatever it speaks. */
export async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
