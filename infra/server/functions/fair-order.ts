/** What a fair order arranges. */
export interface FairItem {
  /** Tenant whose share counts. */
  readonly group: string;
  /** Set to true by the owner when the item is gone: it is then skipped. */
  removed: boolean;
}

/** The waiting items of one tenant, oldest first, and how many of its items are out. */
interface Group<T> {
  readonly name: string;
  items: T[];
  /** Index of the oldest waiting item: taking one from the front of an array would move all others. */
  head: number;
  inFlight: number;
}

/**
 * Hands out items so that no group delays the others: the next item is the oldest of the group that has the fewest
 * items out, and groups with equally many take turns. This is what SQS' fair queues do with `MessageGroupId`.
 * Adding and taking are O(1), amortised.
 */
export class FairOrder<T extends FairItem> {
  readonly #groups = new Map<string, Group<T>>();
  /** Groups with waiting items, by how many of theirs are out; a set keeps the order in which they came. */
  readonly #byInFlight: Set<Group<T>>[] = [];
  /** No group with waiting items has fewer out. */
  #fewest = 0;

  /** Adds an item at the end of its group. */
  add(item: T): void {
    const group = this.#getGroup(item.group);
    group.items.push(item);
    this.#enqueue(group);
  }

  /** Takes the next item, which counts as out until `settle`; undefined when none waits. */
  take(): T | undefined {
    for (let group = this.#next(); group !== undefined; group = this.#next()) {
      const item = takeOldest(group);
      this.#dequeue(group);
      if (item !== undefined) group.inFlight += 1;
      if (group.items.length > 0) this.#enqueue(group);
      else this.#forgetIfIdle(group);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** An item that was taken is no longer out. To have it handed out again, add it afterwards. */
  settle(item: T): void {
    const group = this.#getGroup(item.group);
    this.#dequeue(group);
    group.inFlight -= 1;
    if (group.items.length > 0) this.#enqueue(group);
    else this.#forgetIfIdle(group);
  }

  #getGroup(name: string): Group<T> {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { name, items: [], head: 0, inFlight: 0 };
      this.#groups.set(name, group);
    }
    return group;
  }

  #next(): Group<T> | undefined {
    for (; this.#fewest < this.#byInFlight.length; this.#fewest++) {
      const [group] = this.#byInFlight[this.#fewest] ?? [];
      if (group !== undefined) return group;
    }
    return undefined;
  }

  #enqueue(group: Group<T>): void {
    while (this.#byInFlight.length <= group.inFlight) this.#byInFlight.push(new Set());
    this.#byInFlight[group.inFlight]?.add(group);
    this.#fewest = Math.min(this.#fewest, group.inFlight);
  }

  #dequeue(group: Group<T>): void {
    this.#byInFlight[group.inFlight]?.delete(group);
  }

  #forgetIfIdle(group: Group<T>): void {
    if (group.inFlight === 0) this.#groups.delete(group.name);
  }
}

/** The oldest item that is not removed; leaves `items` empty when that was the last. */
function takeOldest<T extends FairItem>(group: Group<T>): T | undefined {
  let item: T | undefined;
  do item = group.items[group.head++];
  while (item?.removed);
  const isLong = group.head > 32 && group.head * 2 > group.items.length;
  if (group.head >= group.items.length || isLong) {
    group.items = group.items.slice(group.head);
    group.head = 0;
  }
  return item;
}
