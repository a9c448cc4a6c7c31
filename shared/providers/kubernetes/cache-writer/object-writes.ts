import { ItemTooLargeError, type NewObject, type ObjectKey } from '../../../core/cache/cache-store.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { encodeFacts } from '../rows/facts-codec.ts';
import { selfKey } from '../rows/row-entries.ts';
import { findRowApplication, getRowName, rowViews } from '../rows/row-names.ts';
import { type Departure, toNames } from './directory-names.ts';
import type { ObjectChange } from './object-change.ts';
import { type RowBatch, toFullName } from './row-batch.ts';
import { type KnownObject, toObjectKey, type Writing, writingConcurrency } from './writing.ts';

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
  { account }: Pick<Writing, 'account'>,
  change: ObjectChange,
  known: KnownObject | undefined,
): ObjectWrite | undefined {
  if (known !== undefined && known.stored.version > change.version) return undefined;
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

/** Spinnaker's class of the kind of what was cached before. */
export function getKnownClass(
  { account }: Pick<Writing, 'account'>,
  { change, known }: ObjectWrite,
): SpinnakerKind {
  return known?.facts?.spinnakerKind ?? account.kindRegistry.find(change.kind).spinnakerKind;
}

/**
 * Writes the objects. What goes away is deleted later, when its rows are written; a server group is marked until then, so that
 * whoever writes its pods meanwhile knows. What is too large is dropped.
 *
 * @returns which were written, and which met something else than was known of their objects, and must be thought over.
 */
export async function putObjects(
  writing: Writing,
  writes: readonly ObjectWrite[],
): Promise<{ written: readonly ObjectWrite[]; refused: readonly ObjectWrite[] }> {
  const answers = new Map<ObjectWrite, boolean>();
  await forEachConcurrently(writes, writingConcurrency, async (write) => {
    try {
      answers.set(write, await putObject(writing, write));
    } catch (error) {
      if (!(error instanceof ItemTooLargeError)) throw error;
      writing.dropped.add(toFullName(write.row));
    }
  });
  return {
    written: writes.filter((write) => answers.get(write) === true),
    refused: writes.filter((write) => answers.get(write) === false),
  };
}

/** Adds what becomes of an object's own entry. */
export function addOwnRows(writing: Writing, rows: RowBatch, write: ObjectWrite): void {
  const { change, row, application, leaving } = write;
  const { facts, version, seenAt } = change;
  const before = rowViews[getKnownClass(writing, write)];
  for (const left of leaving) {
    if (left !== application) rows.remove({ application: left, view: before, row, key: selfKey }, version);
  }
  if (application === undefined || facts === undefined) return;
  rows.note(application, toNames(facts));
  const place = { application, view: rowViews[facts.spinnakerKind], row, key: selfKey };
  rows.put(place, { version, seenAt, facts });
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
export async function finishWrite(writing: Writing, write: ObjectWrite): Promise<boolean> {
  const { cache } = writing;
  const { change, key, application, leaving, known } = write;
  if (change.facts === undefined) {
    return cache.deleteObject(key, change.version, { over: findMark(writing, write) ?? known?.stored });
  }
  if (leaving.length === 0) return true;
  const over = { version: change.version, application };
  // Whoever wrote it meanwhile has taken over the note.
  await cache.putObject(toNewObject(write, change.facts), { over });
  return true;
}

/** Whether a change makes the cache another one than before. */
export function isChanging({ change, known }: ObjectWrite): boolean {
  if (change.facts === undefined) return known !== undefined;
  return known?.stored.version !== change.version;
}

/** What is stored of a server group while it goes away: it is in no application any more. Undefined where nothing is to be marked. */
function findMark(writing: Writing, write: ObjectWrite): NewObject | undefined {
  const { known, leaving } = write;
  if (known === undefined || leaving.length === 0) return undefined;
  if (getKnownClass(writing, write) !== 'serverGroups') return undefined;
  const { key, version } = known.stored;
  return { key, version, leaving, body: known.stored.readBody() };
}

async function putObject(writing: Writing, write: ObjectWrite): Promise<boolean> {
  const { change, known, leaving } = write;
  const { facts } = change;
  const object = facts === undefined ? findMark(writing, write) : { ...toNewObject(write, facts), leaving };
  if (object === undefined || isStored(object, known)) return true;
  return writing.cache.putObject(object, { over: known?.stored });
}

function toNewObject({ key, change, application }: ObjectWrite, facts: ObjectFacts): NewObject {
  return { key, version: change.version, application, body: encodeFacts(facts) };
}

function isStored(
  { version, application, leaving = [], body }: NewObject,
  known: KnownObject | undefined,
): boolean {
  if (known === undefined) return false;
  const { stored } = known;
  return (
    stored.version === version &&
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
