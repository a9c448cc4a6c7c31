import { type DirectoryNames, ItemTooLargeError, type RowChanges } from '../../../core/cache/cache-store.ts';
import type { RowChange } from '../../../core/cache/packed-row.ts';
import type { Version } from '../../../core/cache/version.ts';
import { forEachConcurrently } from '../../../core/concurrency.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { fromFacts } from '../rows/row-entries.ts';
import { type RowView, waitingApplication } from '../rows/row-names.ts';
import { untilWritten, type Writing } from './writing.ts';

/** Applications whose rows are written at a time; of each the store writes several items at once. */
const concurrency = 6;

/** Which entry of which row. */
export interface EntryPlace {
  readonly application: string;
  readonly view: RowView;
  readonly row: string;
  readonly key: string;
}

/** What an entry becomes. */
export interface EntryValue {
  readonly version: Version;
  /** When it was still seen to be so; that of the entry's version counts where it is later. */
  readonly seenAt: Version;
  readonly facts: ObjectFacts;
}

/** Changes of rows, collected to be written with as few requests as possible. */
export interface RowBatch {
  put(place: EntryPlace, value: EntryValue): void;
  remove(place: EntryPlace, version: Version): void;
  /** Names that the application has from now on. */
  note(
    application: string,
    names: { readonly cluster?: string | undefined; readonly namespace: string },
  ): void;
  /** Writes all of it: for each application its names, then its rows, in one call. What was collected is forgotten. */
  write(): Promise<void>;
}

interface ApplicationChanges {
  readonly clusters: Set<string>;
  readonly namespaces: Set<string>;
  readonly rows: Map<string, { readonly view: RowView; readonly row: string; readonly changes: RowChange[] }>;
}

/** An empty batch. */
export function createRowBatch(writing: Writing): RowBatch {
  const applications = new Map<string, ApplicationChanges>();
  const add = ({ application, view, row }: EntryPlace, change: RowChange): void => {
    const { rows } = getOrAdd(applications, application, createChanges);
    getOrAdd(rows, `${view} ${row}`, () => ({ view, row, changes: [] })).changes.push(change);
  };
  return {
    put(place, { version, seenAt, facts }) {
      const { key } = place;
      add(place, {
        key,
        version,
        seenAt: seenAt > version ? seenAt : version,
        value: fromFacts(facts),
      });
    },
    remove: (place, version) => add(place, { key: place.key, version, gone: true }),
    note(application, { cluster, namespace }) {
      const { clusters, namespaces } = getOrAdd(applications, application, createChanges);
      if (cluster) clusters.add(cluster);
      namespaces.add(namespace);
    },
    async write() {
      const all = [...applications];
      applications.clear();
      await forEachConcurrently(all, concurrency, (changes) => writeApplication(writing, ...changes));
    },
  };
}

async function writeApplication(
  writing: Writing,
  application: string,
  { clusters, namespaces, rows }: ApplicationChanges,
): Promise<void> {
  const names = { clusters: [...clusters], namespaces: [...namespaces] };
  if (application === waitingApplication) await noteWaiting(writing);
  else if (namespaces.size > 0 && !(await noteNames(writing, application, names))) return;
  await mergeRows(writing, application, [...rows.values()]);
}

/** @returns whether the application can have rows: without its name in the directory nobody would find them. */
async function noteNames(
  { cache, account, clock, randomness, dropped }: Writing,
  application: string,
  names: DirectoryNames,
): Promise<boolean> {
  const note = () => cache.noteApplication(application, account.name, names);
  try {
    const left = await untilWritten({ clock, randomness }, note);
    if (left.length > 0) dropped.add(toNamesOf(application));
    return true;
  } catch (error) {
    if (!(error instanceof ItemTooLargeError)) throw error;
    dropped.add(toApplicationName(application));
    return false;
  }
}

/** Lets the removal of an account find the rows of pods that wait: the name is noted, and hidden at once. */
async function noteWaiting(writing: Writing): Promise<void> {
  const { cache, account } = writing;
  const nothing = async () => ({ clusters: [], namespaces: [] });
  await untilWritten(writing, async () => {
    await cache.noteApplication(waitingApplication, account.name, { clusters: [], namespaces: [''] });
    await cache.pruneApplication(waitingApplication, account.name, nothing);
  });
}

/** A row that is too large must not keep the others from being written: it is looked for, and left out. */
async function mergeRows(writing: Writing, application: string, rows: readonly RowChanges[]): Promise<void> {
  const { cache, account, dropped } = writing;
  if (rows.length === 0) return;
  try {
    await untilWritten(writing, () => cache.mergeRows(application, account.name, rows));
  } catch (error) {
    if (!(error instanceof ItemTooLargeError)) throw error;
    const [only, ...others] = rows;
    if (only !== undefined && others.length === 0) {
      dropped.add(toFullName(only.row));
      return;
    }
    const half = Math.ceil(rows.length / 2);
    await mergeRows(writing, application, rows.slice(0, half));
    await mergeRows(writing, application, rows.slice(half));
  }
}

/** A row's name in words for people. */
export function toFullName(row: string): string {
  const [kind, namespace, name] = row.split(' ');
  return namespace === '' ? `${kind} ${name}` : `${kind} ${name} in ${namespace}`;
}

/** An application that cannot be cached, in words for people. */
export function toApplicationName(application: string): string {
  return `application ${application}`;
}

/** Names of an application for which the directory has no room, in words for people. */
export function toNamesOf(application: string): string {
  return `names of clusters of application ${application}`;
}

function createChanges(): ApplicationChanges {
  return { clusters: new Set(), namespaces: new Set(), rows: new Map() };
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}
