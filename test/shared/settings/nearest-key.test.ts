import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findNearestKey, getEditDistance, keyLengthMax } from '#settings/nearest-key.ts';

const known = ['name', 'namespaces', 'omitNamespaces', 'kinds', 'kubeconfigFile', 'context', 'cacheThreads'];

test.each([
  ['namspaces', 'namespaces'],
  ['namespace', 'namespaces'],
  ['Name-Spaces', 'namespaces'],
  ['omit-namspaces', 'omitNamespaces'],
  ['nmae', undefined],
  ['nam', 'name'],
  ['kubeconfg', 'kubeconfigFile'],
  ['cache_thread', 'cacheThreads'],
  ['team', undefined],
  ['globalResourceTypes', undefined],
  ['', undefined],
  ['😀', undefined],
])('%s comes nearest to %s', (key, nearest) => {
  expect(findNearestKey(key, known)).toBe(nearest);
});

test('what is too long is not compared', () => {
  expect(findNearestKey('x'.repeat(keyLengthMax), ['x'.repeat(keyLengthMax)])).toBeDefined();
  expect(findNearestKey('x'.repeat(keyLengthMax + 1), ['x'.repeat(keyLengthMax)])).toBeUndefined();
});

test('one letter changed anywhere of six or more leads back', () => {
  const letter = fc.constantFrom(...'abcdefgh');
  const word = fc.array(letter, { minLength: 6, maxLength: 20 });
  fc.assert(
    fc.property(
      word,
      fc.record({ place: fc.nat(), other: letter, cut: fc.constantFrom(0, 1) }),
      (letters, slip) => {
        const misspelt = letters.toSpliced(slip.place % letters.length, slip.cut, slip.other).join('');
        expect(getEditDistance(misspelt, letters.join(''))).toBeLessThanOrEqual(1);
        expect(findNearestKey(misspelt, [letters.join('')])).toBe(letters.join(''));
      },
    ),
  );
});

test('the distance is the same both ways, and none only between words that are the same', () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, (one, other) => {
      expect(getEditDistance(one, other)).toBe(getEditDistance(other, one));
      expect(getEditDistance(one, other) === 0).toBe(one === other);
    }),
  );
});
