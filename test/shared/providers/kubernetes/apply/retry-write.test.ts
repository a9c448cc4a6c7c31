import { expect, it } from 'vitest';
import { KubernetesConnectionError } from '#providers/kubernetes/api/errors.ts';
import { retryWrite } from '#providers/kubernetes/apply/retry-write.ts';

/** Has all writes fail. @returns how often the object was looked at, and milliseconds of pauses between looks */
async function fail(error: Error, isLostRace: boolean): Promise<{ looks: number; pausedMs: number }> {
  const looks: number[] = [];
  const pauses: number[] = [];
  const writing = retryWrite({
    look: async (retry) => void looks.push(retry),
    write: () => Promise.reject(error),
    isLostRace: () => isLostRace,
    signal: undefined,
    clock: { sleep: async (ms) => void pauses.push(ms) },
  });
  await expect(writing).rejects.toBe(error);
  return { looks: looks.length, pausedMs: pauses.reduce((sum, ms) => sum + ms, 0) };
}

it('a write whose answer is lost is looked for, and repeated, for half a minute', async () => {
  const lost = new KubernetesConnectionError('no answer', { answerLost: true });
  expect(await fail(lost, false)).toEqual({ looks: 12, pausedMs: 31_200 });
});

it('a write for which others are too quick is repeated five times', async () => {
  expect(await fail(new Error('conflict'), true)).toEqual({ looks: 6, pausedMs: 800 });
});

it('any other failure is not repeated', async () => {
  expect(await fail(new Error('refused'), false)).toEqual({ looks: 1, pausedMs: 0 });
});
