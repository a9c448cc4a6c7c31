import { isLive, type LiveEntry, type RowCodec, type RowEntry } from '#caching/store/packed-row.ts';
import type { Revision } from '#caching/store/revision.ts';
import { factsVersion, fromEncodedFacts, toEncodedFacts } from './facts-codec.ts';
import type { EncodedFacts } from './facts-schema.ts';
import { asFacts, fromFacts, getEntryKey, selfKey } from './row-entries.ts';

/** A row as stored. Earlier versions stored pods under `i`, `o` and `p`; these count as absent. */
interface EncodedRow {
  readonly v: number;
  /** The epoch of most revisions: the beginning of their text. */
  readonly e: string;
  /** The entry of the row's own object. */
  readonly g?: EncodedEntry;
  /** All other entries: the first one, and each further one as its difference from the one before. */
  readonly a?: readonly (EncodedEntry | ToldEntry)[];
  /** Entries that were removed: key, revision, when the row learned of it. */
  readonly x?: readonly (readonly [string, Revision, number])[];
}

/** The members of an entry besides its facts. */
interface EntryParts {
  /** Omitted if it is the facts' resource version in the row's epoch. */
  readonly V?: Revision;
  /** The key; omitted for the usual one. */
  readonly N?: string;
}

/** A complete entry. */
type EncodedEntry = EncodedFacts & EntryParts;

/** An entry that has all members of the one before it, and omits the equal ones. */
interface ToldEntry extends Partial<EncodedFacts>, EntryParts {
  readonly T: 1;
}

/**
 * A row's entries as compact JSON text. Their values must be facts (`fromFacts`). Entries in one text may be stored as differences, since
 * they are always written together: the pods of a server group have much in common.
 */
export function encodeRow(entries: ReadonlyMap<string, RowEntry>): string {
  const live = [...entries].filter((entry): entry is [string, LiveEntry] => isLive(entry[1]));
  const epoch = getEpoch(live[0]?.[1].revision ?? '');
  let own: EncodedEntry | undefined;
  let before: EncodedFacts | undefined;
  const others: (EncodedEntry | ToldEntry)[] = [];
  for (const [key, { revision, value }] of live) {
    const facts = asFacts(value);
    const encoded = toEncodedFacts(facts);
    const parts: EntryParts = {
      ...(revision !== toRevisionText(epoch, facts.resourceVersion) && { V: revision }),
      ...(key !== selfKey && key !== getEntryKey(facts) && { N: key }),
    };
    if (key === selfKey) own = { ...encoded, ...parts };
    else {
      others.push({ ...(before === undefined ? encoded : omitSame(encoded, before)), ...parts });
      before = encoded;
    }
  }
  const gone = [...entries].flatMap(([key, entry]) =>
    isLive(entry) ? [] : [[key, entry.revision, entry.goneAtMs] as const],
  );
  const encoded: EncodedRow = {
    v: factsVersion,
    e: epoch,
    ...(own && { g: own }),
    ...(others.length > 0 && { a: others }),
    ...(gone.length > 0 && { x: gone }),
  };
  return JSON.stringify(encoded);
}

/** The entries in a text of {@link encodeRow}; none if it has another version. Neighbours share equal parts as one object. */
export function decodeRow(text: string): Map<string, RowEntry> {
  const encoded = JSON.parse(text) as EncodedRow;
  const entries = new Map<string, RowEntry>();
  if (encoded.v !== factsVersion) return entries;
  const add = (whole: EncodedFacts, { V, N }: EntryParts, usualKey?: string): void => {
    const facts = fromEncodedFacts(whole);
    const revision = V ?? toRevisionText(encoded.e, facts.resourceVersion);
    entries.set(N ?? usualKey ?? getEntryKey(facts), { revision, value: fromFacts(facts) });
  };
  if (encoded.g) add(encoded.g, encoded.g, selfKey);
  let before: EncodedFacts | undefined;
  for (const entry of encoded.a ?? []) {
    if (!('T' in entry)) before = entry;
    else if (before) before = { ...before, ...entry };
    if (before) add(before, entry);
  }
  for (const [key, revision, goneAtMs] of encoded.x ?? []) entries.set(key, { revision, goneAtMs });
  return entries;
}

/** The codec for rows of facts. */
export const rowCodec: RowCodec = { encode: encodeRow, decode: decodeRow };

/** The members that differ from the previous facts; all of them if these lack one that those have. */
function omitSame(facts: EncodedFacts, before: EncodedFacts): EncodedFacts | ToldEntry {
  const known = new Map<string, unknown>(Object.entries(before));
  if ([...known.keys()].some((member) => !Object.hasOwn(facts, member))) return facts;
  // Compared as texts, as writers do.
  const isTold = ([member, value]: [string, unknown]): boolean =>
    value !== known.get(member) && JSON.stringify(value) !== JSON.stringify(known.get(member));
  return { ...Object.fromEntries(Object.entries(facts).filter(isTold)), T: 1 };
}

/** The beginning of a revision's text. */
function getEpoch(revision: string): string {
  return revision.slice(0, revision.indexOf('.'));
}

/** The revision of a resource version in an epoch. */
function toRevisionText(epoch: string, resourceVersion: string): Revision {
  return `${epoch}.${resourceVersion.padStart(19, '0')}` as Revision;
}
