import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRevision, parseRevision, toRevision } from '#caching/store/revision.ts';

const epoch = fc.integer({ min: 0, max: 2 ** 31 });
const position = fc.bigInt({ min: 0n, max: 2n ** 63n });

describe('a revision', () => {
  it('compares as its epoch does, then as its number does', () => {
    fc.assert(
      fc.property(fc.tuple(epoch, position), fc.tuple(epoch, position), ([e1, r1], [e2, r2]) => {
        const isLess = e1 < e2 || (e1 === e2 && r1 < r2);
        expect(toRevision(e1, String(r1)) < toRevision(e2, String(r2))).toBe(isLess);
      }),
    );
  });

  it('gives its parts back', () => {
    fc.assert(
      fc.property(epoch, position, (e, r) => {
        expect(parseRevision(toRevision(e, String(r)))).toEqual({ epoch: e, position: String(r) });
      }),
    );
  });

  it('does not mind leading zeros', () => {
    expect(toRevision(1, '0007')).toBe(toRevision(1, '7'));
  });

  it.each(['', '-1', '1.5', '1e3', 'abc', ' 7', String(2n ** 63n + 1n), '9'.repeat(50)])(
    'is not made of resource version %j',
    (text) => {
      expect(() => toRevision(1, text)).toThrow(/position: expected decimal digits up to 2\^63/);
    },
  );

  it.each([-1, 1.5, Number.NaN, 2 ** 31 + 1])('is not made of epoch %j', (number) => {
    expect(() => toRevision(number, '1')).toThrow(/epoch: expected a whole number/);
  });

  it.each(['', '~', '~~', `~${toRevision(1, '8')}`])('may end in %j', (suffix) => {
    expect(isRevision(`${toRevision(1, '7')}${suffix}`)).toBe(true);
  });

  it.each([undefined, 4711, '', '4711', '00000000010000000000000000004711', `${toRevision(1, '7')}0`])(
    'is not %j',
    (value) => {
      expect(isRevision(value)).toBe(false);
    },
  );

  it('is not read from another text', () => {
    expect(() => parseRevision('4711')).toThrow('expected a revision, got "4711"');
  });
});
