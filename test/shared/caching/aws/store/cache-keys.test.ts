import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSortKey, toKeyText, toSortKey } from '#caching/aws/store/cache-keys.ts';

/** Texts of which many would collide if they were only joined: separators, escapes, halves of characters, long ones. */
const text = fc.oneof(
  fc.string(),
  fc.string({
    unit: fc.constantFrom('#', '%', ':', '~', 'u', '2', '3', '5', 'a', 'é', '😀', '\ud800', '\udc00'),
  }),
  fc.string({ unit: fc.constantFrom('a', '#', '\ud83d'), minLength: 150, maxLength: 500 }),
);
const texts = fc.array(text, { minLength: 1, maxLength: 3 });

describe('keys', () => {
  it('of different texts differ, also once they are UTF-8', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(Buffer.from(toKeyText(...one)).equals(Buffer.from(toKeyText(...other)))).toBe(isSame);
      }),
    );
  });

  it.each([
    [
      ['a#b', 'c'],
      ['a', 'b#c'],
    ],
    [['a%23b'], ['a#b']],
    [
      ['', 'a'],
      ['a', ''],
    ],
    [['\ud800'], ['\ufffd']],
    [['😀'], ['\ud83d']],
  ])('%j and %j differ', (one, other) => {
    expect(toKeyText(...one)).not.toBe(toKeyText(...other));
  });

  it('give their texts back', () => {
    fc.assert(
      fc.property(texts, (some) => {
        expect(readSortKey(toSortKey(...some))).toEqual(some);
      }),
    );
  });

  it('stay below what DynamoDB takes', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(Buffer.byteLength(toKeyText(one, other))).toBeLessThan(1_000);
      }),
    );
    const long = toKeyText('é#'.repeat(1_000), '\ud800'.repeat(1_000));
    expect(Buffer.byteLength(long)).toBeLessThan(1_000);
  });

  it('of ordinary names can be read', () => {
    expect(toKeyText('shop', 'cart-v003')).toBe('shop#cart-v003');
    expect(toSortKey('shop', 'cart-v003')).toEqual({ sk: 'shop#cart-v003' });
  });
});
