import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Deadline, DeadlineHeap } from '#infra/local/engines/sqs/deadline-heap.ts';

test('the first item is the earliest, whatever is added, moved and removed', () => {
  const step = fc.record({ item: fc.nat(19), dueAt: fc.option(fc.nat(50), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new DeadlineHeap<Deadline>();
      const items = Array.from({ length: 20 }, () => ({ dueAt: 0, heapIndex: -1 }));
      for (const { item, dueAt } of steps) {
        const deadline = items[item] ?? { dueAt: 0, heapIndex: -1 };
        if (dueAt === undefined) heap.delete(deadline);
        else heap.set(deadline, dueAt);
        const due = items.filter(({ heapIndex }) => heapIndex >= 0).map((one) => one.dueAt);
        expect(heap.first?.dueAt).toBe(due.length === 0 ? undefined : Math.min(...due));
      }
    }),
  );
});

test('removing from the front gives all items in order', () => {
  const heap = new DeadlineHeap<Deadline>();
  for (const dueAt of [5, 3, 9, 1, 7, 3]) heap.set({ dueAt: 0, heapIndex: -1 }, dueAt);
  const order: number[] = [];
  for (let first = heap.first; first !== undefined; first = heap.first) {
    order.push(first.dueAt);
    heap.delete(first);
  }
  expect(order).toEqual([1, 3, 3, 5, 7, 9]);
});
