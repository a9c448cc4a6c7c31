import { expect, test } from 'vitest';
import { Semaphore } from '#core/concurrency.ts';

test('lets no more in than there are, in the order in which they came', async () => {
  const semaphore = new Semaphore(2);
  const entered: string[] = [];
  const enter = async (name: string) => {
    const release = await semaphore.acquire();
    entered.push(name);
    return release;
  };
  const [first, second] = [await enter('a'), await enter('b')];
  const third = enter('c');
  const fourth = enter('d');
  await Promise.resolve();
  expect(entered).toEqual(['a', 'b']);
  second();
  const leaveThird = await third;
  expect(entered).toEqual(['a', 'b', 'c']);
  first();
  leaveThird();
  (await fourth)();
  expect(entered).toEqual(['a', 'b', 'c', 'd']);
  await enter('e');
  await enter('f');
});

test('forgets who gives up waiting', async () => {
  const semaphore = new Semaphore(1);
  const release = await semaphore.acquire();
  const aborter = new AbortController();
  const waiting = semaphore.acquire(aborter.signal);
  const next = semaphore.acquire();
  aborter.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  await expect(semaphore.acquire(aborter.signal)).rejects.toThrow('given up');
  release();
  (await next)();
  (await semaphore.acquire())();
});
