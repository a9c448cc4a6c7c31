import type { Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import type { LogFields } from '#core/logger.ts';
import { FunctionTimeoutError, type Handler, Invoker } from '#infra/server/functions/invoker.ts';

test('hands event and context to the function, and its answer back', async () => {
  const { invoker } = open(async (event, context) => ({ event, arn: context.invokedFunctionArn }));
  const answer = await invoker.invoke({ module: 'api/tasks/get-task', event: { a: 1 }, timeoutSeconds: 5 });
  expect(answer).toEqual({ event: { a: 1 }, arn: 'arn:aws:lambda:us-east-1:000000000000:function:get-task' });
});

test('logs and throws what a function throws', async () => {
  const failure = new Error('broken');
  const { invoker, logged } = open(async () => {
    throw failure;
  });
  await expect(invoker.invoke({ module: 'm', event: {}, timeoutSeconds: 5, requestId: 'r' })).rejects.toBe(
    failure,
  );
  expect(logged).toEqual([{ function: 'm', requestId: 'r', error: failure }]);
});

test('gives up on a function after its time', async () => {
  const { invoker } = open(() => new Promise(() => {}));
  await expect(invoker.invoke({ module: 'm', event: {}, timeoutSeconds: 0.02 })).rejects.toThrow(
    FunctionTimeoutError,
  );
});

test('shutting down shortens the remaining time, and waits for what runs', async () => {
  let seen: Context | undefined;
  let finish = () => {};
  const { invoker } = open((_event, context) => {
    seen = context;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  const running = invoker.invoke({ module: 'm', event: {}, timeoutSeconds: 900 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen?.getRemainingTimeInMillis()).toBeGreaterThan(890_000);

  const stopped = invoker.shutDown(10_000);
  expect(seen?.getRemainingTimeInMillis()).toBeLessThanOrEqual(10_000);
  finish();

  expect(await stopped).toBe(true);
  await running;
});

test('shutting down ends when its time is over', async () => {
  const { invoker } = open(() => new Promise(() => {}));
  void invoker.invoke({ module: 'm', event: {}, timeoutSeconds: 900 }).catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await invoker.shutDown(20)).toBe(false);
});

test('shutting down with nothing to wait for ends at once', async () => {
  const { invoker } = open(async () => undefined);
  await invoker.invoke({ module: 'm', event: {}, timeoutSeconds: 1 });
  expect(await invoker.shutDown(60_000)).toBe(true);
});

function open(handler: Handler): { readonly invoker: Invoker; readonly logged: (LogFields | undefined)[] } {
  const logged: (LogFields | undefined)[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_: string, fields?: LogFields) => void logged.push(fields),
  };
  return { invoker: new Invoker(async () => handler, log), logged };
}
