import { Dispatcher, Pool } from 'undici';
import { expect, test } from 'vitest';
import { streamBody } from '#providers/kubernetes/transport/body-stream.ts';
import { startServer } from '#test/support/network/hostile-servers.ts';

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  rawHeaders: [],
  rawTrailers: [],
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
};

/** Hands out the parts of an answer, and its end, at once: asking a dispatcher to pause is asking, no more. */
class HastyDispatcher extends Dispatcher {
  readonly #parts: readonly string[];
  readonly #error: Error | undefined;

  constructor(parts: readonly string[], error?: Error) {
    super();
    this.#parts = parts;
    this.#error = error;
  }

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    handler.onRequestStart?.(controller, undefined);
    handler.onResponseStart?.(controller, 200, {});
    for (const part of this.#parts) handler.onResponseData?.(controller, Buffer.from(part));
    if (this.#error === undefined) handler.onResponseEnd?.(controller, {});
    else handler.onResponseError?.(controller, this.#error);
    return true;
  }
}

test.each([
  { end: 'complete', error: undefined },
  { end: 'broken', error: new Error('reset') },
])('works on all parts, one after the other, before it is $end', async ({ end, error }) => {
  const log: string[] = [];
  const ended = await streamBody({
    dispatcher: new HastyDispatcher(['one', 'two', 'three'], error),
    origin: 'http://127.0.0.1',
    path: '/',
    method: 'GET',
    headers: {},
    silence: { probeAfterMs: 1_000, isAlive: async () => true },
    answerTimeoutMs: 1_000,
    durationMs: 60_000,
    silenceMs: 1_000,
    signal: undefined,
    onChunk: async (chunk) => {
      log.push(`${chunk}?`);
      await new Promise(setImmediate);
      log.push(`${chunk}!`);
      return true;
    },
  });
  expect(log).toEqual(['one?', 'one!', 'two?', 'two!', 'three?', 'three!']);
  expect(ended.type).toBe(end);
});

test('ends what the server never ends, although something comes all the time', async () => {
  await using server = await startServer((response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('\n'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const dispatcher = new Pool(server.url, { connections: 1 });
  let received = 0;
  const ended = await streamBody({
    dispatcher,
    origin: server.url,
    path: '/',
    method: 'GET',
    headers: {},
    silence: { probeAfterMs: 10_000, isAlive: async () => true },
    answerTimeoutMs: 10_000,
    silenceMs: 10_000,
    durationMs: 300,
    signal: undefined,
    // What we take for it does not count.
    onChunk: async () => {
      received += 1;
      await new Promise((resolve) => setTimeout(resolve, received === 1 ? 500 : 0));
      return true;
    },
  });
  expect(ended).toMatchObject({ type: 'broken', error: { message: 'no end within 0.3 s' } });
  expect(received).toBeGreaterThan(1);
  await expect.poll(() => server.connections).toBe(0);
  await dispatcher.destroy();
});
