import { expect, test } from 'vitest';
import { type Credential, CredentialCache } from '#providers/kubernetes/credentials/credentials.ts';
import { TurnedClock } from '../client/client-setup.ts';

/** A source of tokens `t1`, `t2` … that live so long. */
function createSource(clock: TurnedClock, lifeMs: number | undefined) {
  const state = { calls: 0, failing: false };
  const source = async (): Promise<Credential> => {
    state.calls += 1;
    const authorization = `t${state.calls}`;
    await Promise.resolve();
    if (state.failing) throw new Error('plugin broken');
    return { authorization, ...(lifeMs !== undefined && { expiresAtMs: clock.now() + lifeMs }) };
  };
  return { source, state };
}

test('a credential is made once, however many wait for it', async () => {
  const clock = new TurnedClock();
  const { source, state } = createSource(clock, undefined);
  const cache = new CredentialCache(source, clock);
  expect(cache.get()).toBeUndefined();
  const made = await Promise.all([cache.renew(), cache.renew(), cache.renew()]);
  expect(made.map(({ authorization }) => authorization)).toEqual(['t1', 't1', 't1']);
  clock.turn(1e12);
  expect(cache.get()?.authorization).toBe('t1');
  expect(state.calls).toBe(1);
});

test('it is renewed a minute ahead of its expiry while requests go on with it', async () => {
  const clock = new TurnedClock();
  const { source, state } = createSource(clock, 900_000);
  const cache = new CredentialCache(source, clock);
  await cache.renew();
  clock.turn(839_000);
  expect(cache.get()?.authorization).toBe('t1');
  expect(state.calls).toBe(1);
  clock.turn(2_000);
  expect(cache.get()?.authorization).toBe('t1');
  expect(cache.get()?.authorization).toBe('t1');
  await expect.poll(() => cache.get()?.authorization).toBe('t2');
  expect(state.calls).toBe(2);
});

test('a short-lived one is kept for most of its life', async () => {
  const clock = new TurnedClock();
  const { source, state } = createSource(clock, 10_000);
  const cache = new CredentialCache(source, clock);
  await cache.renew();
  clock.turn(7_900);
  cache.get();
  expect(state.calls).toBe(1);
  clock.turn(200);
  cache.get();
  expect(state.calls).toBe(2);
});

test('a renewal that fails is tried again after a pause, and is told only once the old one has expired', async () => {
  const clock = new TurnedClock();
  const { source, state } = createSource(clock, 900_000);
  const cache = new CredentialCache(source, clock);
  await cache.renew();
  state.failing = true;
  clock.turn(850_000);
  for (let request = 0; request < 10; request += 1) expect(cache.get()?.authorization).toBe('t1');
  await new Promise(setImmediate);
  expect(state.calls).toBe(2);
  clock.turn(5_000);
  expect(cache.get()?.authorization).toBe('t1');
  expect(state.calls).toBe(3);
  await new Promise(setImmediate);
  clock.turn(50_000);
  expect(cache.get()).toBeUndefined();
  await expect(cache.renew()).rejects.toThrow('plugin broken');
  state.failing = false;
  expect((await cache.renew()).authorization).toBe('t5');
});

test('what the server refused is forgotten, but not what came in its place meanwhile', async () => {
  const clock = new TurnedClock();
  const { source } = createSource(clock, undefined);
  const cache = new CredentialCache(source, clock);
  const refused = await cache.renew();
  cache.discard(refused);
  expect(cache.get()).toBeUndefined();
  await cache.renew();
  cache.discard(refused);
  expect(cache.get()?.authorization).toBe('t2');
});
