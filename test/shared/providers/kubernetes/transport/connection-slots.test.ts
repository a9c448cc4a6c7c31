import { expect, test } from 'vitest';
import { ConnectionSlots } from '../../../../../shared/providers/kubernetes/transport/connection-slots.ts';

test('lets no more in than there are, in the order in which they came', async () => {
  const slots = new ConnectionSlots(2);
  const entered: string[] = [];
  const enter = async (name: string) => {
    const release = await slots.take();
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
  const slots = new ConnectionSlots(1);
  const release = await slots.take();
  const aborter = new AbortController();
  const waiting = slots.take(aborter.signal);
  const next = slots.take();
  aborter.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  await expect(slots.take(aborter.signal)).rejects.toThrow('given up');
  release();
  (await next)();
  (await slots.take())();
});
