import { describe, expect, it } from 'vitest';
import { countUnits, PartitionCapacity } from './capacity.ts';

describe('the throughput of a partition', () => {
  it('is 1,000 write units and 3,000 read units a second, each partition its own', () => {
    let nowMs = 0;
    const capacity = new PartitionCapacity(() => nowMs);
    capacity.take('one', 'write', 999);
    expect(capacity.isSpent('one', 'write')).toBe(false);
    capacity.take('one', 'write', 501);
    capacity.take('one', 'read', 2_999);
    const spent = () => [capacity.isSpent('one', 'write'), capacity.isSpent('one', 'read')];
    expect([...spent(), capacity.isSpent('other', 'write')]).toEqual([true, false, false]);
    nowMs = 499;
    expect(spent()).toEqual([true, false]);
    nowMs = 501;
    expect(spent()).toEqual([false, false]);
  });

  it('does not gather while nobody uses it', () => {
    let nowMs = 0;
    const capacity = new PartitionCapacity(() => nowMs);
    capacity.take('one', 'write', 1);
    nowMs = 60_000;
    capacity.take('one', 'write', 1_000);
    expect(capacity.isSpent('one', 'write')).toBe(true);
  });

  it('is used by an item as DynamoDB reckons: by the KiB written, by 4 KiB read', () => {
    const item = {
      pk: { S: 'p' },
      sk: { S: 's' },
      body: { M: { text: { S: 'x'.repeat(5_000) }, list: { L: [{ N: '1' }] } } },
    };
    expect(countUnits(item, 'write')).toBe(5);
    expect(countUnits(item, 'read')).toBe(2);
    expect(countUnits({ pk: { S: 'p' } }, 'write')).toBe(1);
  });
});
