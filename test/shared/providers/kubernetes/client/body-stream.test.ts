import { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { streamBody } from '../../../../../shared/providers/kubernetes/client/body-stream.ts';

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
    silence: { patienceMs: 1_000, isAlive: async () => true },
    answerTimeoutMs: 1_000,
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
