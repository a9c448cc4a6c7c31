import { expect, test } from 'vitest';
import { JoinedWrites } from '#core/joined-writes.ts';

/** Writers of texts, whose writes end when the test says so. */
function openWrites() {
  const begun: { readonly what: string; readonly end: PromiseWithResolvers<string> }[] = [];
  const writes = new JoinedWrites<string, string>({
    join: (first, second) => `${first}+${second}`,
    write(key, value) {
      const end = Promise.withResolvers<string>();
      begun.push({ what: `${key}=${value}`, end });
      return end.promise;
    },
  });
  return { writes, begun, list: () => begun.map(({ what }) => what) };
}

test('what comes while a key is written is written at once after it, and other keys do not wait', async () => {
  const { writes, begun, list } = openWrites();
  const all = [
    writes.write('k', 'a'),
    writes.write('k', 'b'),
    writes.write('k', 'c'),
    writes.write('l', 'd'),
  ];
  expect(list()).toEqual(['k=a', 'l=d']);
  begun[0]?.end.resolve('first');
  expect(await all[0]).toBe('first');
  await expect.poll(list).toEqual(['k=a', 'l=d', 'k=b+c']);
  const late = writes.write('k', 'e');
  begun[2]?.end.resolve('second');
  expect(await Promise.all(all.slice(1, 3))).toEqual(['second', 'second']);
  await expect.poll(list).toEqual(['k=a', 'l=d', 'k=b+c', 'k=e']);
  begun[3]?.end.resolve('third');
  expect(await late).toBe('third');
});

test('a write that fails fails those that it was for, and no others', async () => {
  const { writes, begun, list } = openWrites();
  const first = writes.write('k', 'a');
  const second = writes.write('k', 'b');
  begun[0]?.end.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(list).toEqual(['k=a', 'k=b']);
  begun[1]?.end.resolve('done');
  expect(await second).toBe('done');
});
