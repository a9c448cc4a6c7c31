import type { JsonValue } from '#core/json.ts';

/**
 * The same function, which reads an entry once while it stays the same object, as definitions of stored accounts do: a thousand would take
 * long each time that one of them changes.
 *
 * @param read depends on nothing but the entry and the members of the other argument, which are texts and flags
 */
export function rememberEntries<R extends object, Read>(
  read: (entry: JsonValue, reading: R) => Read,
): (entry: JsonValue, reading: R) => Read {
  const entries = new WeakMap<object, { readonly reading: R; readonly read: Read }>();
  return (entry, reading) => {
    if (typeof entry !== 'object' || entry === null) return read(entry, reading);
    const known = entries.get(entry);
    if (known !== undefined && isSame(known.reading, reading)) return known.read;
    const remembered = { reading, read: read(entry, reading) };
    entries.set(entry, remembered);
    return remembered.read;
  };
}

function isSame(one: object, other: object): boolean {
  const members = new Map<string, unknown>(Object.entries(other));
  return Object.entries(one).every(([name, value]) => members.get(name) === value);
}
