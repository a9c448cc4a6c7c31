import { expect, test } from 'vitest';
import type { AccountFreshness } from '#caching/scheduling/caching-agent-store.ts';
import { createRecentFreshness, readRecentFreshness } from '#caching/scheduling/recent-freshness.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';

/** Accounts that were asked for, call by call; `dev` has no agents, those of `slow` never came to an end. */
function open(fail = () => false) {
  const asked: string[][] = [];
  const clock = createStandingClock();
  const readFreshness = async (accounts: readonly string[]) => {
    asked.push([...accounts]);
    if (fail()) throw new Error('away');
    const asOfMs = clock.now();
    const fresh: AccountFreshness = { asOfMs, isStale: false, triedAtMs: asOfMs, tooLarge: 0, agents: [] };
    const slow = { ...fresh, asOfMs: undefined };
    const known = accounts.filter((name) => name !== 'dev');
    return new Map(known.map((name) => [name, name === 'slow' ? slow : fresh]));
  };
  const context = { agents: { readFreshness }, clock, recent: createRecentFreshness() };
  return { asked, clock, read: (...accounts: string[]) => readRecentFreshness(context, accounts) };
}

test('requests of one moment ask once for each account, and are told for a second', async () => {
  const { asked, clock, read } = open();
  const startMs = clock.now();
  const [one, both] = await Promise.all([read('prod', 'dev'), read('test', 'prod')]);
  expect([...one.keys()]).toEqual(['prod']);
  expect([...both.keys()]).toEqual(['test', 'prod']);
  clock.advance(999);
  expect((await read('prod')).get('prod')?.asOfMs).toBe(startMs);
  expect(asked).toEqual([['prod', 'dev'], ['test']]);
  clock.advance(1);
  expect((await read('prod')).get('prod')?.asOfMs).toBe(startMs + 1_000);
  expect(asked).toHaveLength(3);
});

test('an account that was not read to its end is asked for again at once', async () => {
  const { asked, read } = open();
  await read('prod', 'dev', 'slow');
  await read('prod', 'dev', 'slow');
  expect(asked).toEqual([
    ['prod', 'dev', 'slow'],
    ['dev', 'slow'],
  ]);
});

test('what could not be told is asked for again', async () => {
  let isAway = true;
  const { asked, read } = open(() => isAway);
  await expect(read('prod')).rejects.toThrow('away');
  isAway = false;
  expect((await read('prod')).has('prod')).toBe(true);
  expect(asked).toHaveLength(2);
});
