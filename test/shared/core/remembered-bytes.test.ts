import { expect, test } from 'vitest';
import { RememberedBytes } from '#core/remembered-bytes.ts';

/** A memory of 100 bytes, and the keys of what it forgot. */
function open() {
  const remembered = new RememberedBytes(100);
  const forgotten: string[] = [];
  const keys = new Map<string, object>();
  const toKey = (name: string): object => {
    const key = keys.get(name) ?? {};
    keys.set(name, key);
    return key;
  };
  return {
    remembered,
    keep: (name: string, bytes: number) =>
      remembered.keep(toKey(name), bytes, () => void forgotten.push(name)),
    use: (name: string) => remembered.use(toKey(name)),
    drop: (name: string) => remembered.drop(toKey(name)),
    takeForgotten: () => forgotten.splice(0),
  };
}

test('forgets what was not used for longest, until all fits', () => {
  const { remembered, keep, use, takeForgotten } = open();
  for (const name of ['a', 'b', 'c']) keep(name, 30);
  use('a');
  keep('d', 40);
  expect(takeForgotten()).toEqual(['b']);
  expect(remembered.bytes).toBe(100);
  keep('e', 50);
  expect(takeForgotten()).toEqual(['c', 'a']);
  expect(remembered.bytes).toBe(90);
});

test('counts once what is remembered anew, and nothing that its owner dropped', () => {
  const { remembered, keep, drop, takeForgotten } = open();
  for (let time = 0; time < 9; time += 1) keep('a', 40);
  keep('b', 40);
  expect(remembered.bytes).toBe(80);
  drop('a');
  drop('a');
  expect(remembered.bytes).toBe(40);
  keep('c', 50);
  expect(takeForgotten()).toEqual([]);
});

test('what takes more than half is forgotten at once, and drives out nothing', () => {
  const { remembered, keep, takeForgotten } = open();
  keep('a', 20);
  keep('b', 50);
  keep('b', 51);
  expect(takeForgotten()).toEqual(['b']);
  expect(remembered.bytes).toBe(20);
});

test('forgets what nobody used since it was last asked to', () => {
  const { remembered, keep, use, takeForgotten } = open();
  for (const name of ['a', 'b', 'c']) keep(name, 10);
  remembered.forgetUnused();
  expect(takeForgotten()).toEqual([]);
  use('b');
  keep('c', 20);
  remembered.forgetUnused();
  expect(takeForgotten()).toEqual(['a']);
  remembered.forgetUnused();
  expect(takeForgotten()).toEqual(['b', 'c']);
  expect(remembered.bytes).toBe(0);
});
