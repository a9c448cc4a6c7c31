import { connect, createServer } from 'node:net';
import { listen } from '#test/support/network/listening.ts';

/** A way to a server on which what that sends over a WebSocket is lost. Disposing closes it. */
export interface HintHole extends AsyncDisposable {
  readonly url: string;
  /** Bytes that were lost so far. */
  readonly swallowed: number;
}

/** Opens it on a free port of 127.0.0.1. @param port of the server on 127.0.0.1 */
export async function startHintHole(port: number): Promise<HintHole> {
  let swallowed = 0;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let isHole = false;
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
    near.on('data', (data) => {
      isHole ||= data.includes('GET /agent/v1/hints');
      far.write(data);
    });
    let isOpen = false;
    far.on('data', (data) => {
      if (isHole && isOpen) swallowed += data.length;
      else near.write(data);
      isOpen ||= isHole;
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  return {
    ...(await listen(server)),
    get swallowed() {
      return swallowed;
    },
  };
}
