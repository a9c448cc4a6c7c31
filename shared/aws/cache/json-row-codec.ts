import { isLive, type RowCodec, type RowEntry } from '../../core/cache/packed-row.ts';
import type { Version } from '../../core/cache/version.ts';
import type { JsonValue } from '../../core/json.ts';

/** An entry as stored: version, value, and of a removed one when that was. */
type EntryTuple = readonly [Version, JsonValue] | readonly [Version, null, number];

/** Writes rows of any values as JSON. */
export const jsonRowCodec: RowCodec = {
  encode(entries) {
    const tuples = [...entries].map(([key, entry]): [string, EntryTuple] => [
      key,
      isLive(entry) ? [entry.version, entry.value] : [entry.version, null, entry.goneAtMs],
    ]);
    return JSON.stringify(Object.fromEntries(tuples));
  },
  decode(text) {
    const entries = new Map<string, RowEntry>();
    for (const [key, tuple] of Object.entries(JSON.parse(text) as Record<string, EntryTuple>)) {
      const [version, value, goneAtMs] = tuple;
      entries.set(key, goneAtMs === undefined ? { version, value } : { version, goneAtMs });
    }
    return entries;
  },
};
