import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FairItem, FairOrder } from '#infra/server/functions/fair-order.ts';

interface Item extends FairItem {
  readonly number: number;
}

describe('FairOrder', () => {
  test('keeps the order within a group', () => {
    const order = new FairOrder<Item>();
    for (let number = 0; number < 100; number++) order.add({ group: 'a', removed: false, number });
    const taken = Array.from({ length: 100 }, () => order.take()?.number);
    expect(taken).toEqual(Array.from({ length: 100 }, (_, number) => number));
    expect(order.take()).toBeUndefined();
  });

  test('gives a new group the next turn, however many items the others have out', () => {
    const order = new FairOrder<Item>();
    for (let number = 0; number < 10; number++) order.add({ group: 'noisy', removed: false, number });
    for (let taken = 0; taken < 5; taken++) order.take();
    order.add({ group: 'quiet', removed: false, number: 100 });
    expect(order.take()?.group).toBe('quiet');
    expect(order.take()?.group).toBe('noisy');
  });

  test('lets groups with equally many items out take turns', () => {
    const order = new FairOrder<Item>();
    for (const group of ['a', 'b', 'c']) {
      for (let number = 0; number < 3; number++) order.add({ group, removed: false, number });
    }
    const groups = Array.from({ length: 9 }, () => order.take()?.group).join('');
    expect(groups).toMatch(/^(abc){3}$/);
  });

  test('counts a settled item no longer', () => {
    const order = new FairOrder<Item>();
    for (const group of ['a', 'b']) {
      for (let number = 0; number < 4; number++) order.add({ group, removed: false, number });
    }
    const out = Array.from({ length: 4 }, () => order.take());
    for (const item of out) if (item?.group === 'b') order.settle(item);
    expect([order.take(), order.take()].map((item) => item?.group)).toEqual(['b', 'b']);
  });

  test('skips removed items, hands out all others once, and never passes over a group with fewer out', () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }),
      fc.constant({ take: true }),
      fc.record({ settle: fc.nat() }),
      fc.record({ remove: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const model = new Model();
        for (const one of steps) model.apply(one);
        model.takeAll();
      }),
    );
  });
});

type Step = { add: string } | { take: boolean } | { settle: number } | { remove: number };

/** The same rules, said by searching lists. */
class Model {
  readonly order = new FairOrder<Item>();
  readonly waiting: Item[] = [];
  readonly out: Item[] = [];
  next = 0;

  apply(step: Step): void {
    if ('add' in step) this.add(step.add);
    else if ('take' in step) this.take();
    else if ('settle' in step) this.settle(step.settle);
    else this.remove(step.remove);
  }

  takeAll(): void {
    for (let left = this.waiting.length; left >= 0; left--) this.take();
    expect(this.waiting).toEqual([]);
  }

  private add(group: string): void {
    const item = { group, removed: false, number: this.next++ };
    this.waiting.push(item);
    this.order.add(item);
  }

  private take(): void {
    const item = this.order.take();
    if (item === undefined) {
      expect(this.waiting).toEqual([]);
      return;
    }
    const fewest = Math.min(...this.waiting.map(({ group }) => this.countOut(group)));
    expect(this.countOut(item.group)).toBe(fewest);
    expect(this.waiting.find(({ group }) => group === item.group)).toBe(item);
    this.waiting.splice(this.waiting.indexOf(item), 1);
    this.out.push(item);
  }

  private settle(index: number): void {
    const [item] = this.out.splice(index % Math.max(this.out.length, 1), 1);
    if (item !== undefined) this.order.settle(item);
  }

  private remove(index: number): void {
    const [item] = this.waiting.splice(index % Math.max(this.waiting.length, 1), 1);
    if (item !== undefined) item.removed = true;
  }

  private countOut(name: string): number {
    return this.out.filter(({ group }) => group === name).length;
  }
}
