import { forEachConcurrently } from '#core/concurrency.ts';
import { ItemTooLargeError, type NewObject, type ObjectKey } from '../store/cache-store.ts';
import { describeName, getObjectName } from '../store/object-names.ts';
import type { CacheModel, EntryPlace } from './cache-model.ts';
import type { Departure } from './directory-names.ts';
import type { ObjectChange } from './object-change.ts';
import type { RowBatch } from './row-batch.ts';
import { type KnownObject, toObjectKey, type WriterContext, writingConcurrency } from './writer-context.ts';

/** One change to be written to the cache. */
export interface ObjectWrite<Facts = unknown> {
  readonly change: ObjectChange<Facts>;
  readonly key: ObjectKey;
  /** Its name: see `getObjectName`. */
  readonly name: string;
  /** What was cached before. */
  readonly known: KnownObject<Facts> | undefined;
  /** The application whose rows will have the object. */
  readonly application: string | undefined;
  /** Applications that it leaves, or whose names it changes. */
  readonly leaving: readonly string[];
}

/** What to do for a change; undefined for one that comes too late. */
export function planWrite<Facts>(
  { account, model }: Pick<WriterContext<Facts>, 'account' | 'model'>,
  found: ObjectChange<Facts>,
  known: KnownObject<Facts> | undefined,
): ObjectWrite<Facts> | undefined {
  if (known !== undefined && known.stored.revision > found.revision) return undefined;
  const change = isUnchanged(model, found, known) ? { ...found, revision: known.stored.revision } : found;
  const { facts } = change;
  const application = facts === undefined ? undefined : model.rows?.findApplication(facts);
  const before = known?.stored.application;
  const isLeaving = before !== undefined && (before !== application || isRenamed(model, known?.facts, facts));
  const leaving = new Set([...(known?.stored.leaving ?? []), ...(isLeaving ? [before] : [])]);
  return {
    change,
    key: toObjectKey(account, change),
    name: getObjectName(change),
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
export async function putObjects<Facts>(
  writer: WriterContext<Facts>,
  writes: readonly ObjectWrite<Facts>[],
): Promise<{ written: readonly ObjectWrite<Facts>[]; refused: readonly ObjectWrite<Facts>[] }> {
  const answers = new Map<ObjectWrite<Facts>, boolean>();
  await forEachConcurrently(writes, writingConcurrency, async (write) => {
    try {
      answers.set(write, await putObject(writer, write));
    } catch (error) {
      if (!(error instanceof ItemTooLargeError)) throw error;
      writer.dropped.add(describeName(write.name));
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
export function addVacated<Facts>(
  { model }: Pick<WriterContext<Facts>, 'model'>,
  rows: RowBatch,
  { change, known, application }: ObjectWrite<Facts>,
): void {
  const { facts, revision } = change;
  if (facts === undefined || model.rows === undefined) return;
  const kept = new Set(model.rows.listEntries(facts, application).map(toId));
  for (const place of listKnownPlaces(model, known)) if (!kept.has(toId(place))) rows.remove(place, revision);
}

/** Adds the changes of a written object's entries. */
export function addEntries<Facts>(
  { model }: Pick<WriterContext<Facts>, 'model'>,
  rows: RowBatch,
  { change, known, application }: ObjectWrite<Facts>,
): void {
  const { facts, revision, seenAt } = change;
  if (model.rows === undefined) return;
  if (facts === undefined) {
    for (const place of listKnownPlaces(model, known)) rows.remove(place, revision);
    return;
  }
  if (application !== undefined) rows.note(application, model.rows.getNames(facts));
  const value = model.rows.toValue(facts);
  for (const place of model.rows.listEntries(facts, application))
    rows.put(place, { revision, seenAt, value });
}

/** What an object's former applications lose. */
export function listDepartures<Facts>(
  { rows }: CacheModel<Facts>,
  { known, leaving }: ObjectWrite<Facts>,
): Departure[] {
  const { application: before, leaving: noted } = known?.stored ?? {};
  // For applications noted earlier the old names are not known any more.
  const isKnown = (application: string): boolean => application === before && !noted?.includes(application);
  return leaving.map((application) => ({
    application,
    names: known?.facts !== undefined && isKnown(application) ? rows?.getNames(known.facts) : undefined,
  }));
}

/**
 * Completes a change whose rows are written: deletes a removed object, and removes the note from a moved one.
 *
 * @returns false if another writer wrote the object meanwhile.
 */
export async function finishWrite<Facts>(
  { call, model }: WriterContext<Facts>,
  write: ObjectWrite<Facts>,
): Promise<boolean> {
  const { change, key, application, leaving, known } = write;
  if (change.facts === undefined)
    return call((cache) => cache.deleteObject(key, change.revision, { over: known?.stored }));
  if (leaving.length === 0) return true;
  const object = toNewObject(model, write, change.facts);
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
function listKnownPlaces<Facts>(
  { rows }: CacheModel<Facts>,
  known: KnownObject<Facts> | undefined,
): readonly EntryPlace[] {
  if (known?.facts === undefined || rows === undefined) return [];
  return rows.listEntries(known.facts, known.stored.application);
}

function toId({ place, view, row, key }: EntryPlace): string {
  return JSON.stringify([place, view, row, key]);
}

async function putObject<Facts>(writer: WriterContext<Facts>, write: ObjectWrite<Facts>): Promise<boolean> {
  const { change, known, leaving } = write;
  if (change.facts === undefined) return true;
  const object = { ...toNewObject(writer.model, write, change.facts), leaving };
  if (isStored(object, known)) return true;
  return writer.call((cache) => cache.putObject(object, { over: known?.stored }));
}

function toNewObject<Facts>(
  { encode, rows }: CacheModel<Facts>,
  { key, change, application }: ObjectWrite<Facts>,
  facts: Facts,
): NewObject {
  return {
    key,
    revision: change.revision,
    application,
    cluster: application && rows?.getNames(facts).cluster,
    body: encode(facts),
  };
}

function isStored(
  { revision, application, leaving = [], body }: NewObject,
  known: KnownObject<unknown> | undefined,
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

/** Whether an object was read later than what is cached of it, and is the same. */
function isUnchanged<Facts>(
  { hasTimedPositions, encode }: CacheModel<Facts>,
  { facts }: ObjectChange<Facts>,
  known: KnownObject<Facts> | undefined,
): known is KnownObject<Facts> {
  if (!hasTimedPositions || facts === undefined || known === undefined) return false;
  return known.stored.readBody() === encode(facts);
}

/** Whether the directory had the object under another cluster of the same application. */
function isRenamed<Facts>(
  { rows }: CacheModel<Facts>,
  before: Facts | undefined,
  after: Facts | undefined,
): boolean {
  if (before === undefined || after === undefined || rows === undefined) return false;
  const { cluster } = rows.getNames(before);
  return cluster !== undefined && cluster !== rows.getNames(after).cluster;
}
