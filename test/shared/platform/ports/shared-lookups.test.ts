import { beforeEach, describe, expect, it } from 'vitest';
import { cacheTable } from '#platform/aws/tables.ts';
import type { LookupKey, LookupStore } from '#platform/ports/lookup.ts';
import { lookupValueMax, ServiceBusyError } from '#platform/ports/lookup.ts';
import {
  type LookupRequest,
  lookupClaimMs,
  lookupLifetimeMs,
  lookupPauseMs,
  lookupPauseMsMax,
  SharedLookups,
} from '#platform/ports/shared-lookups.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { awayStore, openLookups } from '#test/support/services/lookup-processes.ts';

const openTable = useLocalTables();

let clock: TestClock;
let key: LookupKey;
let warnings: unknown[];
/** How often the service was asked. */
let asked: number;
/** What it answers. */
let answer: () => Promise<string> | string;

beforeEach(() => {
  clock = createTestClock();
  key = ['EKS', 'eu-west-1', testRandomness.id()];
  warnings = [];
  asked = 0;
  answer = () => 'here';
});

function openProcess(store: LookupStore = openLookups(openTable(cacheTable), clock).store): SharedLookups {
  const log = { debug() {}, info() {}, warn: (...line: unknown[]) => warnings.push(line), error() {} };
  return new SharedLookups({ store, clock, randomness: { fraction: () => 0.5 }, log });
}

function find(lookups: SharedLookups, more: Partial<LookupRequest> = {}) {
  const ask = async () => {
    asked += 1;
    return answer();
  };
  return lookups.find({ key, what: 'the cluster', prepare: async () => undefined, ask, ...more });
}

/** What a process finds that has just started. */
const findAnew = (more: Partial<LookupRequest> = {}) => find(openProcess(), more);

describe('what a service was asked', () => {
  it('is found by one of many processes that want it at once', async () => {
    const held = Promise.withResolvers<string>();
    answer = () => held.promise;
    const found = Array.from({ length: 20 }, () => findAnew());
    await expect.poll(() => asked).toBe(1);
    held.resolve('here');

    for (const one of await Promise.all(found)) expect(one.value).toBe('here');
    expect(asked).toBe(1);
  });

  it('is shared by whoever asks at once within a process, too', async () => {
    const lookups = openProcess();
    await Promise.all(Array.from({ length: 20 }, () => find(lookups)));
    expect(asked).toBe(1);
  });

  it('is asked for again after a day, by one, while what is known is used', async () => {
    await findAnew();
    clock.advance(lookupLifetimeMs * 0.9);
    expect((await findAnew()).value).toBe('here');
    expect(asked).toBe(1);

    answer = () => 'there';
    clock.advance(lookupLifetimeMs * 0.2);
    const known = await Promise.all([findAnew(), findAnew(), findAnew()]);
    expect(known.map(({ value }) => value)).toEqual(['here', 'here', 'here']);
    await expect.poll(async () => (await findAnew()).value).toBe('there');
    expect(asked).toBe(2);
  });

  it('stays in use when it cannot be renewed, and the log says so', async () => {
    await findAnew();
    clock.advance(lookupLifetimeMs * 1.3);
    answer = () => Promise.reject(new ServiceBusyError('throttled'));
    expect((await findAnew()).value).toBe('here');
    await expect.poll(() => warnings).toHaveLength(1);
    expect(warnings).toEqual([
      [
        'what is known of an account in AWS cannot be renewed, and stays in use',
        { what: 'the cluster', error: 'throttled' },
      ],
    ]);
    expect((await findAnew()).value).toBe('here');
    expect(asked).toBe(2);
  });

  it('is not shared when it is too large', async () => {
    const large = 'x'.repeat(lookupValueMax + 1);
    answer = () => large;
    expect((await findAnew()).value).toBe(large);
    expect((await findAnew()).value).toBe(large);
    expect(asked).toBe(2);
  });

  it('is asked for by each process while the store is away', async () => {
    expect((await find(openProcess(awayStore))).value).toBe('here');
    expect((await find(openProcess(awayStore))).value).toBe('here');
    expect(asked).toBe(2);
    expect(warnings[0]).toEqual(['what is known of accounts in AWS cannot be shared', { error: 'away' }]);
  });

  it('is asked for by another when the process that asked died', async () => {
    const dead = openProcess();
    void find(dead, { ask: () => new Promise(() => undefined) });
    const { store } = openLookups(openTable(cacheTable), clock);
    await expect.poll(async () => (await store.find(key))?.state).toBe('asking');

    const found = findAnew();
    clock.advance(lookupClaimMs - 1_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(0);
    clock.advance(1_000);
    expect((await found).value).toBe('here');
    expect(asked).toBe(1);
  });
});

describe('what a process with a wrong clock was told', () => {
  it('does not keep others from asking', async () => {
    const ahead = { ...clock, now: () => clock.now() + 24 * 3_600_000 };
    const { store } = openLookups(openTable(cacheTable), ahead);
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const lookups = new SharedLookups({ store, clock: ahead, randomness: testRandomness, log });
    answer = () => Promise.reject(new Error('denied'));
    await expect(find(lookups)).rejects.toThrow('denied');
    answer = () => 'here';
    expect((await findAnew()).value).toBe('here');
    expect(asked).toBe(2);
  });
});

describe('an answer that did not work', () => {
  it('is replaced for all by one request', async () => {
    const doubted = await findAnew();
    answer = () => 'there';
    clock.advance(lookupPauseMs);
    const found = await Promise.all(Array.from({ length: 10 }, () => findAnew({ doubted })));
    expect(found.map(({ value }) => value)).toEqual(Array.from({ length: 10 }, () => 'there'));
    expect(asked).toBe(2);
  });

  it('is asked for less and less often while it stays the same, up to two minutes', async () => {
    let doubted = await findAnew();
    const pauses: number[] = [];
    for (let seconds = 0, last = 0; seconds < 900; seconds += 5) {
      clock.advance(5_000);
      const before = asked;
      doubted = await findAnew({ doubted });
      expect(doubted.value).toBe('here');
      if (asked === before) continue;
      pauses.push(seconds + 5 - last);
      last = seconds + 5;
    }
    expect(pauses.slice(0, 5)).toEqual([10, 20, 40, 80, 120]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(lookupPauseMsMax / 1000 + 5);
  });

  it('stays what is known while the service is busy, without waiting for it', async () => {
    const doubted = await findAnew();
    clock.advance(lookupPauseMs);
    answer = () => Promise.reject(new ServiceBusyError('throttled'));
    await expect(findAnew({ doubted })).rejects.toThrow('throttled');
    await expect(findAnew({ doubted })).rejects.toThrow('throttled');
    expect(asked).toBe(2);
    expect((await findAnew()).value).toBe('here');
  });
});

describe('a service', () => {
  it('that refuses is not asked by others for ten seconds, who are told the same', async () => {
    answer = () => Promise.reject(new Error('AccessDenied: allow it'));
    await expect(findAnew()).rejects.toThrow('AccessDenied: allow it');
    await expect(findAnew()).rejects.toThrow('AccessDenied: allow it');
    expect(asked).toBe(1);

    answer = () => 'here';
    clock.advance(lookupPauseMs);
    expect((await findAnew()).value).toBe('here');
  });

  it('that is busy is asked again by one at a time, ever later, while all wait for that', async () => {
    answer = () => (asked < 4 ? Promise.reject(new ServiceBusyError('throttled')) : 'here');
    const found = Array.from({ length: 5 }, () => findAnew());
    for (const request of [1, 2, 3]) {
      await expect.poll(() => asked).toBe(request);
      const { store } = openLookups(openTable(cacheTable), clock);
      await expect.poll(async () => (await store.find(key))?.state).toBe('busy');
      const { notBeforeMs = 0, repeats = 0 } = (await store.find(key)) ?? {};
      expect(repeats).toBe(request);
      clock.advance(Math.max(0, notBeforeMs - clock.now()));
    }
    for (const { value } of await Promise.all(found)) expect(value).toBe('here');
    expect(asked).toBe(4);
  });

  it('that stays busy is waited for no longer than 15 seconds', async () => {
    answer = () => Promise.reject(new ServiceBusyError('throttled'));
    const found = findAnew();
    const turning = setInterval(() => clock.advance(500), 10);
    await expect(found).rejects.toThrow('throttled');
    clearInterval(turning);
    expect(asked).toBeLessThanOrEqual(6);
  });

  it('is asked by nobody who lacks what it takes', async () => {
    const prepare = () => Promise.reject(new Error('no role'));
    await expect(findAnew({ prepare })).rejects.toThrow('no role');
    expect((await findAnew()).value).toBe('here');
    expect(asked).toBe(1);
  });
});
