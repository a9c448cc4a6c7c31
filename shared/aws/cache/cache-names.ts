import {
  hasNoNames,
  joinNames,
  listAllNames,
  listNames,
  type NamesByTopic,
  type NotedNames,
  noteNames,
  noteUnused,
} from '../../core/cache/noted-names.ts';
import type { Clock, Randomness } from '../../core/clock.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import type { Item, ItemKey } from '../table.ts';
import {
  firstPartBytesMax,
  formatNames,
  furtherPartBytesMax,
  getPartRange,
  groupByFurtherPart,
  isPartOf,
  readNames,
} from './cache-name-parts.ts';
import type { CacheTable } from './cache-table.ts';
import { untilUncontended } from './contention.ts';

/** Milliseconds for which this process takes a name for noted without a look. Well below the retention of unused names. */
const knownForMs = 2 * 60_000;

/** Names that this process remembers at most. */
const knownMax = 20_000;

/** Parts written at a time. */
const concurrency = 8;

/** What noted names are stored with. */
export interface NameStoreOptions {
  readonly table: CacheTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/**
 * Names in use, remembered for two minutes. A place that has some is an item; where there are many, new ones go into further
 * items by their hash, so that a name more costs the same few units whatever the number.
 */
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
   * @param attributes further attributes of the items.
   * @returns names for which there is no room: all others are noted.
   * @throws ItemTooLargeError when the attributes leave no room for any name.
   */
  async note(key: ItemKey, names: NamesByTopic, attributes: Item = {}): Promise<readonly string[]> {
    const nowMs = this.#options.clock.now();
    const ids = toIds(key, names);
    if (ids.every((id) => (this.#known.get(id) ?? 0) > nowMs)) return [];
    const left = await this.#noteIn(key, names, { attributes, bytesMax: firstPartBytesMax });
    const tooMany: string[] = [];
    await forEachConcurrently(groupByFurtherPart(key, left), concurrency, async ([part, own]) => {
      const rest = await this.#noteIn(part, own, { attributes, bytesMax: furtherPartBytesMax });
      tooMany.push(...Object.values(rest).flat());
    });
    // Those without room are tried again: some day there is room.
    if (tooMany.length > 0) return tooMany;
    if (this.#known.size > knownMax) this.#known.clear();
    for (const id of ids) this.#known.set(id, nowMs + knownForMs);
    return [];
  }

  /** Notes which names are left; answers whether some wait for a later call to drop them. */
  async prune(key: ItemKey, readLeft: () => Promise<NamesByTopic>): Promise<boolean> {
    let waits = false;
    await untilUncontended({ ...this.#options, what: `${key.pk} ${key.sk}` }, async () => {
      waits = false;
      const parts = await this.#readParts(key);
      if (parts.length === 0) return true;
      const left = await readLeft();
      let isWhole = true;
      await forEachConcurrently(parts, concurrency, async (item) => {
        const noted = await this.#prunePart(item, left);
        if (noted === undefined) isWhole = false;
        else waits ||= hasUnused(noted);
      });
      return isWhole || undefined;
    });
    this.#forget(key);
    return waits;
  }

  /** The names of a place, or undefined when it has none. */
  async find(key: ItemKey): Promise<NotedNames | undefined> {
    const parts = await this.#readParts(key);
    return parts.length === 0 ? undefined : joinNames(parts.map(readNames));
  }

  /** Notes names in one part. @returns new names for which it has no room */
  async #noteIn(
    key: ItemKey,
    names: NamesByTopic,
    { attributes, bytesMax }: { readonly attributes: Item; readonly bytesMax: number },
  ): Promise<NamesByTopic> {
    const { table } = this.#options;
    let left: NamesByTopic = {};
    await untilUncontended({ ...this.#options, what: `${key.pk} ${key.sk}` }, async () => {
      const item = await table.get(key);
      const added = noteNames(readNames(item), names, bytesMax);
      left = added.left;
      if (!added.changed) return true;
      return (await this.#putPart({ ...item, ...attributes, ...key }, added.noted)) || undefined;
    });
    return left;
  }

  /** @returns what is noted in it then; undefined when somebody else wrote it meanwhile */
  async #prunePart(item: Item & ItemKey, left: NamesByTopic): Promise<NotedNames | undefined> {
    const { table, clock } = this.#options;
    const { noted, changed } = noteUnused(readNames(item), left, clock.now());
    if (hasNoNames(noted)) return (await table.deleteIf(item, isUnchanged(item))) ? noted : undefined;
    if (!changed) return noted;
    return (await this.#putPart(item, noted)) ? noted : undefined;
  }

  /** Writes a part, if nobody wrote it since it was read. */
  #putPart(item: Item & ItemKey, noted: NotedNames): Promise<boolean> {
    const revision = Number(item['revision'] ?? 0) + 1;
    return this.#options.table.putIf({ ...item, topics: formatNames(noted), revision }, isUnchanged(item));
  }

  async #readParts(key: ItemKey): Promise<(Item & ItemKey)[]> {
    const parts: (Item & ItemKey)[] = [];
    const query = { pk: key.pk, range: getPartRange(key), consistent: true };
    for await (const items of this.#options.table.queryPages(query)) {
      for (const item of items) {
        if (isPartOf(key, item)) parts.push({ ...item, pk: key.pk, sk: String(item['sk']) });
      }
    }
    return parts;
  }

  #forget({ pk, sk }: ItemKey): void {
    const prefix = `${pk}\n${sk}\n`;
    for (const id of [...this.#known.keys()]) if (id.startsWith(prefix)) this.#known.delete(id);
  }
}

function isUnchanged(item: Item): { expression: string; values?: { ':revision': unknown } } {
  const revision = item['revision'];
  return revision === undefined
    ? { expression: 'attribute_not_exists(pk)' }
    : { expression: 'revision = :revision', values: { ':revision': revision } };
}

/** Whether some names are about to be dropped. */
function hasUnused(noted: NotedNames): boolean {
  return [...noted.topics.keys()].some(
    (topic) => listAllNames(noted, topic).length > listNames(noted, topic).length,
  );
}

function toIds({ pk, sk }: ItemKey, names: NamesByTopic): string[] {
  return Object.entries(names).flatMap(([topic, some]) =>
    some.map((name) => `${pk}\n${sk}\n${topic}\n${name}`),
  );
}
