import { beforeEach, expect, test } from 'vitest';
import { ReturnPlace } from '#infra/agent/hub/return-place.ts';

const clock = {
  ms: 0,
  monotonic: () => clock.ms,
  async sleep(ms: number, signal?: AbortSignal) {
    signal?.throwIfAborted();
    clock.ms += ms;
  },
};
let place: ReturnPlace;

beforeEach(() => {
  clock.ms = 0;
  turn = 0;
  place = new ReturnPlace({ clock, randomness: { fraction: () => 0.5 } });
  place.take({ returnMs: 20_000, spreadMs: 60_000 });
});

/** What the last call that waited was given. */
let turn = 0;

/** Milliseconds for which a call waits now. */
async function wait(): Promise<number> {
  const beganMs = clock.ms;
  turn = await place.wait();
  return clock.ms - beganMs;
}

test('who lost his connection comes back in his place, however many calls are lost meanwhile', async () => {
  place.connect();
  expect(await wait()).toBe(0);
  place.disconnect(true);
  place.end(turn, 'lost');
  place.end(turn, 'lost');
  expect(await wait()).toBe(20_000);
  place.end(turn, 'answered');
  expect(await wait()).toBe(0);
});

test('who fails in his place tries again within the spread', async () => {
  place.connect();
  place.disconnect(true);
  await wait();
  place.end(turn, 'lost');
  place.end(turn, 'lost');
  expect(await wait()).toBe(45_000);
  place.end(turn, 'unknown');
  expect(await wait()).toBe(45_000);
  place.end(turn, 'answered');
  expect(await wait()).toBe(0);
});

test('one call tries, and the others wait for what becomes of it', async () => {
  place.connect();
  place.disconnect(true);
  await wait();
  const passed: string[] = [];
  const never = { ...clock, sleep: (_: number, signal?: AbortSignal) => untilAborted(signal) };
  const other = new ReturnPlace({ clock: never, randomness: { fraction: () => 0.5 } });
  other.connect();
  other.disconnect(true);
  const first = await other.wait();
  const waiting = [
    other.wait().then(() => passed.push('call')),
    other.waitUntilBack(new AbortController().signal).then(() => passed.push('connection')),
  ];
  await Promise.resolve();
  expect(passed).toEqual([]);
  other.end(first, 'answered');
  await Promise.all(waiting);
  expect(passed.toSorted()).toEqual(['call', 'connection']);
});

test('after a call that is lost by itself others wait a second for the connection to tell more', async () => {
  place.connect();
  place.end(turn, 'lost');
  expect(await wait()).toBe(1_000);
  expect(await wait()).toBe(0);
  place.end(turn, 'answered');
  place.end(turn, 'lost');
  expect(await wait()).toBe(1_000);
  place.end(turn, 'lost');
  expect(await wait()).toBe(20_000);
});

test('where a connection for calls ended, too, others wait a second for the one for hints to tell more', async () => {
  place.doubt();
  expect(await wait()).toBe(0);
  place.connect();
  place.doubt();
  expect(await wait()).toBe(1_000);
  expect(await wait()).toBe(0);
  place.doubt();
  place.end(turn, 'answered');
  expect(await wait()).toBe(0);
  // No call was lost: this is the first.
  place.doubt();
  place.end(turn, 'lost');
  expect(await wait()).toBe(1_000);
});

test('when it is answered the others follow one by one for ten seconds', async () => {
  place.connect();
  place.disconnect(true);
  await wait();
  place.end(turn, 'answered');
  expect(await wait()).toBe(0);
  // The one before takes long.
  expect(await wait()).toBe(1_000);
  place.end(turn, 'unknown');
  expect(await wait()).toBe(0);
  clock.ms += 9_000;
  expect(await wait()).toBe(0);
  expect(await wait()).toBe(0);
});

test('an answer that was made before it went away brings nobody back', async () => {
  place.connect();
  await wait();
  const before = turn;
  place.disconnect(true);
  place.end(before, 'answered');
  expect(await wait()).toBe(20_000);
  place.end(before, 'lost');
  place.end(turn, 'answered');
  expect(await wait()).toBe(0);
});

test('a Busdriver that dies again while they follow is away again', async () => {
  place.connect();
  place.disconnect(true);
  await wait();
  place.end(turn, 'answered');
  await wait();
  place.end(turn, 'lost');
  expect(await wait()).toBe(20_000);
});

test('a pause between two tries is over when it is answered', async () => {
  const over: string[] = [];
  const slow = { ...clock, sleep: (_: number, signal?: AbortSignal) => untilAborted(signal) };
  const other = new ReturnPlace({ clock: slow, randomness: { fraction: () => 0.5 } });
  const stop = new AbortController();
  const pauses = [
    other.clock.sleep(60_000).then(() => over.push('pause')),
    other.clock.sleep(60_000, stop.signal).catch((reason: unknown) => over.push(String(reason))),
  ];
  stop.abort('stopped');
  await pauses[1];
  other.end(await other.wait(), 'answered');
  await Promise.resolve();
  expect(over).toEqual(['stopped']);
  other.end(await other.wait(), 'lost');
  other.end(await other.wait(), 'answered');
  await pauses[0];
  expect(over).toEqual(['stopped', 'pause']);
});

test('who was told nothing, or is refused for a reason of his own, waits for nothing', async () => {
  place.connect();
  place.disconnect(false);
  expect(await wait()).toBe(0);
  const untold = new ReturnPlace({ clock, randomness: { fraction: () => 0.5 } });
  untold.connect();
  untold.disconnect(true);
  untold.end(0, 'lost');
  await untold.wait();
  expect(clock.ms).toBe(0);
});

test('who is to stop waits for nothing', async () => {
  place.connect();
  place.disconnect(true);
  await place.wait(AbortSignal.abort('stopped'));
  expect(clock.ms).toBe(0);
});

async function untilAborted(signal?: AbortSignal): Promise<void> {
  await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  signal?.throwIfAborted();
}
