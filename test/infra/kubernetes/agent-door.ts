import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where agents reach replicas, as through a Service: one address, and whichever replica is behind it. Disposing closes it. */
export interface AgentDoor extends AsyncDisposable {
  readonly url: string;
  /** Port of the replica to which new connections lead. */
  port: number;
  /** What agents asked for so far: `GET /agent/v1/sessions/…/work`. */
  readonly asked: readonly string[];
}

const requestLine = /^((?:GET|POST|PUT|DELETE) \/agent\/v1\/\S+) HTTP\/1\.1\r$/gm;

/** Listens on a free port of 127.0.0.1. @param port of the first replica */
export async function startAgentDoor(port: number): Promise<AgentDoor> {
  const open = new Set<Socket>();
  const asked: string[] = [];
  const server = createServer((near) => {
    const far = connect(door.port, '127.0.0.1');
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined).once('close', () => open.delete(socket));
    }
    near.on('data', (data) => {
      for (const [, line = ''] of data.toString('latin1').matchAll(requestLine)) asked.push(line);
    });
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const door: AgentDoor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return door;
}
