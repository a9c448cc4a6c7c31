import {
  hasNoNames,
  listAllNames,
  listNames,
  type NamesByTopic,
  type NotedNames,
  noNames,
  noteNames,
  noteUnused,
} from '../core/cache/noted-names.ts';
import type { Clock, Randomness } from '../core/clock.ts';
import type { CacheTable } from './cache-table.ts';
import { untilUncontended } from './contention.ts';
import type { Item, ItemKey } from './table.ts';

/** Milliseconds for which this process takes a name for noted without a look. Well below the retention of unused names. */
const knownForMs = 2 * 60_000;

/** Names that this process remembers at most. */
const knownMax = 20_000;

/** What noted names are stored with. */
export interface NameStoreOptions {
  readonly table: CacheTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Names in use, an item for each place that has some, remembered for two minutes. */
export class NameStore {
  readonly #options: NameStoreOptions;
  /** Until when a name is taken for noted, milliseconds. */
  readonly #known = new Map<string, number>();

  constructor(options: NameStoreOptions) {
    this.#options = options;
  }

  /**
   * Notes names, if they are not noted yet.
   *
   * @param attributes further attributes of the item.
   */
  async note(key: ItemKey, names: NamesByTopic, attributes: Item = {}): Promise<void> {
    const nowMs = this.#options.clock.now();
    const ids = toIds(key, names);
    if (ids.every((id) => (this.#known.get(id) ?? 0) > nowMs)) return;
    await this.#change(key, async (item) => {
      const { noted, changed } = noteNames(readNames(item), names);
      return changed ? { ...attributes, ...key, topics: formatNames(noted) } : 'keep';
    });
    if (this.#known.size > knownMax) this.#known.clear();
    for (const id of ids) this.#known.set(id, nowMs + knownForMs);
  }

  /** Notes which names are left; answers whether some wait for a later call to drop them. */
  async prune(key: ItemKey, readLeft: () => Promise<NamesByTopic>): Promise<boolean> {
    const { clock } = this.#options;
    let waits = false;
    await this.#change(key, async (item) => {
      waits = false;
      if (item === undefined) return 'keep';
      const { noted, changed } = noteUnused(readNames(item), await readLeft(), clock.now());
      waits = [...noted.topics.keys()].some(
        (topic) => listAllNames(noted, topic).length > listNames(noted, topic).length,
      );
      if (hasNoNames(noted)) return 'delete';
      return changed ? { ...item, topics: formatNames(noted) } : 'keep';
    });
    this.#forget(key);
    return waits;
  }

  /** The item's names, or undefined when it has none. */
  async find(key: ItemKey): Promise<NotedNames | undefined> {
    const item = await this.#options.table.get(key);
    return item && readNames(item);
  }

  #forget({ pk, sk }: ItemKey): void {
    const prefix = `${pk}\n${sk}\n`;
    for (const id of [...this.#known.keys()]) if (id.startsWith(prefix)) this.#known.delete(id);
  }

  /** Reads, and writes what `change` answers, until nobody else wrote in between. */
  #change(
    key: ItemKey,
    change: (item: Item | undefined) => Promise<Item | 'keep' | 'delete'>,
  ): Promise<true> {
    const { table } = this.#options;
    return untilUncontended({ ...this.#options, what: `${key.pk} ${key.sk}` }, async () => {
      const item = await table.get(key);
      const next = await change(item);
      if (next === 'keep') return true;
      const revision = Number(item?.['revision'] ?? 0);
      const condition =
        item === undefined
          ? { expression: 'attribute_not_exists(pk)' }
          : { expression: 'revision = :revision', values: { ':revision': revision } };
      const isDone =
        next === 'delete'
          ? await table.deleteIf(key, condition)
          : await table.putIf({ ...next, revision: revision + 1 }, condition);
      return isDone || undefined;
    });
  }
}

/** The names of an item. */
export function readNames(item: Item | undefined): NotedNames {
  if (item === undefined) return noNames;
  const topics = JSON.parse(String(item['topics'])) as [string, [string, number][]][];
  return { topics: new Map(topics.map(([topic, names]) => [topic, new Map(names)])) };
}

function formatNames({ topics }: NotedNames): string {
  return JSON.stringify([...topics].map(([topic, names]) => [topic, [...names]]));
}

function toIds({ pk, sk }: ItemKey, names: NamesByTopic): string[] {
  return Object.entries(names).flatMap(([topic, some]) =>
    some.map((name) => `${pk}\n${sk}\n${topic}\n${name}`),
  );
}
