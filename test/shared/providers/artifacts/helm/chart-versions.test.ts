import { expect, test } from 'vitest';
import { findNewestVersion } from '#providers/artifacts/helm/chart-versions.ts';

test.each([
  [[], undefined],
  [['1.2.3', '1.10.0', '1.9.9'], '1.10.0'],
  [['1.0.0', '2.0.0-rc.1'], '1.0.0'],
  [['2.0.0-rc.1', '2.0.0-rc.10', '2.0.0-rc.9'], '2.0.0-rc.10'],
  [['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-beta', '1.0.0-1'], '1.0.0-beta'],
  [['1.0.0-alpha.1', '1.0.0-alpha.beta'], '1.0.0-alpha.beta'],
  [['v1.2', '1.1.9'], 'v1.2'],
  [['1.2.0', 'v1.2.0+build'], '1.2.0'],
  [['latest', '0.0.1'], '0.0.1'],
  [['latest', 'newest'], 'latest'],
  [['001.0.0', '2.0.0'], '2.0.0'],
  [[`1${'0'.repeat(100)}.0.0`, '9.0.0'], `1${'0'.repeat(100)}.0.0`],
  [[`1.0.0-${'9'.repeat(300)}`, '0.1.0'], '0.1.0'],
])('of %j the newest is %s', (versions, newest) => {
  expect(findNewestVersion(versions)).toBe(newest);
});
