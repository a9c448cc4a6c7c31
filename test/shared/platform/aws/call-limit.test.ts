import { expect, test } from 'vitest';
import { limitCalls } from '#platform/aws/call-limit.ts';

/** Sends calls that never end, each limited to 1,200 ms by a clock that the test turns. */
function sendForever() {
  const sleeps: number[] = [];
  let endSleep = (): void => undefined;
  const clock = {
    sleep: (ms: number) => {
      sleeps.push(ms);
      return new Promise<void>((resolve) => {
        endSleep = resolve;
      });
    },
  };
  const send = Promise.withResolvers<() => Promise<unknown>>();
  limitCalls(
    {
      middlewareStack: {
        add: (middleware) => send.resolve(() => middleware(() => new Promise(() => undefined))({})),
      },
    },
    { callMs: 1_200, clock },
  );
  return { sleeps, send: send.promise, endSleep: () => endSleep() };
}

test('a process that stood still counts half a second against a call, however long it stood', async () => {
  const { sleeps, send, endSleep } = sendForever();
  const call = (await send)();
  let isOver = false;
  const ended = call
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  for (let ends = 0; ends < 2; ends += 1) {
    endSleep();
    await new Promise(setImmediate);
  }
  expect(isOver).toBe(false);
  expect(sleeps).toEqual([500, 500, 200]);
  endSleep();
  expect(String(await ended)).toContain('took longer than 1200 ms');
});
