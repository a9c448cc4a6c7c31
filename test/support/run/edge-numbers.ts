import fc from 'fast-check';

const powers = [31n, 32n, 52n, 53n, 54n, 62n, 63n].map((exponent) => 2n ** exponent);

/** Integers around which something may go wrong, of both signs: powers of two and ten, and what is one beside them. */
export const edgeIntegers: readonly bigint[] = [
  ...new Set(
    [...powers, 2n ** 64n, 10n ** 15n, 10n ** 16n, 10n ** 18n, 10n ** 21n, 10n ** 30n, 0n]
      .flatMap((power) => [power - 1n, power, power + 1n])
      .flatMap((integer) => [integer, -integer]),
  ),
];

/** Of {@link edgeIntegers}, those that Kubernetes keeps as integers: of 64 bits. */
export const edgeInt64s: readonly bigint[] = edgeIntegers.filter(
  (integer) => BigInt.asIntN(64, integer) === integer,
);

/** Integers of any size that a number in JSON may sensibly have, edges often. */
export const integers = fc.oneof(
  fc.constantFrom(...edgeIntegers),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
);

/** Integers of 64 bits, edges often. */
export const int64s = fc.oneof(
  fc.constantFrom(...edgeInt64s),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
