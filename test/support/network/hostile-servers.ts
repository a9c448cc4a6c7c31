import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/**
 * API servers, or what has taken their place, that mean harm: whatever they are asked, they answer in one way that costs a careless
 * client its memory or its time. Each is plain HTTP on 127.0.0.1, holds next to no memory itself, and waits for who reads slowly.
 */
export interface HostileServer {
  /** In words, for the titles of tests: `a gzip bomb`. */
  readonly name: string;
  /** Starts one. Any number of them may run at a time. */
  start(): Promise<RunningHostileServer>;
}

/** A hostile server that listens. Disposing of it cuts its connections. */
export interface RunningHostileServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** A kubeconfig (JSON) whose current context leads to it. */
  readonly kubeconfig: string;
  /** Method and path of each request so far. */
  readonly requests: readonly string[];
  /** Bytes that it has sent, over all connections that there were. */
  readonly sentBytes: number;
  /** Connections that are open now: none is left to a server that was refused, but for those that wait for its answer. */
  readonly connections: number;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const mebibyte = 2 ** 20;
const json = { 'content-type': 'application/json' };

/** 500 with 200 KB of `<`, which a pattern for tags may follow for minutes. */
const answerAngles: Answer = (response) => {
  response.writeHead(500, { 'content-type': 'text/html' }).end('<'.repeat(200_000));
};

/** 1.5 MB that become 1.5 GB. */
const answerBomb: Answer = (response) => {
  response.writeHead(200, { ...json, 'content-encoding': 'gzip' });
  bomb ??= createBomb();
  response.end(bomb);
};

let bomb: Buffer | undefined;

/** Parts of a gzip stream may follow each other: so it takes the time to compress one of them. */
function createBomb(): Buffer {
  const part = gzipSync(Buffer.alloc(10 * mebibyte, '{"metadata":{}},'), { level: 9 });
  const count = Math.ceil((1.5 * mebibyte) / part.length);
  return Buffer.concat([gzipSync('{"kind":"List","items":['), ...Array.from({ length: count }, () => part)]);
}

/** 800 MB that are one string. */
const answerHuge: Answer = (response) => {
  response.writeHead(200, json).write('{"kind":"List","metadata":{"resourceVersion":"5"},"items":["');
  pour(response, { part: Buffer.alloc(mebibyte, 'x'), count: 800 });
};

/** 800,000 objects at once, whatever `limit` was asked for. */
const answerItems: Answer = (response) => {
  response.writeHead(200, json).write('{"kind":"List","metadata":{"resourceVersion":"5"},"items":[');
  const item = '{"metadata":{"name":"some-name"}},';
  pour(response, { part: Buffer.from(item.repeat(8_000)), count: 100, end: '{}]}' });
};

/** 100,000 levels of objects, as an event to watches. */
const answerDeep: Answer = (response, request) => {
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  response.writeHead(200, json);
  if (isWatch(request)) response.end(`{"type":"ADDED","object":${deep}}\n`);
  else response.end(`{"kind":"List","metadata":{"resourceVersion":"5"},"items":[${deep}]}`);
};

const answerNothing: Answer = () => undefined;

/** Begins an answer, and goes on by a byte a second. */
const answerDrop: Answer = (response) => {
  response.writeHead(200, json).write('{"kind":"List","items":[');
  const timer = setInterval(() => response.write(' '), 1_000);
  response.on('close', () => clearInterval(timer));
};

/** A megabyte that is nothing. */
const answerGarbage: Answer = (response) => {
  response.writeHead(200, json).end(Buffer.alloc(mebibyte, '{[<"\\\u0000\u00ff'));
};

/** Empty lists that can be watched, and watches whose first event never ends. */
const answerEndlessLine: Answer = (response, request) => {
  if (!isWatch(request)) return answerList(response, { items: [] });
  response.writeHead(200, json).write('{"type":"ADDED","object":{"metadata":{"name":"');
  pour(response, { part: Buffer.alloc(64 * 1024, 'x'), count: Number.POSITIVE_INFINITY });
};

let pages = 0;

/** Lists of a page after the other, without an end. */
const answerEndlessPages: Answer = (response, request) => {
  if (isWatch(request)) return answerNothing(response, request);
  pages += 1;
  const items = [{ metadata: { name: `object-${pages}`, namespace: 'default', resourceVersion: '4' } }];
  answerList(response, { items, token: `page-${pages}` });
};

function answerList(response: ServerResponse, { items, token }: { items: unknown[]; token?: string }): void {
  const metadata = { resourceVersion: '5', continue: token };
  response.writeHead(200, json).end(JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata, items }));
}

function isWatch({ url = '' }: IncomingMessage): boolean {
  return url.includes('watch=');
}

interface Poured {
  readonly part: Buffer;
  readonly count: number;
  readonly end?: string;
}

/** Writes a part again and again, as fast as it is read. */
function pour(response: ServerResponse, { part, count, end }: Poured): void {
  let left = count;
  const go = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(part)) return;
    }
    if (left === 0 && !response.writableEnded) response.end(end);
  };
  response.on('drain', go);
  go();
}

/** All of them: ten. */
export const hostileServers: readonly HostileServer[] = [
  { name: '500 with 200 KB of <', start: () => startServer(answerAngles) },
  { name: 'a gzip bomb', start: () => startServer(answerBomb) },
  { name: 'a body of 800 MB', start: () => startServer(answerHuge) },
  { name: '800,000 objects in a page', start: () => startServer(answerItems) },
  { name: '100,000 levels of nesting', start: () => startServer(answerDeep) },
  { name: 'silence', start: () => startServer(answerNothing) },
  { name: 'a byte a second', start: () => startServer(answerDrop) },
  { name: 'garbage', start: () => startServer(answerGarbage) },
  { name: 'a line of a watch that never ends', start: () => startServer(answerEndlessLine) },
  { name: 'pages without end', start: () => startServer(answerEndlessPages) },
];

/** One of `hostileServers`. @throws Error for a name that none has */
export function getHostileServer(name: string): HostileServer {
  const found = hostileServers.find((server) => server.name === name);
  if (found === undefined) throw new Error(`there is no hostile server "${name}"`);
  return found;
}

/** Starts a server that answers every request in the same way. */
export async function startServer(answer: Answer): Promise<RunningHostileServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let sentBefore = 0;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.on('error', () => undefined);
    request.resume();
    answer(response, request);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      sentBefore += socket.bytesWritten;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    kubeconfig: toKubeconfig(url),
    requests,
    get sentBytes() {
      return [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, sentBefore);
    },
    get connections() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toKubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'hostile', cluster: { server } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'hostile', context: { cluster: 'hostile', user: 'nobody' } }],
    'current-context': 'hostile',
  });
}
