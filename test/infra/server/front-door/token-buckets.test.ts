import { describe, expect, it } from 'vitest';
import { TokenBuckets } from '#infra/server/front-door/token-buckets.ts';

describe('buckets of tokens', () => {
  it('hold a burst, and fill at their rate and no further', () => {
    let nowMs = 0;
    const buckets = new TokenBuckets({ rate: 10, burst: 3, bucketsMax: 10 }, () => nowMs);
    const take = () => buckets.take('a');
    expect([take(), take(), take(), take()]).toEqual([true, true, true, false]);
    nowMs += 99;
    expect(take()).toBe(false);
    nowMs += 1;
    expect([take(), take()]).toEqual([true, false]);
    nowMs += 3_600_000;
    expect([take(), take(), take(), take()]).toEqual([true, true, true, false]);
  });

  it('are one for each name, also for those of members of every object', () => {
    const buckets = new TokenBuckets({ rate: 1, burst: 1, bucketsMax: 10 }, () => 0);
    for (const name of ['a', 'b', '__proto__', 'constructor', '']) {
      expect([buckets.take(name), buckets.take(name)]).toEqual([true, false]);
    }
  });

  it('are forgotten from the one that was not asked longest, and never more than are kept', () => {
    const buckets = new TokenBuckets({ rate: 1, burst: 1, bucketsMax: 3 }, () => 0);
    for (const name of ['a', 'b', 'c', 'a', 'd']) buckets.take(name);
    expect(buckets.size).toBe(3);
    expect([buckets.take('a'), buckets.take('c'), buckets.take('d')]).toEqual([false, false, false]);
    expect(buckets.take('b')).toBe(true);
  });
});
