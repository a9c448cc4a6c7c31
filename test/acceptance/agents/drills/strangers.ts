import { once } from 'node:events';
import { connect } from 'node:net';

/** Strangers who asked for connections together. Disposing has them go. */
export interface Strangers extends AsyncDisposable {
  readonly statuses: readonly string[];
  /** How many are told over a connection that they prove nothing. */
  readonly told: number;
  /** In how many seconds at most all of them were answered. */
  readonly seconds: number;
}

/** Asks for connections for hints with a token that proves nothing, and never answers their ends. */
export async function connectStrangers(url: string, count: number): Promise<Strangers> {
  const { host, hostname, port } = new URL(url);
  const request = [
    ...['GET /agent/v1/hints HTTP/1.1', `host: ${host}`, 'connection: Upgrade', 'upgrade: websocket'],
    ...['sec-websocket-version: 13', 'sec-websocket-key: AQIDBAUGBwgJCgsMDQ4PEA=='],
    'authorization: Bearer no-token',
  ];
  const startedMs = performance.now();
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  const statuses = await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => undefined).write(`${request.join('\r\n')}\r\n\r\n`);
      const [answer] = await once(socket, 'data');
      return String(answer).slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3);
    }),
  );
  return {
    statuses,
    told: statuses.filter((status) => status === '101').length,
    seconds: Math.ceil((performance.now() - startedMs) / 1_000),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Strangers who ask again as soon as they are answered, until they are disposed of. */
export interface Flood<Answer> extends AsyncDisposable {
  readonly answers: ReadonlyMap<Answer, number>;
  readonly count: number;
}

/** Begins a flood. @param ask asks once, with a token that proves nothing or with none */
export function startFlood<Answer>(
  ask: (token: string | undefined) => Promise<Answer>,
  { senders }: { readonly senders: number },
): Flood<Answer> {
  const answers = new Map<Answer, number>();
  let isOver = false;
  const send = async (sender: number): Promise<void> => {
    while (!isOver) {
      const answer = await ask(sender % 2 === 0 ? undefined : 'no-token');
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const sending = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  return {
    answers,
    get count() {
      return [...answers.values()].reduce((sum, each) => sum + each, 0);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await sending;
    },
  };
}
