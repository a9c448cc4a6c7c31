import { getOrAdd } from '#core/get-or-add.ts';

/** Milliseconds after which an unused name is dropped, if it is still unused: 5 minutes. */
export const unusedNameRetentionMs = 5 * 60_000;

/** Names in use, by topic: for example the clusters and locations of an application in an account. */
export interface RecordedNames {
  /** By topic and name: 0 while the name is in use, else when it became unused, milliseconds. */
  readonly topics: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Names by topic. */
export type NamesByTopic = Readonly<Record<string, readonly string[]>>;

interface NamesRecorded {
  readonly recorded: RecordedNames;
  readonly changed: boolean;
  /** New names for which there was no room; without topics when there was room for all. */
  readonly left: NamesByTopic;
}

/** No names. */
export const noNames: RecordedNames = { topics: new Map() };

const encoder = new TextEncoder();

/** Records that names are in use. @param bytesMax of all names, above which new ones are not recorded; default: no limit */
export function recordNames(
  recorded: RecordedNames,
  names: NamesByTopic,
  bytesMax: number = Number.POSITIVE_INFINITY,
): NamesRecorded {
  const topics = new Map<string, Map<string, number>>();
  for (const [topic, known] of recorded.topics) topics.set(topic, new Map(known));
  const left: Record<string, string[]> = {};
  let bytes = Number.isFinite(bytesMax) ? measureNames(recorded) : 0;
  let changed = false;
  for (const [topic, wanted] of Object.entries(names)) {
    const known = getOrAdd(topics, topic, () => new Map<string, number>());
    for (const name of wanted) {
      if (known.get(name) === 0) continue;
      const more = known.has(name) ? 0 : measure([name]);
      if (bytes + more > bytesMax) {
        left[topic] = [...(left[topic] ?? []), name];
        continue;
      }
      bytes += more;
      known.set(name, 0);
      changed = true;
    }
  }
  return changed ? { recorded: { topics }, changed, left } : { recorded, changed, left };
}

/**
 * Records which names are still in use. The others are not listed from now on, but dropped only if a call 5 minutes later finds them
 * unused, too: writers that were about to use one are done by then.
 */
export function recordUnused(
  recorded: RecordedNames,
  left: NamesByTopic,
  nowMs: number,
): { recorded: RecordedNames; changed: boolean } {
  let changed = false;
  const topics = new Map<string, Map<string, number>>();
  for (const [topic, known] of recorded.topics) {
    const used = new Set(left[topic] ?? []);
    const kept = [...known].flatMap(([name, unusedSinceMs]): [string, number][] => {
      const next = used.has(name) ? 0 : unusedSinceMs || nowMs;
      const isDropped = next !== 0 && next + unusedNameRetentionMs <= nowMs;
      changed ||= isDropped || next !== unusedSinceMs;
      return isDropped ? [] : [[name, next]];
    });
    topics.set(topic, new Map(kept));
  }
  return changed ? { recorded: { topics }, changed } : { recorded, changed };
}

/** The names of several places as those of one: a name is in use if any of them says so. */
export function joinNames(places: readonly RecordedNames[]): RecordedNames {
  const topics = new Map<string, Map<string, number>>();
  for (const [topic, known] of places.flatMap((place) => [...place.topics])) {
    const joined = getOrAdd(topics, topic, () => new Map<string, number>());
    for (const [name, unusedSinceMs] of known) {
      const before = joined.get(name);
      joined.set(name, before === 0 || unusedSinceMs === 0 ? 0 : Math.max(before ?? 0, unusedSinceMs));
    }
  }
  return { topics };
}

/** The names of a topic that are in use, sorted. */
export function listNames({ topics }: RecordedNames, topic: string): string[] {
  const known = topics.get(topic) ?? new Map<string, number>();
  return [...known].flatMap(([name, unusedSinceMs]) => (unusedSinceMs === 0 ? [name] : [])).sort();
}

/** The names of a topic, including those about to be dropped. */
export function listAllNames({ topics }: RecordedNames, topic: string): string[] {
  return [...(topics.get(topic)?.keys() ?? [])];
}

/** Whether no name is left, used or not. */
export function hasNoNames({ topics }: RecordedNames): boolean {
  return topics.values().every((known) => known.size === 0);
}

/** Bytes that the names take in JSON. */
function measureNames({ topics }: RecordedNames): number {
  let bytes = 0;
  for (const known of topics.values()) bytes += measure([...known.keys()]);
  return bytes;
}

/** Bytes of names with their quotation marks, and a comma each. */
function measure(names: readonly string[]): number {
  return names.length === 0 ? 0 : encoder.encode(JSON.stringify(names)).length - 1;
}
