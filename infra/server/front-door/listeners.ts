import type { Server } from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server as NetServer } from 'node:net';

/**
 * Sockets that listen on the same port. Of each the event loop takes one connection a turn, and a turn of a busy process takes some
 * milliseconds: callers of a burst who come with connections of their own would wait for many seconds before anybody sees them.
 */
const listenersMax = 16;

/**
 * Connections that wait at each until they are taken. What goes beyond it the kernel drops, and the caller learns of it by sending again
 * and again; Node's default is 511. The kernel's own bound is `net.core.somaxconn`.
 */
const backlog = 4_096;

/** Where to listen. */
export interface ListenAddress {
  /** Name or address to bind; IPv6 with or without brackets. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/**
 * Has a server listen with several sockets, where the system can distribute connections among them (`SO_REUSEPORT`: Linux), else with
 * one. They close when the server does. Only processes of the same user could join them, and a port that is in use already is refused as ever.
 *
 * @throws Error `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, `ENOTFOUND`
 */
export async function startListeners(server: Server, { host, port }: ListenAddress) {
  const wanted = { host: host.replace(/^\[(.*)\]$/, '$1'), port, backlog };
  // No other process gets a port that the system chooses; a given one may be another Busdriver's, which would share it.
  if (port !== 0) await checkFree(wanted);
  const isShared = await listenShared(server, wanted);
  const address = server.address() as AddressInfo;
  const further: NetServer[] = [];
  server.once('close', () => {
    for (const each of further) each.close();
  });
  if (isShared) {
    const shared = { host: address.address, port: address.port, backlog, reusePort: true };
    for (let count = 1; count < listenersMax; count += 1) {
      const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        server.emit('connection', socket);
      });
      further.push(listener);
      await listen(listener, shared);
    }
  }
  return {
    address,
    /** Takes no new connections; those there are go on. */
    close() {
      for (const each of [server, ...further]) each.close();
    },
  };
}

async function checkFree(wanted: ListenOptions): Promise<void> {
  const probe = createServer();
  await listen(probe, wanted);
  await new Promise((resolve) => probe.close(resolve));
}

/** @returns whether others may listen, too */
async function listenShared(server: Server, wanted: ListenOptions): Promise<boolean> {
  try {
    await listen(server, { ...wanted, reusePort: true });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ENOTSUP' && code !== 'EINVAL' && code !== 'ENOPROTOOPT') throw error;
    await listen(server, wanted);
    return false;
  }
}

async function listen(server: NetServer, options: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
