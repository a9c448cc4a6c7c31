/** What a heap orders: its deadline, and where it lies. */
export interface Deadline {
  /** Milliseconds since the epoch. Change it only through the heap. */
  dueAt: number;
  /** Kept by the heap; -1 while it is in none. */
  heapIndex: number;
}

/** The earliest of many deadlines, each of which may be moved or removed: O(log n) a change. */
export class DeadlineHeap<T extends Deadline> {
  readonly #items: T[] = [];

  /** The item that is due first, or undefined. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** Adds an item, or moves it when it is in already. */
  set(item: T, dueAt: number): void {
    item.dueAt = dueAt;
    if (item.heapIndex < 0) this.#place(item, this.#items.length);
    this.#rise(item);
    this.#sink(item);
  }

  /** Removes an item; nothing happens when it is not in. */
  delete(item: T): void {
    const last = this.#items.at(-1);
    if (item.heapIndex < 0 || last === undefined) return;
    this.#items.pop();
    if (last !== item) {
      this.#place(last, item.heapIndex);
      this.#rise(last);
      this.#sink(last);
    }
    item.heapIndex = -1;
  }

  #rise(item: T): void {
    while (item.heapIndex > 0) {
      const parent = this.#items[(item.heapIndex - 1) >> 1] as T;
      if (parent.dueAt <= item.dueAt) return;
      this.#swap(parent, item);
    }
  }

  #sink(item: T): void {
    for (;;) {
      const child = this.#earlierChild(item.heapIndex);
      if (child === undefined || child.dueAt >= item.dueAt) return;
      this.#swap(item, child);
    }
  }

  #earlierChild(index: number): T | undefined {
    const left = this.#items[2 * index + 1];
    const right = this.#items[2 * index + 2];
    return left !== undefined && right !== undefined && right.dueAt < left.dueAt ? right : left;
  }

  #swap(a: T, b: T): void {
    const index = a.heapIndex;
    this.#place(a, b.heapIndex);
    this.#place(b, index);
  }

  #place(item: T, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}
