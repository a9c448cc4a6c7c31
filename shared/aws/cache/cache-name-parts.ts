import { hashText } from '../../core/cache/hash-text.ts';
import { type NamesByTopic, type NotedNames, noNames } from '../../core/cache/noted-names.ts';
import type { Item, ItemKey } from '../table.ts';

/** Bytes of names up to which new ones go into the first part: so most places have no other, and it is one unit to read. */
export const firstPartBytesMax = 4 * 1024;

/** Bytes of names that a further part takes. Below what an item holds, with room for the times at which names became unused. */
export const furtherPartBytesMax = 300 * 1024;

/** Parts beside the first one: by the hash of a name, so never change this number. */
const furtherParts = 64;

/** Names by topic as they are stored: those in use under `0`, the others under when they ceased to be, milliseconds. */
type StoredNames = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The form of earlier versions: an item with it is read, and written in the other one when it changes. */
type FormerNames = readonly (readonly [topic: string, names: readonly (readonly [string, number])[]])[];

/** The names of an item. */
export function readNames(item: Item | undefined): NotedNames {
  if (item === undefined) return noNames;
  const stored = JSON.parse(String(item['topics'])) as StoredNames | FormerNames;
  if (isFormer(stored)) return { topics: new Map(stored.map(([topic, names]) => [topic, new Map(names)])) };
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

/** The names as an item has them. */
export function formatNames({ topics }: NotedNames): string {
  const stored: Record<string, Record<string, string[]>> = {};
  for (const [topic, known] of topics) {
    const byTime: Record<string, string[]> = {};
    for (const [name, unusedSinceMs] of known) {
      const names = byTime[unusedSinceMs] ?? [];
      names.push(name);
      byTime[unusedSinceMs] = names;
    }
    stored[topic] = byTime;
  }
  return JSON.stringify(stored);
}

/** Names by the key of the further part that they belong into. */
export function groupByFurtherPart(first: ItemKey, names: NamesByTopic): [ItemKey, NamesByTopic][] {
  const parts = new Map<number, Record<string, string[]>>();
  for (const [topic, some] of Object.entries(names)) {
    for (const name of some) {
      const index = hashText(`${topic} ${name}`) % furtherParts;
      const part = parts.get(index) ?? {};
      parts.set(index, part);
      part[topic] = [...(part[topic] ?? []), name];
    }
  }
  return [...parts].map(([index, own]) => [{ ...first, sk: `${first.sk}#${formatIndex(index)}` }, own]);
}

/** Between which sort keys all parts of a place stand; others may stand there, too: see {@link isPartOf}. */
export function getPartRange({ sk }: ItemKey): { from: string; to: string } {
  return { from: sk, to: `${sk}#~` };
}

/** Whether an item is a part of a place. */
export function isPartOf({ sk }: ItemKey, item: Item): boolean {
  const own = String(item['sk']);
  return own === sk || own.startsWith(`${sk}#`);
}

function isFormer(stored: StoredNames | FormerNames): stored is FormerNames {
  return Array.isArray(stored);
}

function formatIndex(index: number): string {
  return String(index).padStart(2, '0');
}
