import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { agentRoutes } from '#functions/agent-routes.ts';
import { listen } from '#test/support/network/listening.ts';

export interface CallCounter extends AsyncDisposable {
  readonly url: string;
  /** How often each function of agents was called since it was last asked, by the function's name; connects are `hints`. */
  takeCounts(): ReadonlyMap<string, number>;
}

/** Counts what passes on its way to a system, WebSockets too. */
export async function startCallCounter(target: string): Promise<CallCounter> {
  const { hostname, port } = new URL(target);
  let counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const server = createServer((call, answer) => {
    count(findFunction(call));
    void forward(call, answer, { hostname, port });
  });
  server.on('upgrade', (call, socket) => {
    count('hints');
    joinSockets(call, socket, connect(Number(port), hostname));
  });
  return {
    ...(await listen(server)),
    takeCounts() {
      const taken = counts;
      counts = new Map();
      return taken;
    },
  };
}

async function forward(
  call: IncomingMessage,
  answer: ServerResponse,
  { hostname, port }: Pick<URL, 'hostname' | 'port'>,
): Promise<void> {
  const { method, url: path, headers } = call;
  const forwarded = request({ ...{ hostname, port, method, path, headers }, agent: false });
  forwarded.once('response', (answered) => {
    answer.writeHead(answered.statusCode ?? 502, answered.headers);
    void pipeline(answered, answer).catch(() => answer.destroy());
  });
  await pipeline(call, forwarded).catch(() => answer.destroy());
}

/** The head of the request goes on as it came; then each side hears the other. */
function joinSockets({ method, url, rawHeaders }: IncomingMessage, socket: Duplex, target: Duplex): void {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  );
  target.write(`${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);
  void pipeline(socket, target, socket).catch(() => socket.destroy());
}

const names = agentRoutes.map(({ method, path, module }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  name: module.slice(module.lastIndexOf('/') + 1),
}));

function findFunction({ method, url = '' }: IncomingMessage): string {
  const { pathname } = new URL(url, 'http://localhost');
  const found = names.find((each) => each.method === method && each.pattern.test(pathname));
  return found?.name ?? `${method} ${pathname}`;
}
