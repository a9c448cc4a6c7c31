import { connect, createServer, type Socket } from 'node:net';
import { listen } from '#test/support/network/listening.ts';

/** A port that leads to a server and remembers when connections were asked for. Disposing closes it. */
export interface CountingDoor extends AsyncDisposable {
  readonly port: number;
  /** Most connections that were asked for within any one second since a time of `performance.now()`. */
  readPeakSince(timeMs: number): number;
  /** How many sessions of agents asked for work since a time of `performance.now()`. */
  countAskingSince(timeMs: number): number;
}

/** What an agent asks for work with: so short that it comes in one piece, at the beginning of it. */
const asking = /^GET \/agent\/v1\/sessions\/([^/ ]+)\/work /;

/** Opens it on a free port of 127.0.0.1. @param port of the server on 127.0.0.1, which may come and go */
export async function startCountingDoor(port: number): Promise<CountingDoor> {
  const times: number[] = [];
  /** When each session asked for work last. */
  const askedMs = new Map<string, number>();
  const server = createServer((near) => {
    times.push(performance.now());
    near.on('data', (chunk) => {
      const session = asking.exec(chunk.toString('latin1'))?.[1];
      if (session !== undefined) askedMs.set(session, performance.now());
    });
    join(near, connect(port, '127.0.0.1'));
  });
  return {
    ...(await listen(server)),
    readPeakSince: (timeMs) => findPeak(times.filter((time) => time >= timeMs)),
    countAskingSince: (timeMs) => [...askedMs.values()].filter((askedAt) => askedAt >= timeMs).length,
  };
}

function join(near: Socket, far: Socket): void {
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    socket.on('error', () => undefined).once('close', () => other.destroy());
    socket.pipe(other);
  }
}

/** @param times in order, milliseconds */
function findPeak(times: readonly number[]): number {
  let peak = 0;
  for (let first = 0, last = 0; last < times.length; last += 1) {
    while ((times[last] ?? 0) - (times[first] ?? 0) >= 1_000) first += 1;
    peak = Math.max(peak, last - first + 1);
  }
  return peak;
}
