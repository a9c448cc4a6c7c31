import { asJsonArray, isJsonObject, type JsonValue, parseJson } from '#core/json.ts';
import { MalformedItemError } from '#platform/aws/item-reader.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { isLive, type RowCodec, type RowEntry } from '../../store/packed-row.ts';
import { isRevision, type Revision } from '../../store/revision.ts';

/** An entry as stored: revision, value, and for a removed one the time of its removal. */
type EntryTuple = readonly [Revision, JsonValue] | readonly [Revision, null, number];

/** Writes rows of any values as JSON. */
export const jsonRowCodec: RowCodec = {
  encode(entries) {
    const tuples = [...entries].map(([key, entry]): [string, EntryTuple] => [
      key,
      isLive(entry) ? [entry.revision, entry.value] : [entry.revision, null, entry.goneAtMs],
    ]);
    return JSON.stringify(Object.fromEntries(tuples));
  },
  decode(text) {
    const entries = new Map<string, RowEntry>();
    const row = parseJson(text);
    if (!isJsonObject(row)) throw malformedRow();
    for (const [key, tuple] of Object.entries(row)) entries.set(key, parseEntry(tuple));
    return entries;
  },
};

/** @throws MalformedItemError */
function parseEntry(tuple: unknown): RowEntry {
  const [revision, value, goneAtMs] = asJsonArray(tuple);
  if (isRevision(revision) && value !== undefined) {
    if (goneAtMs === undefined) return { revision, value };
    if (typeof goneAtMs === 'number') return { revision, goneAtMs };
  }
  throw malformedRow();
}

/** A codec does not know the item of its text. */
function malformedRow(): MalformedItemError {
  return new MalformedItemError(
    `table ${cacheTable.name}: attribute body: expected of each entry of a row a revision, a value, and when it was removed`,
  );
}
