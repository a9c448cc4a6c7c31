import { expect, test } from 'vitest';
import { createSystemResolver, createTurns } from '#providers/artifacts/download/lookup-turns.ts';

const never = () => false;

test('runs as much at once as there are turns, first come, first served', async () => {
  const turns = createTurns(2);
  const begun: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const runs = ends.map(({ promise }, index) =>
    turns.run(() => {
      begun.push(index);
      return promise;
    }, never),
  );

  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[1]?.resolve();
  await runs[1];
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  ends[0]?.reject(new Error('failed'));
  await expect(runs[0]).rejects.toThrow('failed');
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  for (const { resolve } of ends) resolve();
  await Promise.all(runs.slice(1));
});

test('does not begin what nobody waits for any more, and goes on with the next', async () => {
  const turns = createTurns(1);
  const first = Promise.withResolvers<void>();
  let past = false;
  const begun: string[] = [];
  const note = (name: string) => async () => void begun.push(name);
  const running = turns.run(() => first.promise, never);
  const late = turns.run(note('late'), () => past);
  const next = turns.run(note('next'), never);
  past = true;
  first.resolve();
  await expect(late).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  await Promise.all([running, next]);
  expect(begun).toEqual(['next']);
});

test('resolves by the system', async () => {
  const resolve = createSystemResolver(5_000);
  const found = await Promise.all(Array.from({ length: 8 }, () => resolve('localhost')));
  for (const addresses of found) expect(addresses.length).toBeGreaterThan(0);
});
