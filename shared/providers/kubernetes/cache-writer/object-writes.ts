import { ItemTooLargeError, type NewObject, type ObjectKey } from '#caching/store/cache-store.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { encodeFacts } from '../rows/facts-codec.ts';
import { type EntryPlace, findRowApplication, getRowName, listEntryPlaces } from '../rows/row-names.ts';
import { type Departure, toNames } from './directory-names.ts';
import type { ObjectChange } from './object-change.ts';
import { type RowBatch, toFullName } from './row-batch.ts';
import { type KnownObject, toObjectKey, type WriterContext, writingConcurrency } from './writer-context.ts';

/** One change on its way into the cache. */
export interface ObjectWrite {
  readonly change: ObjectChange;
  readonly key: ObjectKey;
  /** The name of the object's row, which names the object, too. */
  readonly row: string;
  /** What was cached before. */
  readonly known: KnownObject | undefined;
  /** In whose rows the object stands from now on. */
  readonly application: string | undefined;
  /** Applications that it leaves, or whose names it changes. */
  readonly leaving: readonly string[];
}

/** What is to be done for a change; undefined for one that comes too late. */
export function planWrite(
  { account }: Pick<WriterContext, 'account'>,
  change: ObjectChange,
  known: KnownObject | undefined,
): ObjectWrite | undefined {
  if (known !== undefined && known.stored.revision > change.revision) return undefined;
  const { facts } = change;
  const application = facts && findRowApplication(facts, account.caching);
  const before = known?.stored.application;
  const isLeaving = before !== undefined && (before !== application || isRenamed(known?.facts, facts));
  const leaving = new Set([...(known?.stored.leaving ?? []), ...(isLeaving ? [before] : [])]);
  return {
    change,
    key: toObjectKey(account, change),
    row: getRowName(change),
    known,
    application,
    leaving: [...leaving],
  };
}

/**
 * Writes the objects. What goes away is deleted later, when its rows are written. What is too large is dropped.
 *
 * @returns which were written, and which met something else than was known of their objects, and must be thought over.
 */
export async function putObjects(
  writer: WriterContext,
  writes: readonly ObjectWrite[],
): Promise<{ written: readonly ObjectWrite[]; refused: readonly ObjectWrite[] }> {
  const answers = new Map<ObjectWrite, boolean>();
  await forEachConcurrently(writes, writingConcurrency, async (write) => {
    try {
      answers.set(write, await putObject(writer, write));
    } catch (error) {
      if (!(error instanceof ItemTooLargeError)) throw error;
      writer.dropped.add(toFullName(write.row));
    }
  });
  return {
    written: writes.filter((write) => answers.get(write) === true),
    refused: writes.filter((write) => answers.get(write) === false),
  };
}

/**
 * Takes out the entries of which the objects will not tell any more once they are written: of one that comes to another application or
 * owner, or whose kind is counted among another class. Whoever repeats this after a death reads the objects as they were.
 */
export function addVacated(
  { account }: Pick<WriterContext, 'account'>,
  rows: RowBatch,
  { change, known, application }: ObjectWrite,
): void {
  const { facts, revision } = change;
  if (facts === undefined) return;
  const kept = new Set(listEntryPlaces(account, facts, application).map(toId));
  for (const place of listKnownPlaces(account, known))
    if (!kept.has(toId(place))) rows.remove(place, revision);
}

/** Adds what becomes of the entries of an object that is written. */
export function addEntries(
  { account }: Pick<WriterContext, 'account'>,
  rows: RowBatch,
  { change, known, application }: ObjectWrite,
): void {
  const { facts, revision, seenAt } = change;
  if (facts === undefined) {
    for (const place of listKnownPlaces(account, known)) rows.remove(place, revision);
    return;
  }
  if (application !== undefined) rows.note(application, toNames(facts));
  for (const place of listEntryPlaces(account, facts, application))
    rows.put(place, { revision, seenAt, facts });
}

/** What the applications that an object leaves do not have any more. */
export function listDepartures({ known, leaving }: ObjectWrite): Departure[] {
  const { application: before, leaving: noted } = known?.stored ?? {};
  // Of what was noted before, nobody knows any more how it was.
  const isKnown = (application: string): boolean => application === before && !noted?.includes(application);
  return leaving.map((application) => ({
    application,
    names: known?.facts && isKnown(application) ? toNames(known.facts) : undefined,
  }));
}

/**
 * Ends a change whose rows are written: deletes what goes away, takes the note away from what moved.
 *
 * @returns false when somebody else wrote the object meanwhile.
 */
export async function finishWrite({ call }: WriterContext, write: ObjectWrite): Promise<boolean> {
  const { change, key, application, leaving, known } = write;
  if (change.facts === undefined)
    return call((cache) => cache.deleteObject(key, change.revision, { over: known?.stored }));
  if (leaving.length === 0) return true;
  const object = toNewObject(write, change.facts);
  const over = { revision: change.revision, application };
  // Whoever wrote it meanwhile has taken over the note.
  await call((cache) => cache.putObject(object, { over }));
  return true;
}

/** Whether a change makes the cache another one than before. */
export function isChanging({ change, known }: ObjectWrite): boolean {
  if (change.facts === undefined) return known !== undefined;
  return known?.stored.revision !== change.revision;
}

/** Where the object has entries by what was cached of it. Of another form it has none: its rows are of that form, too. */
function listKnownPlaces(
  account: WriterContext['account'],
  known: KnownObject | undefined,
): readonly EntryPlace[] {
  return known?.facts === undefined ? [] : listEntryPlaces(account, known.facts, known.stored.application);
}

function toId({ place, view, row, key }: EntryPlace): string {
  return JSON.stringify([place, view, row, key]);
}

async function putObject(writer: WriterContext, write: ObjectWrite): Promise<boolean> {
  const { change, known, leaving } = write;
  if (change.facts === undefined) return true;
  const object = { ...toNewObject(write, change.facts), leaving };
  if (isStored(object, known)) return true;
  return writer.call((cache) => cache.putObject(object, { over: known?.stored }));
}

function toNewObject({ key, change, application }: ObjectWrite, facts: ObjectFacts): NewObject {
  const { cluster } = toNames(facts);
  return {
    key,
    revision: change.revision,
    application,
    cluster: application && cluster,
    body: encodeFacts(facts),
  };
}

function isStored(
  { revision, application, leaving = [], body }: NewObject,
  known: KnownObject | undefined,
): boolean {
  if (known === undefined) return false;
  const { stored } = known;
  return (
    stored.revision === revision &&
    stored.application === application &&
    JSON.stringify(stored.leaving ?? []) === JSON.stringify(leaving) &&
    stored.readBody() === body
  );
}

/** Whether the directory had the object under another cluster of the same application. */
function isRenamed(before: ObjectFacts | undefined, after: ObjectFacts | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const { cluster } = toNames(before);
  return cluster !== undefined && cluster !== toNames(after).cluster;
}
