import { expect, test } from 'vitest';
import { untilAborted } from '../../../../../shared/providers/kubernetes/transport/until-aborted.ts';

const { signal } = new AbortController();
const aborted = AbortSignal.abort(new Error('given up'));

test('what is shared comes through, also what is there already', async () => {
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  expect(await untilAborted(Promise.resolve(1), undefined)).toBe(1);
  expect(await untilAborted(2, aborted)).toBe(2);
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
});

test('who has given up does not wait, and a later failure of what is shared harms nobody', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  await expect(untilAborted(promise, aborted)).rejects.toThrow('given up');
  reject(new Error('broken'));
  await new Promise(setImmediate);
});
