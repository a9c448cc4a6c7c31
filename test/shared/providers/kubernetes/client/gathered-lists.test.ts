import { expect, test } from 'vitest';
import { GatheredLists } from '#providers/kubernetes/client/gathered-lists.ts';

test('a list that becomes too large is dropped', () => {
  const lists = new GatheredLists({ listBytesMax: 10, totalBytesMax: 100 });
  let dropped = 0;
  const list = lists.begin('a', () => {
    dropped += 1;
  });
  list.add(10);
  list.reset();
  list.add(10);
  expect(() => list.add(1)).toThrow('has more than 10 bytes, the most that is gathered of a list');
  expect(dropped).toBe(1);
  expect(lists.bytes).toBe(0);
});

test('the account that has most loses its largest list, whoever asks for more', () => {
  const lists = new GatheredLists({ listBytesMax: 100, totalBytesMax: 100 });
  const dropped: string[] = [];
  const begin = (name: string) => lists.begin(name.charAt(0), () => dropped.push(name));
  const [small, large, other] = [begin('a1'), begin('a2'), begin('b1')];
  small.add(20);
  large.add(30);
  other.add(40);
  other.add(5);
  expect(dropped).toEqual([]);
  expect(() => other.add(6)).toThrow('is the largest of those');
  expect(dropped).toEqual(['b1']);
  const late = begin('c1');
  late.add(49);
  small.add(5);
  expect(dropped).toEqual(['b1', 'a2']);
  expect(() => large.add(1)).toThrow('is the largest of those');
  late.end();
  small.end();
  expect(lists.bytes).toBe(0);
});
