import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A port that leads to a server, and that can be shut. */
export interface ClosableDoor extends AsyncDisposable {
  readonly port: number;
  /** Cuts what is open; from then on connections are refused. */
  shut(): Promise<void>;
  /** Connections lead to the server again. */
  open(): Promise<void>;
}

/** Opens a door on a free port of 127.0.0.1. @param port of the server on 127.0.0.1 */
export async function startClosableDoor(port: number): Promise<ClosableDoor> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let ownPort = 0;
  const open = async (): Promise<void> => {
    server = createServer((near) => join(sockets, near, connect(port, '127.0.0.1')));
    await new Promise<void>((resolve) => server?.listen(ownPort, '127.0.0.1', resolve));
    ownPort = (server.address() as AddressInfo).port;
  };
  const shut = async (): Promise<void> => {
    const closed = new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
    server = undefined;
  };
  await open();
  return { port: ownPort, open, shut, [Symbol.asyncDispose]: shut };
}

function join(sockets: Set<Socket>, near: Socket, far: Socket): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    socket.pipe(other);
  }
}
