import { expect, test } from 'vitest';
import { KubernetesApiError, KubernetesConnectionError } from '#providers/kubernetes/api/errors.ts';
import { findRefusal, getResourceVersionAfter } from '#providers/kubernetes/watch/kind-refusal.ts';

test.each([
  [410, 'expired', undefined],
  [403, 'forbidden', '7'],
  [404, 'gone', undefined],
  [401, 'broken', '7'],
  [405, 'broken', '7'],
  [500, 'broken', '7'],
])('status %i means %s', (status, refusal, resourceVersion) => {
  const found = findRefusal(new KubernetesApiError(status, '', 'refused'));
  expect(found).toBe(refusal);
  expect(getResourceVersionAfter(found ?? 'broken', '7')).toBe(resourceVersion);
});

test('a broken connection is one, a mistake of our own is not', () => {
  expect(findRefusal(new KubernetesConnectionError('reset'))).toBe('broken');
  expect(findRefusal(new TypeError('no function'))).toBeUndefined();
});
