import { describe, expect, it } from 'vitest';
import { mergeParts, type Part } from '#caching/aws/store/cache-buckets.ts';
import { jsonRowCodec } from '#caching/aws/store/json-row-codec.ts';
import type { RowChange, RowCodec } from '#caching/store/packed-row.ts';
import { goneEntryRetentionMs } from '#caching/store/packed-row.ts';
import { put, remove, v } from '#test/contracts/cache-bench.ts';

const nowMs = 1_800_000_000_000;

function merge(
  parts: readonly Part[],
  changes: Record<string, readonly RowChange[]>,
  { atMs = nowMs, codec = jsonRowCodec }: { atMs?: number; codec?: RowCodec } = {},
): Part[] {
  return mergeParts(parts, new Map(Object.entries(changes)), { codec, nowMs: atMs });
}

describe('the rows of a bucket', () => {
  it('are the same objects where nothing changed', () => {
    const before = merge([], { cart: [put('self', 5)], pay: [put('self', 6)] });
    expect(before).toHaveLength(1);
    const after = merge(before, { cart: [put('self', 4)], other: [] });
    expect(after[0]).toBe(before[0]);
  });

  it('are decoded only if they change', () => {
    const decoded: string[] = [];
    const codec: RowCodec = {
      encode: (entries) => jsonRowCodec.encode(entries),
      decode(text) {
        decoded.push(text);
        return jsonRowCodec.decode(text);
      },
    };
    const before = merge([], { cart: [put('self', 5)], pay: [put('self', 6)] }, { codec });
    merge(before, { cart: [put('self', 7)] }, { codec });
    expect(decoded).toEqual([before[0]?.rows.get('cart')?.text]);
  });

  it('lose what they remember too long when any of them is written, and the bucket keeps up to when that was', () => {
    const gone = merge(merge([], { cart: [put('pod', 5)] }), {
      cart: [remove('pod', 6)],
      pay: [put('self', 1)],
    });
    expect([...(gone[0]?.rows.keys() ?? [])].sort()).toEqual(['cart', 'pay']);

    const later = merge(gone, { pay: [put('self', 2)] }, { atMs: nowMs + goneEntryRetentionMs });
    expect([...(later[0]?.rows.keys() ?? [])]).toEqual(['pay']);
    expect(later[0]?.floor).toBe(v(6));
    const late = merge(later, { cart: [put('pod', 5)] }, { atMs: nowMs + goneEntryRetentionMs });
    expect(late[0]).toBe(later[0]);
  });

  it('know how many entries they have without being decoded', () => {
    const parts = merge([], { cart: [put('self', 5), put('pod', 6)], pay: [remove('self', 6)] });
    expect(parts[0]?.rows.get('cart')).toMatchObject({ live: 2, goneAtMs: 0 });
    expect(parts[0]?.rows.get('pay')).toMatchObject({ live: 0, goneAtMs: nowMs });
  });

  it('go to further parts where the first is full, entry by entry, and stay where they are', () => {
    const large = 'x'.repeat(100_000);
    const pods = Array.from({ length: 10 }, (_, index) => put(`pod ${index}`, index + 1, large));
    const parts = merge([], { cart: pods });
    expect(parts.length).toBeGreaterThan(2);
    const live = parts.flatMap((part) => [...part.rows.values()].map((row) => row.live));
    expect(live.reduce((sum, one) => sum + one)).toBe(10);

    const after = merge(parts, { cart: [put('pod 9', 99, large)] });
    expect(after.filter((part) => !parts.includes(part))).toHaveLength(1);
    expect(after).toHaveLength(parts.length);
  });
});
