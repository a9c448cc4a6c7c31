import { expect, test } from 'vitest';
import { Breaker, BreakerOpenError, breakerFailuresMax, breakerOpenMs } from '#core/breaker.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';

const clock = createStandingClock();
let calls = 0;

const fail = async (): Promise<never> => {
  calls += 1;
  throw new Error('away');
};
const succeed = async (): Promise<string> => 'done';

/** What comes of a call: its answer, or the name of its error. */
async function attempt(breaker: Breaker, call: () => Promise<string>): Promise<string> {
  return breaker.run(call).catch((error: Error) => error.name);
}

async function openBreaker(): Promise<Breaker> {
  const breaker = new Breaker({ clock, subject: 'the bus' });
  for (let failure = 0; failure < breakerFailuresMax; failure += 1) await attempt(breaker, fail);
  calls = 0;
  return breaker;
}

test('a breaker lets calls through until some have failed in a row', async () => {
  const breaker = new Breaker({ clock, subject: 'the bus' });
  for (let round = 0; round < 3; round += 1) {
    for (let failure = 1; failure < breakerFailuresMax; failure += 1) await attempt(breaker, fail);
    expect(await attempt(breaker, succeed)).toBe('done');
  }
  for (let failure = 0; failure < breakerFailuresMax; failure += 1) {
    expect(await attempt(breaker, fail)).toBe('Error');
  }
  expect(await attempt(breaker, succeed)).toBe('BreakerOpenError');
});

test('a breaker that is open makes no call, and says why', async () => {
  const breaker = await openBreaker();
  clock.advance(breakerOpenMs - 1);
  await expect(breaker.run(fail)).rejects.toThrow(BreakerOpenError);
  await expect(breaker.run(fail)).rejects.toThrow('the bus has failed 3 times in a row');
  expect(calls).toBe(0);
});

test('a breaker tries one call after a while, and stays open when that fails', async () => {
  const breaker = await openBreaker();
  clock.advance(breakerOpenMs);
  const outcomes = await Promise.all([attempt(breaker, fail), attempt(breaker, fail)]);
  expect(outcomes).toEqual(['Error', 'BreakerOpenError']);
  expect(await attempt(breaker, succeed)).toBe('BreakerOpenError');
  expect(calls).toBe(1);
});

test('a breaker closes when the call that it tries succeeds', async () => {
  const breaker = await openBreaker();
  clock.advance(breakerOpenMs);
  expect(await attempt(breaker, succeed)).toBe('done');
  expect(await attempt(breaker, fail)).toBe('Error');
  expect(await attempt(breaker, succeed)).toBe('done');
});
