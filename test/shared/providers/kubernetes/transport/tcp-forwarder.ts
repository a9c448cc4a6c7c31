import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes connections on to a server, and cuts them when a test says so. */
export interface TcpForwarder extends AsyncDisposable {
  readonly port: number;
  /** Connections so far, and those of them that have ended. */
  readonly counts: { readonly opened: number; readonly ended: number };
  /** Resets every open connection. */
  cut(): void;
}

/** Listens on a free port of 127.0.0.1. @param port of the server on 127.0.0.1 */
export async function startTcpForwarder(port: number): Promise<TcpForwarder> {
  const open = new Set<Socket>();
  const counts = { opened: 0, ended: 0 };
  const door = createServer((near) => {
    counts.opened += 1;
    near.once('close', () => {
      counts.ended += 1;
    });
    const far = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket
        .on('error', () => undefined)
        .once('close', () => {
          open.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: (door.address() as AddressInfo).port,
    counts,
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => door.close(resolve));
    },
  };
}
