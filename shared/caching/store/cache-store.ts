import type { LiveEntry, RowChange } from './packed-row.ts';
import type { Revision } from './revision.ts';

/** Milliseconds for which a deleted object, or a row without entries, is remembered: 24 hours. */
export const tombstoneRetentionMs = 24 * 3600_000;

/** Names a cached object. */
export interface ObjectKey {
  readonly account: string;
  /** `pod`, `replicaSet`, `widgets.example.com` … */
  readonly kind: string;
  /** The platform's division that the object is in, such as a namespace or a region; empty for none. */
  readonly location: string;
  readonly name: string;
}

/** An object to be cached. */
export interface NewObject {
  readonly key: ObjectKey;
  readonly revision: Revision;
  /** Spinnaker application that it belongs to. */
  readonly application?: string | undefined;
  /** Its cluster in the application, for kinds that make up clusters. */
  readonly cluster?: string | undefined;
  /** Applications that its writer must still update because it changed: see {@link ObjectHead.leaving}. */
  readonly leaving?: readonly string[] | undefined;
  /** Any text; compressed it must stay below 380 KB. */
  readonly body: string;
}

/** What is known of a cached object without its body. */
export interface ObjectHead {
  readonly key: ObjectKey;
  readonly revision: Revision;
  readonly application?: string | undefined;
  readonly cluster?: string | undefined;
  /**
   * Applications whose rows may still have entries of the object, or whose names in the directory may be out of date. Writers store them
   * with a change, and remove them when they are done: a writer that repeats an interrupted change reads here what is left to do. Undefined
   * when there is nothing.
   */
  readonly leaving?: readonly string[] | undefined;
  /** Whether it was deleted, at `revision`. */
  readonly gone: boolean;
}

/** What the writer of an object has read of it. */
export interface ObjectWriteOptions {
  /**
   * Write only if this is still cached, by revision and application; undefined: only if nothing is cached. Left out, it does not matter. A
   * repetition after a lost answer may be refused.
   */
  readonly over?: Pick<ObjectHead, 'revision' | 'application'> | undefined;
}

/** Which heads are listed. */
export interface HeadOptions {
  readonly location?: string | undefined;
  /** Also those that were deleted less than 24 hours ago; default false. */
  readonly withGone?: boolean;
  /** Default true: a list evicts what it lacks; false for views, at half the price. */
  readonly consistent?: boolean;
  /** Only those that come after this object, in the store's order. Default: all. */
  readonly after?: Pick<ObjectKey, 'location' | 'name'> | undefined;
}

/** A cached object that is there. */
export interface StoredObject extends ObjectHead {
  /** The body, decompressed at each call. */
  readBody(): string;
}

/** The platform behind an account, and how often it changed: the first part of every revision. */
export interface AccountEpoch {
  /** From 1. Raise it to the greater of the last one plus one and the minutes since 1970: so a lost epoch never comes back. */
  readonly epoch: number;
  /** Identifies the platform behind the account, as its provider reads it; empty where that is unknown. */
  readonly identity: string;
  /**
   * When a comparison of all cached data with the platform was last requested, wall time in milliseconds; undefined: never. Each caching
   * agent remembers the last request that it has met.
   */
  readonly compareMs?: number | undefined;
}

/** Whose rows: an application's in an account, or a location's, whatever applications its objects belong to. */
export type RowPlace =
  | { readonly account: string; readonly application: string }
  | { readonly account: string; readonly location: string };

/** Names a row of a view. */
export type RowKey = RowPlace & {
  /** Its view, a word: `serverGroups`. Rows of a view can be listed without those of others. */
  readonly view: string;
  /** Its row in the view: `replicaSet shop cart-v003`. */
  readonly row: string;
};

/** Changes of one row. */
export interface RowChanges extends Pick<RowKey, 'view' | 'row'> {
  readonly changes: readonly RowChange[];
}

/** A row that has an entry. */
export interface StoredRow extends Pick<RowKey, 'view' | 'row'> {
  /** Another one whenever its entries have changed; perhaps also when other rows have. */
  readonly version: string;
  /** Its entries, by key; decoded at the first call. Do not change them: other callers may read them, too. */
  read(): ReadonlyMap<string, LiveEntry>;
}

/** An application in an account, as the directory stores it. */
export interface DirectoryEntry {
  readonly application: string;
  readonly account: string;
  readonly clusters: readonly string[];
  readonly locations: readonly string[];
}

/** What an application has in an account. */
export type DirectoryNames = Pick<DirectoryEntry, 'clusters' | 'locations'>;

/** What is about to be written for an object. */
export interface ExpectedWrite {
  readonly object: ObjectKey;
  /** What the directory will have of its application; undefined where it is in none. */
  readonly application?: DirectoryEntry | undefined;
  /** The rows in which it will have entries. */
  readonly rows: readonly RowKey[];
}

/**
 * Cached objects, the rows that views read, and the directory of applications. Writers need no lock: each write carries a revision, and the
 * highest one stays. Every change of an item is one conditional write.
 */
export interface CacheStore {
  /**
   * Begins to read what writing this will read. A read is forgotten after ten seconds, or when this process writes its item. For writers
   * only: they write on condition that the item has not changed. A failed read is repeated when it is needed.
   */
  readAhead(expected: ExpectedWrite): void;
  /**
   * Caches an object, unless something newer is known: a later revision, or its deletion at this or a later one.
   *
   * @returns whether the store has it as given. Repeating the call is harmless and, without `over`, returns the same.
   * @throws ItemTooLargeError
   */
  putObject(object: NewObject, options?: ObjectWriteOptions): Promise<boolean>;
  /**
   * Deletes an object unless a later revision is cached. Remembers for 24 hours that nothing up to `revision` may come back, whether the
   * object existed or not.
   *
   * @returns false when a later revision is cached, or something else than `over`.
   */
  deleteObject(key: ObjectKey, revision: Revision, options?: ObjectWriteOptions): Promise<boolean>;
  /**
   * Objects in the order of their keys; undefined for those that do not exist. Eventually consistent by default.
   *
   * @param options.toWrite for a writer of what it reads: consistent, or what was read ahead. Default false.
   */
  getObjects(
    keys: readonly ObjectKey[],
    options?: { readonly consistent?: boolean; readonly toWrite?: boolean },
  ): Promise<readonly (StoredObject | undefined)[]>;
  /** The objects of a kind, page by page, for views: eventually consistent. @param options.outside leaves out this application's */
  listObjects(
    account: string,
    kind: string,
    options?: { readonly location?: string | undefined; readonly outside?: string | undefined },
  ): AsyncIterable<readonly StoredObject[]>;
  /** What is cached of a kind without the bodies, page by page. */
  listHeads(account: string, kind: string, options?: HeadOptions): AsyncIterable<readonly ObjectHead[]>;
  /** The epoch of an account, of all its agents and of operations alike; undefined before its first. Consistent. */
  getEpoch(account: string): Promise<AccountEpoch | undefined>;
  /** Raises the epoch of an account, unless another process has raised it as far. @returns the one in force: this or a later one. */
  raiseEpoch(account: string, epoch: AccountEpoch): Promise<AccountEpoch>;
  /**
   * Requests a comparison of all that is cached of an account with its platform: see `AccountEpoch`.
   *
   * @returns false where the account has no epoch, so that there is nothing to compare.
   */
  requestComparison(account: string, nowMs: number): Promise<boolean>;
  /**
   * Whether this process met an unreadable item of the account that another release wrote: it counts as absent, and all is to be cached
   * again. True once for each account.
   */
  takeUnreadable(account: string): boolean;
  /** Kinds of which an account has or had cached objects. */
  listKinds(account: string): Promise<readonly string[]>;
  /** Records which objects of a kind are cached as locations of the account: call it after one was written or deleted. */
  recordLocations(account: string, kind: string): Promise<void>;
  /** The recorded locations of these accounts, with one read. Eventually consistent. */
  listLocations(accounts: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;

  /**
   * Changes rows of an application or a location by the rule of `mergeRow`. Several rows share an item: the more changes one call has, the
   * less is read and written for each. An item without changes is only read; one that another writer changed meanwhile is read again.
   * Repeat a call that fails half-way.
   *
   * @returns how many items were written.
   * @throws RowContendedError when other writers were faster each time.
   * @throws ItemTooLargeError
   */
  mergeRows(place: RowPlace, changes: readonly RowChanges[]): Promise<number>;
  /** A row; undefined when it has no entries. Eventually consistent by default. */
  getRow(key: RowKey, options?: { readonly consistent?: boolean }): Promise<StoredRow | undefined>;
  /**
   * The rows of an application or a location, page by page, in no order. The next page is requested before one is used.
   *
   * @param options.view only rows of this view.
   * @param options.consistent default false: eventually consistent, for views.
   */
  listRows(
    place: RowPlace,
    options?: { readonly view?: string; readonly consistent?: boolean },
  ): AsyncIterable<readonly StoredRow[]>;

  /**
   * Records what an application has in an account: call it beside or before writing rows with it. It writes only what is new, and for two
   * minutes does not even read what it knows.
   *
   * @returns names for which the directory has no room, for an application with millions of them: all others are recorded.
   * @throws ItemTooLargeError for an application whose own name leaves no room.
   */
  recordApplication(application: string, account: string, names: DirectoryNames): Promise<readonly string[]>;
  /**
   * Removes from the directory what an application no longer has in an account. It is not listed from now on, and dropped by a call at
   * least 5 minutes later unless it is back: writers that were about to use it are done by then. An application with nothing left in the
   * account is removed.
   *
   * @param place.departed names of objects that left. One that is not recorded yet may be recorded by the writer that has just cached the
   *   object: that, too, waits for a later call.
   * @param readLeft returns what is left; called after the directory was read, perhaps several times.
   * @returns whether a later call has work.
   */
  pruneApplication(
    place: Pick<DirectoryEntry, 'application' | 'account'> & {
      readonly departed?: DirectoryNames | undefined;
    },
    readLeft: () => Promise<DirectoryNames>,
  ): Promise<boolean>;
  /** The directory: every application in every account. Eventually consistent by default. */
  listApplications(options?: { readonly consistent?: boolean }): Promise<readonly DirectoryEntry[]>;
  /** The accounts of an application. Eventually consistent by default. */
  listAccounts(
    application: string,
    options?: { readonly consistent?: boolean },
  ): Promise<readonly DirectoryEntry[]>;

  /**
   * Removes what the cache has of an account, step by step: call it until it is done, with at least 5 minutes before the last call. By then
   * no process should cache anything for the account; the last call finds late writes.
   *
   * @param options.limit items that a call removes at most; default 1000.
   * @returns the number of items removed, and whether nothing is left.
   */
  deleteAccount(
    account: string,
    options?: { readonly limit?: number },
  ): Promise<{ deleted: number; done: boolean }>;
}

/** Thrown for what does not fit into an item of the store. */
export class ItemTooLargeError extends Error {
  override name = 'ItemTooLargeError';
}

/** Names of DynamoDB's errors for requests beyond the limits of a table, a partition or an account. */
const throttles: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
]);

/** Whether a call to the store was throttled: it did nothing, and can be repeated later. */
export function isThrottle(error: unknown): boolean {
  return error instanceof Error && throttles.has(error.name);
}

/** Thrown when rows could not be written because other writers changed them each time. Nothing was lost: try again. */
export class RowContendedError extends Error {
  override name = 'RowContendedError';
}
