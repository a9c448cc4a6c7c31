import type { LiveEntry } from '#caching/store/packed-row.ts';
import type { JsonValue } from '#core/json.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts } from './facts.ts';

/** The key of the entry of a row's own object. */
export const selfKey = 'self';

/** The key of any other object's entry: its full name, `pod web-x7k2p`. */
export function getEntryKey({ kind, name }: Pick<ObjectFacts, 'kind' | 'name'>): string {
  return formatFullName(kind, name);
}

/** Facts as an entry's value: they are plain JSON. */
export function fromFacts(facts: ObjectFacts): JsonValue {
  return facts as unknown as JsonValue;
}

/** The facts in an entry's value. */
export function asFacts(value: JsonValue): ObjectFacts {
  return value as unknown as ObjectFacts;
}

/** The object of a row's own entry; undefined if it was removed. */
export function findSelf(entries: ReadonlyMap<string, LiveEntry>): ObjectFacts | undefined {
  const self = entries.get(selfKey);
  return self && asFacts(self.value);
}

/** The pods among a row's entries that the server group with this uid owns. */
export function listInstances(entries: ReadonlyMap<string, LiveEntry>, uid: string): ObjectFacts[] {
  const instances: ObjectFacts[] = [];
  for (const { value } of entries.values()) {
    const instance = asFacts(value);
    // A server group that was recreated under its name does not have its predecessor's pods.
    if (instance.owners.some((owner) => owner.uid === uid)) instances.push(instance);
  }
  return instances;
}
