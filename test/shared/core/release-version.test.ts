import { expect, test } from 'vitest';
import { isOlderRelease, isReleaseVersion } from '#core/release-version.ts';

test.each([
  ['1.2.3', '1.2.3', false],
  ['1.2.2', '1.2.3', true],
  ['1.10.0', '1.9.9', false],
  ['v2.0', '1.9.9', false],
  ['1.2', '1.2.0', false],
  ['1.2.0-rc.1', '1.2.0', false],
  ['latest', '0.0.1', true],
  ['', '0.0.0', true],
])('%s is older than %s: %s', (version, minimum, isOlder) => {
  expect(isOlderRelease(version, minimum)).toBe(isOlder);
});

test('a release has two or three numbers', () => {
  const texts = ['1', '1.2', '1.2.3', '1.2.3.4', 'v1.2.3', '1.2.3+build', '-1.2', '1.2.x', ''];
  expect(texts.filter(isReleaseVersion)).toEqual(['1.2', '1.2.3', 'v1.2.3', '1.2.3+build']);
});
