import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';

/** A server on this machine that is up. Disposing of it breaks its connections. */
export interface StartedHost extends AsyncDisposable {
  /** For example `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Connections to it that are open. */
  readonly connections: number;
}

/** A server of artifacts that means harm, or is broken beyond what anybody expects. */
export interface HostileHost {
  /** What it does to who asks it. */
  readonly name: string;
  start(): Promise<StartedHost>;
}

/** Answers one request on a socket. It is told the path, and when the connection is gone. */
type Answer = (socket: Socket, path: string, gone: AbortSignal) => void | Promise<void>;

const chunk = Buffer.alloc(2 ** 16, '<');

/** Every hostile server there is. None ends what it begins, unless its name says so. */
export const hostileArtifactHosts: readonly HostileHost[] = [
  toHost('body without end', async (socket, _, gone) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    while (!gone.aborted) await write(socket, chunk, gone);
  }),
  toHost('body without end, in pieces of one byte', async (socket, _, gone) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const pieces = Buffer.from('1\r\n<\r\n'.repeat(10_000));
    while (!gone.aborted) await write(socket, pieces, gone);
  }),
  toHost('gzip bomb of 4 GiB in 4 MiB', async (socket, _, gone) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n');
    const bomb = createGzip();
    bomb.on('data', (piece: Buffer) => void socket.write(piece));
    const zeros = Buffer.alloc(2 ** 20);
    for (let count = 0; count < 4_096 && !gone.aborted; count += 1) {
      await new Promise((resolve) => bomb.write(zeros, resolve));
    }
    bomb.end(() => socket.end());
  }),
  toHost('gzip within gzip, and garbage behind', (socket) => {
    const body = Buffer.concat([gzipSync(gzipSync(Buffer.alloc(2 ** 24))), chunk]);
    socket.end(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`),
        body,
      ]),
    );
  }),
  toHost('body that drips', (socket, _, gone) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    return drip(socket, () => '<', gone);
  }),
  toHost('headers that drip', (socket, _, gone) => {
    socket.write('HTTP/1.1 200 OK\r\nX-');
    return drip(socket, () => 'x', gone);
  }),
  toHost('interim answers without end', (socket, _, gone) =>
    drip(socket, () => 'HTTP/1.1 102 Processing\r\n\r\n', gone),
  ),
  toHost('silence', () => {}),
  toHost('silence after the headers', (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
  }),
  toHost('redirects in a circle', (socket, path) => redirect(socket, path === '/a' ? '/b' : '/a')),
  toHost('redirect that drips, in a circle', async (socket, path, gone) => {
    await pause(20, gone);
    redirect(socket, `${path}x`);
  }),
  toHost('redirect to this machine', (socket) => redirect(socket, 'http://127.0.0.2:22/')),
  toHost('redirect to a metadata service', (socket) =>
    redirect(socket, 'http://169.254.169.254/latest/meta-data/iam/security-credentials/'),
  ),
  toHost('redirect to a metadata service in IPv6', (socket) =>
    redirect(socket, 'http://[::ffff:169.254.169.254]/latest/meta-data/'),
  ),
  toHost('redirect to a host of 10,000 dots', (socket) =>
    redirect(socket, `http://a${'.'.repeat(10_000)}b/`),
  ),
  toHost('redirect that hides its host behind a user name', (socket) =>
    redirect(socket, 'http://api.github.com@127.0.0.1:1/'),
  ),
  toHost('headers without end', async (socket, _, gone) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    for (let count = 0; !gone.aborted; count += 1) {
      await write(socket, Buffer.from(`X-${count}: ${'x'.repeat(1_000)}\r\n`), gone);
    }
  }),
  toHost('one header of a gigabyte', async (socket, _, gone) => {
    socket.write('HTTP/1.1 200 OK\r\nX: ');
    while (!gone.aborted) await write(socket, chunk, gone);
  }),
  toHost('status line without end', async (socket, _, gone) => {
    socket.write('HTTP/1.1 200 ');
    while (!gone.aborted) await write(socket, chunk, gone);
  }),
  toHost('status line of garbage', (socket) => {
    socket.end(Buffer.concat([Buffer.from([0, 255, 254, 13, 10, 27, 91]), chunk]));
  }),
  toHost('lengths that contradict each other', (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\nhello');
  }),
  toHost('length beyond any number', (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(400)}\r\n\r\nhello`);
  }),
  toHost('error with a body without end', async (socket, _, gone) => {
    socket.write('HTTP/1.1 500 Oops\r\n\r\n');
    while (!gone.aborted) await write(socket, chunk, gone);
  }),
  toHost('JSON of a million levels', (socket) => {
    socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'['.repeat(1_000_000)}`);
  }),
];

function toHost(name: string, answer: Answer): HostileHost {
  return { name, start: () => startHost(answer) };
}

/** A server that reads the head of each request, and then leaves the socket to `answer`. */
async function startHost(answer: Answer): Promise<StartedHost> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const gone = new AbortController();
    let head = '';
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      gone.abort();
    });
    socket.on('data', (data) => {
      head += data.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      const [, path = '/'] = head.split(' ', 2);
      head = '';
      void answer(socket, path, gone.signal);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function redirect(socket: Socket, location: string): void {
  socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

/** Writes, and waits while the other side takes nothing. */
async function write(socket: Socket, bytes: Buffer, gone: AbortSignal): Promise<void> {
  if (socket.write(bytes)) return new Promise((resolve) => setImmediate(resolve));
  await once(socket, 'drain', { signal: gone }).catch(() => {});
}

/** A piece every ten milliseconds, for as long as anybody listens. */
async function drip(socket: Socket, next: () => string, gone: AbortSignal): Promise<void> {
  while (!gone.aborted) {
    socket.write(next());
    await pause(10, gone);
  }
}

function pause(ms: number, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    gone.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
