import { type ClientOptions, WebSocket } from 'ws';

/** A connection for hints of a client that sends what it likes. Disposing cuts it. */
export interface HintSocket extends Disposable {
  /** What it was sent so far: the JSON of each frame. */
  readonly frames: readonly unknown[];
  /** Resolves with the code of its end. */
  readonly closed: Promise<number>;
  /** Resolves with the next frame that fits. */
  waitFor(fits: (frame: { readonly [member: string]: unknown }) => boolean): Promise<unknown>;
  send(data: string | Uint8Array): void;
}

/** Connects for hints. @throws Error that names the status with which the server refuses to */
export async function connectForHints(
  url: string,
  token: string | undefined,
  options: ClientOptions = {},
): Promise<HintSocket> {
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...options.headers };
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/agent/v1/hints`, { ...options, headers });
  const frames: unknown[] = [];
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  return {
    frames,
    closed,
    waitFor(fits) {
      const known = frames.find((frame) => fits(frame as { [member: string]: unknown }));
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => {
        socket.on('message', (data) => {
          const frame = JSON.parse(String(data));
          if (fits(frame)) resolve(frame);
        });
      });
    },
    send: (data) => socket.send(data),
    [Symbol.dispose]: () => socket.terminate(),
  };
}
