import { getOrAdd } from '#core/get-or-add.ts';
import { isJsonObject } from '#core/json.ts';
import { cacheReader, isTexts } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { hashText } from '../../store/hash-text.ts';
import { type NamesByTopic, noNames, type RecordedNames } from '../../store/recorded-names.ts';
import { packText, unpackText } from './packed-text.ts';

/**
 * Bytes of names up to which new ones go into the first part: some 2,500 clusters, compressed to less than a third. So nearly every place
 * is one item: quicker to read than 65, and another name costs few units to write.
 */
export const firstPartBytesMax = 64 * 1024;

/** Bytes up to which names are stored uncompressed. */
const plainBytesMax = 1024;

/** Bytes of names that a further part takes: below DynamoDB's limit of an item, with room for the times at which names became unused. */
export const furtherPartBytesMax = 300 * 1024;

/** Parts besides the first one: chosen by the hash of a name, so never change this number. */
const furtherParts = 64;

/** Names by topic as they are stored: those in use under `0`, the others under the time at which they became unused, milliseconds. */
type StoredNames = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The names of an item. @throws MalformedItemError */
export function readNames(item: Item | undefined): RecordedNames {
  if (item === undefined) return noNames;
  cacheReader.checkForm(item);
  const topics = unpackText(cacheReader.getTextOrBytes(item, 'topics'));
  const stored = cacheReader.getJson({ ...item, topics }, 'topics', isStored);
  return {
    topics: new Map(
      Object.entries(stored).map(([topic, byTime]) => [
        topic,
        new Map(
          Object.entries(byTime).flatMap(([time, names]) =>
            names.map((name): [string, number] => [name, Number(time)]),
          ),
        ),
      ]),
    ),
  };
}

/** The names as an item stores them. */
export function packNames({ topics }: RecordedNames): string | Uint8Array {
  const stored: Record<string, Record<string, string[]>> = {};
  for (const [topic, known] of topics) {
    const byTime: Record<string, string[]> = {};
    for (const [name, unusedSinceMs] of known) {
      byTime[unusedSinceMs] ??= [];
      byTime[unusedSinceMs].push(name);
    }
    stored[topic] = byTime;
  }
  return packText(JSON.stringify(stored), { plainBytesMax, what: 'a part of the names' });
}

/** Names by the key of the further part that they belong to. */
export function groupByFurtherPart(first: ItemKey, names: NamesByTopic): [ItemKey, NamesByTopic][] {
  const parts = new Map<number, Record<string, string[]>>();
  for (const [topic, some] of Object.entries(names)) {
    for (const name of some) {
      const index = hashText(`${topic} ${name}`) % furtherParts;
      const part = getOrAdd(parts, index, (): Record<string, string[]> => ({}));
      part[topic] = [...(part[topic] ?? []), name];
    }
  }
  return [...parts].map(([index, own]) => [{ ...first, sk: `${first.sk}#${formatIndex(index)}` }, own]);
}

/** The range of sort keys that holds all parts of a place. Other items may be in it, too: see {@link isPartOf}. */
export function getPartRange({ sk }: ItemKey): { from: string; to: string } {
  return { from: sk, to: `${sk}#~` };
}

/** Whether an item is a part of a place. */
export function isPartOf({ sk }: ItemKey, item: Item): boolean {
  const own = String(item['sk']);
  return own === sk || own.startsWith(`${sk}#`);
}

function isStored(value: unknown): value is StoredNames {
  if (!isJsonObject(value)) return false;
  return Object.values(value).every((byTime) => isJsonObject(byTime) && Object.values(byTime).every(isTexts));
}

function formatIndex(index: number): string {
  return String(index).padStart(2, '0');
}
