import type { Clock, Randomness } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { JoinedWrites } from '#core/joined-writes.ts';
import type { RememberedBytes } from '#core/remembered-bytes.ts';
import { fromRaw, type Item, type ItemKey } from '#platform/aws/table.ts';
import {
  hasNoNames,
  joinNames,
  listAllNames,
  listNames,
  type NamesByTopic,
  noNames,
  type RecordedNames,
  recordNames,
  recordUnused,
} from '../../store/recorded-names.ts';
import {
  firstPartBytesMax,
  furtherPartBytesMax,
  getPartRange,
  groupByFurtherPart,
  isPartOf,
  packNames,
  readNames,
} from './cache-name-parts.ts';
import type { CacheTable, Condition } from './cache-table.ts';
import { untilUncontended } from './contention.ts';
import type { UnreadableItems } from './unreadable-items.ts';

/** Milliseconds for which this process assumes that a name is recorded, without a read. Well below the retention of unused names. */
const knownForMs = 2 * 60_000;

/** Bytes of memory that a known name takes besides its characters. */
const bytesPerName = 100;

/** Parts written at a time. */
const concurrency = 8;

interface NameStoreOptions {
  readonly table: CacheTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly remembered: RememberedBytes;
  readonly unreadable: UnreadableItems;
}

/** Names to be recorded of a place. */
interface Noted {
  readonly key: ItemKey;
  readonly names: NamesByTopic;
  /** Further attributes of the items. */
  readonly attributes: Item;
}

/**
 * Names in use, remembered for two minutes. A place with names is an item; where there are many, new ones go into further items by their
 * hash, so that one more name costs the same few units whatever their number.
 */
export class NameStore {
  readonly #options: NameStoreOptions;
  /** Until when a name is assumed to be recorded, milliseconds. */
  readonly #known = new Map<string, number>();
  /** Of the names added since all were forgotten. */
  #knownBytes = 0;
  /** Returns names for which there is no room. */
  readonly #writes = new JoinedWrites<Noted, readonly string[]>({
    join: (first, second) => ({ ...first, names: mergeNames(first.names, second.names) }),
    write: (_, noted) => this.#record(noted),
  });

  constructor(options: NameStoreOptions) {
    this.#options = options;
  }

  /**
   * Records names unless they are recorded already.
   *
   * @param attributes further attributes of the items.
   * @returns names for which there is no room, including those of calls at the same time: all others are recorded.
   * @throws ItemTooLargeError when the attributes leave no room for any name.
   */
  async note(key: ItemKey, names: NamesByTopic, attributes: Item = {}): Promise<readonly string[]> {
    const nowMs = this.#options.clock.now();
    const ids = toIds(key, names);
    if (this.#areKnown(ids)) return [];
    const tooMany = await this.#writes.write(`${key.pk}\n${key.sk}`, { key, names, attributes });
    // Names without room are tried again: there may be room later.
    if (tooMany.length > 0) return tooMany;
    for (const id of ids) this.#remember(id, nowMs + knownForMs);
    return [];
  }

  /** Begins to read what recording names will read, unless they are known to be recorded. */
  readAhead(key: ItemKey, names: NamesByTopic): void {
    if (!this.#areKnown(toIds(key, names))) this.#options.table.readAhead(key);
  }

  /**
   * Records which names are left.
   *
   * @param look.departing names that another writer may be about to record.
   * @returns whether a later call has work: names to drop, or one of `departing` that was not recorded yet.
   */
  async prune(
    key: ItemKey,
    {
      readLeft,
      departing = {},
    }: {
      readonly readLeft: () => Promise<NamesByTopic>;
      readonly departing?: NamesByTopic;
    },
  ): Promise<boolean> {
    let waits = false;
    await untilUncontended({ ...this.#options, what: `${key.pk} ${key.sk}` }, async () => {
      const parts = await this.#readParts(key);
      waits = recordNames(this.#joinAll(parts), departing).changed;
      if (parts.length === 0) return true;
      const left = await readLeft();
      let isWhole = true;
      await forEachConcurrently(parts, concurrency, async (item) => {
        const recorded = await this.#prunePart(item, left);
        if (recorded === undefined) isWhole = false;
        else waits ||= hasUnused(recorded);
      });
      return isWhole || undefined;
    });
    this.#forget(key);
    return waits;
  }

  /** The names of a place, or undefined when it has none. */
  async find(key: ItemKey): Promise<RecordedNames | undefined> {
    const parts = await this.#readParts(key);
    return parts.length === 0 ? undefined : this.#joinAll(parts);
  }

  /** @returns names for which there is no room */
  async #record({ key, names, attributes }: Noted): Promise<readonly string[]> {
    const left = await this.#recordIn(key, names, { attributes, bytesMax: firstPartBytesMax });
    const tooMany: string[] = [];
    await forEachConcurrently(groupByFurtherPart(key, left), concurrency, async ([part, own]) => {
      const rest = await this.#recordIn(part, own, { attributes, bytesMax: furtherPartBytesMax });
      tooMany.push(...Object.values(rest).flat());
    });
    return tooMany;
  }

  /** Records names in one part. @returns new names for which it has no room */
  async #recordIn(
    key: ItemKey,
    names: NamesByTopic,
    { attributes, bytesMax }: { readonly attributes: Item; readonly bytesMax: number },
  ): Promise<NamesByTopic> {
    const { table } = this.#options;
    let left: NamesByTopic = {};
    await untilUncontended({ ...this.#options, what: `${key.pk} ${key.sk}` }, async () => {
      const [raw] = await table.readToWrite(key);
      const item = raw && fromRaw(raw);
      const added = recordNames(this.#read({ ...item, ...key }), names, bytesMax);
      left = added.left;
      if (!added.changed) return true;
      return (await this.#putPart({ ...item, ...attributes, ...key }, added.recorded)) || undefined;
    });
    return left;
  }

  /** @returns what it has recorded then; undefined when another writer changed it meanwhile */
  async #prunePart(item: Item & ItemKey, left: NamesByTopic): Promise<RecordedNames | undefined> {
    const { table, clock } = this.#options;
    const { recorded, changed } = recordUnused(this.#read(item), left, clock.now());
    if (hasNoNames(recorded)) return (await table.deleteIf(item, isUnchanged(item))) ? recorded : undefined;
    if (!changed) return recorded;
    return (await this.#putPart(item, recorded)) ? recorded : undefined;
  }

  /** Writes a part, unless it was written since it was read. */
  #putPart(item: Item & ItemKey, recorded: RecordedNames): Promise<boolean> {
    const revision = Number(item['revision'] ?? 0) + 1;
    const written = { ...item, form: undefined, topics: packNames(recorded), revision };
    return this.#options.table.putIf(written, isUnchanged(item));
  }

  /** An unreadable item of another release counts as empty, and is overwritten. */
  #read(item: Item & ItemKey): RecordedNames {
    if (item['topics'] === undefined) return noNames;
    return this.#options.unreadable.read(item, () => readNames(item)) ?? noNames;
  }

  #joinAll(parts: readonly (Item & ItemKey)[]): RecordedNames {
    return joinNames(parts.map((item) => this.#read(item)));
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

  #areKnown(ids: readonly string[]): boolean {
    const nowMs = this.#options.clock.now();
    return ids.every((id) => (this.#known.get(id) ?? 0) > nowMs);
  }

  #remember(id: string, untilMs: number): void {
    if (!this.#known.has(id)) this.#knownBytes += id.length + bytesPerName;
    this.#known.set(id, untilMs);
    this.#options.remembered.keep(this.#known, this.#knownBytes, () => {
      this.#known.clear();
      this.#knownBytes = 0;
    });
  }

  #forget({ pk, sk }: ItemKey): void {
    const prefix = `${pk}\n${sk}\n`;
    for (const id of [...this.#known.keys()]) if (id.startsWith(prefix)) this.#known.delete(id);
  }
}

/** The condition that an item was not written since it was read, or still does not exist. @param by the attribute that shows this */
export function isUnchanged(item: Item, by: 'revision' | 'version' = 'revision'): Condition {
  return item[by] === undefined
    ? { expression: `attribute_not_exists(${by})` }
    : { expression: `${by} = :seen`, values: { ':seen': item[by] } };
}

function mergeNames(first: NamesByTopic, second: NamesByTopic): NamesByTopic {
  const topics = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries(
    [...topics].map((topic) => [topic, [...new Set([...(first[topic] ?? []), ...(second[topic] ?? [])])]]),
  );
}

/** Whether some names are about to be dropped. */
function hasUnused(recorded: RecordedNames): boolean {
  return [...recorded.topics.keys()].some(
    (topic) => listAllNames(recorded, topic).length > listNames(recorded, topic).length,
  );
}

function toIds({ pk, sk }: ItemKey, names: NamesByTopic): string[] {
  return Object.entries(names).flatMap(([topic, some]) =>
    some.map((name) => `${pk}\n${sk}\n${topic}\n${name}`),
  );
}
