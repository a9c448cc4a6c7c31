import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseVersion, toVersion } from '../../../../shared/core/cache/version.ts';

const epoch = fc.integer({ min: 0, max: 2 ** 31 });
const resourceVersion = fc.bigInt({ min: 0n, max: 2n ** 63n });

describe('a version', () => {
  it('compares as its epoch does, then as its number does', () => {
    fc.assert(
      fc.property(
        fc.tuple(epoch, resourceVersion),
        fc.tuple(epoch, resourceVersion),
        ([e1, r1], [e2, r2]) => {
          const isLess = e1 < e2 || (e1 === e2 && r1 < r2);
          expect(toVersion(e1, String(r1)) < toVersion(e2, String(r2))).toBe(isLess);
        },
      ),
    );
  });

  it('gives its parts back', () => {
    fc.assert(
      fc.property(epoch, resourceVersion, (e, r) => {
        expect(parseVersion(toVersion(e, String(r)))).toEqual({ epoch: e, resourceVersion: String(r) });
      }),
    );
  });

  it('does not mind leading zeros', () => {
    expect(toVersion(1, '0007')).toBe(toVersion(1, '7'));
  });

  it.each(['', '-1', '1.5', '1e3', 'abc', ' 7', String(2n ** 63n + 1n), '9'.repeat(50)])(
    'is not made of resource version %j',
    (text) => {
      expect(() => toVersion(1, text)).toThrow(/resourceVersion: expected decimal digits up to 2\^63/);
    },
  );

  it.each([-1, 1.5, Number.NaN, 2 ** 31 + 1])('is not made of epoch %j', (number) => {
    expect(() => toVersion(number, '1')).toThrow(/epoch: expected a whole number/);
  });

  it('is not read from another text', () => {
    expect(() => parseVersion('4711')).toThrow('expected a version, got "4711"');
  });
});
