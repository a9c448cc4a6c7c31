import { ItemTooLargeError, type NewObject, type ObjectKey } from '#caching/store/cache-store.ts';
import { describeName, getObjectName } from '#caching/store/object-names.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { encodeFacts } from '../rows/facts-codec.ts';
import { type EntryPlace, findRowApplication, listEntryPlaces } from '../rows/row-names.ts';
import { type Departure, toNames } from './directory-names.ts';
import type { ObjectChange } from './object-change.ts';
import type { RowBatch } from './row-batch.ts';
import { type KnownObject, toObjectKey, type WriterContext, writingConcurrency } from './writer-context.ts';

/** One change to be written to the cache. */
export interface ObjectWrite {
  readonly change: ObjectChange;
  readonly key: ObjectKey;
  /** The name of the object's row, which identifies the object, too. */
  readonly row: string;
  /** What was cached before. */
  readonly known: KnownObject | undefined;
  /** The application whose rows will have the object. */
  readonly application: string | undefined;
  /** Applications that it leaves, or whose names it changes. */
  readonly leaving: readonly string[];
}

/** What to do for a change; undefined for one that comes too late. */
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
    row: getObjectName(change),
    known,
    application,
    leaving: [...leaving],
  };
}

/**
 * Writes the objects. Removed ones are deleted later, when their rows are written. Too large ones are dropped.
 *
 * @returns which were written, and which found their objects changed and must be planned again.
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
      writer.dropped.add(describeName(write.row));
    }
  });
  return {
    written: writes.filter((write) => answers.get(write) === true),
    refused: writes.filter((write) => answers.get(write) === false),
  };
}

/**
 * Removes the entries that cannot be derived any more once the objects are written: of an object that moves to another application or
 * owner, or whose kind changes its class. A repetition after a crash still reads the old objects.
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

/** Adds the changes of a written object's entries. */
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

/** What an object's former applications lose. */
export function listDepartures({ known, leaving }: ObjectWrite): Departure[] {
  const { application: before, leaving: noted } = known?.stored ?? {};
  // For applications noted earlier the old names are not known any more.
  const isKnown = (application: string): boolean => application === before && !noted?.includes(application);
  return leaving.map((application) => ({
    application,
    names: known?.facts && isKnown(application) ? toNames(known.facts) : undefined,
  }));
}

/**
 * Completes a change whose rows are written: deletes a removed object, and removes the note from a moved one.
 *
 * @returns false if another writer wrote the object meanwhile.
 */
export async function finishWrite({ call }: WriterContext, write: ObjectWrite): Promise<boolean> {
  const { change, key, application, leaving, known } = write;
  if (change.facts === undefined)
    return call((cache) => cache.deleteObject(key, change.revision, { over: known?.stored }));
  if (leaving.length === 0) return true;
  const object = toNewObject(write, change.facts);
  const over = { revision: change.revision, application };
  // A concurrent writer has taken over the note.
  await call((cache) => cache.putObject(object, { over }));
  return true;
}

/** Whether a change alters the cache. */
export function isChanging({ change, known }: ObjectWrite): boolean {
  if (change.facts === undefined) return known !== undefined;
  return known?.stored.revision !== change.revision;
}

/** Where the object has entries, by its cached facts. Facts of another form have none: their rows have that form, too. */
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
