import { isLive, type LiveEntry, type RowCodec, type RowEntry } from '#caching/store/packed-row.ts';
import type { Revision } from '#caching/store/revision.ts';
import { type EncodedFacts, factsVersion, fromEncodedFacts, toEncodedFacts } from './facts-codec.ts';
import { asFacts, fromFacts, getEntryKey, selfKey } from './row-entries.ts';

/** A row as it is stored. Pods of earlier versions stand under `i`, `o` and `p`, and count as absent. */
interface EncodedRow {
  readonly v: number;
  /** The epoch of most revisions, as their text begins. */
  readonly e: string;
  /** The entry of the row's own object. */
  readonly g?: EncodedEntry;
  /** All others: the first one, and of each further one what the one before it does not say. */
  readonly a?: readonly (EncodedEntry | ToldEntry)[];
  /** Entries that were removed: key, revision, when the row heard of it. */
  readonly x?: readonly (readonly [string, Revision, number])[];
}

/** What an entry has beside its facts. */
interface EntryParts {
  /** Left out where it is the facts' resource version in the row's epoch. */
  readonly V?: Revision;
  /** The key; left out for the usual one. */
  readonly N?: string;
}

/** An entry that stands for itself. */
type EncodedEntry = EncodedFacts & EntryParts;

/** An entry that has all members of the one before it, without those that are the same. */
interface ToldEntry extends Partial<EncodedFacts>, EntryParts {
  readonly T: 1;
}

/**
 * A row's entries as compact JSON text. Their values must be facts (`fromFacts`). Entries that stand in one text may be told by
 * each other, since they are always written together: the pods of a server group have much in common.
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

/** The entries in a text of {@link encodeRow}; none when that is of another version. Equal parts of neighbours are one object. */
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

/** How rows of facts are written. */
export const rowCodec: RowCodec = { encode: encodeRow, decode: decodeRow };

/** What the facts before do not say of these; all of it where these lack what those have. */
function omitSame(facts: EncodedFacts, before: EncodedFacts): EncodedFacts | ToldEntry {
  const known = new Map<string, unknown>(Object.entries(before));
  if ([...known.keys()].some((member) => !Object.hasOwn(facts, member))) return facts;
  // By their texts, which writers compare.
  const isTold = ([member, value]: [string, unknown]): boolean =>
    value !== known.get(member) && JSON.stringify(value) !== JSON.stringify(known.get(member));
  return { ...Object.fromEntries(Object.entries(facts).filter(isTold)), T: 1 };
}

/** What a revision's text begins with. */
function getEpoch(revision: string): string {
  return revision.slice(0, revision.indexOf('.'));
}

/** The revision that a resource version has in an epoch. */
function toRevisionText(epoch: string, resourceVersion: string): Revision {
  return `${epoch}.${resourceVersion.padStart(19, '0')}` as Revision;
}
