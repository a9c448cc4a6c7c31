import type { LiveEntry, RowChange } from './packed-row.ts';
import type { Revision } from './revision.ts';

/** Milliseconds for which a deleted object, or a row without entries, is remembered: 24 hours. */
export const tombstoneRetentionMs = 24 * 3600_000;

/** Names a cached object. */
export interface ObjectKey {
  readonly account: string;
  /** `pod`, `replicaSet`, `widgets.example.com` … */
  readonly kind: string;
  /** Empty for what belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** An object to be cached. */
export interface NewObject {
  readonly key: ObjectKey;
  readonly revision: Revision;
  /** Spinnaker application that it belongs to. */
  readonly application?: string | undefined;
  /** Its cluster there, of what makes up clusters. */
  readonly cluster?: string | undefined;
  /** Applications that its writer has yet to look at because it changed: see {@link ObjectHead.leaving}. */
  readonly leaving?: readonly string[] | undefined;
  /** Any text; what it amounts to compressed must stay below 380 KB. */
  readonly body: string;
}

/** What is known of a cached object without its body. */
export interface ObjectHead {
  readonly key: ObjectKey;
  readonly revision: Revision;
  readonly application?: string | undefined;
  readonly cluster?: string | undefined;
  /**
   * Applications whose rows may still have what belongs to it, or whose names in the directory may be out of date. Writers note
   * them with a change, and take the note away when they are done: whoever repeats a change that was broken off reads here what
   * is left to do. Undefined when there is nothing.
   */
  readonly leaving?: readonly string[] | undefined;
  /** It was deleted at `revision`. */
  readonly gone: boolean;
}

/** What the writer of an object read before. */
export interface ObjectWriteOptions {
  /**
   * Write only if what is cached is still this, by revision and application; undefined: if nothing is cached. Left out, it does
   * not matter. A repetition whose first answer was lost may be refused.
   */
  readonly over?: Pick<ObjectHead, 'revision' | 'application'> | undefined;
}

/** Which heads are listed. */
export interface HeadOptions {
  readonly namespace?: string | undefined;
  /** Also those that were deleted less than 24 hours ago; default false. */
  readonly withGone?: boolean;
  /** Default true: what a list lacks is evicted by it; false for views, for half the price. */
  readonly consistent?: boolean;
  /** Only those that come after this object, in the store's order. Default: all. */
  readonly after?: Pick<ObjectKey, 'namespace' | 'name'> | undefined;
}

/** A cached object that is there. */
export interface StoredObject extends ObjectHead {
  /** The body, decompressed at each call. */
  readBody(): string;
}

/** Which cluster an account stood for, and since how many such changes: the first part of every revision. */
export interface AccountEpoch {
  /** From 1. Raise it to the greater of the one before plus one and the minutes since 1970: so one that was lost never comes back. */
  readonly epoch: number;
  /** What tells the cluster from others: the UID of its namespace `kube-system`; empty where that may not be read. */
  readonly cluster: string;
  /**
   * When somebody last asked that all that is cached be compared with the cluster, wall time in milliseconds; undefined: nobody did. Each
   * agent remembers which one it has met.
   */
  readonly compareMs?: number | undefined;
}

/** Whose rows: those of an application in an account, or those of a namespace, whatever applications its objects belong to. */
export type RowPlace =
  | { readonly account: string; readonly application: string }
  | { readonly account: string; readonly namespace: string };

/** Names a row of a view. */
export type RowKey = RowPlace & {
  /** Which view it is of, a word: `serverGroups`. Rows of a view can be listed without those of others. */
  readonly view: string;
  /** Which row of the view: `replicaSet shop cart-v003`. */
  readonly row: string;
};

/** Changes of one row. */
export interface RowChanges extends Pick<RowKey, 'view' | 'row'> {
  readonly changes: readonly RowChange[];
}

/** A row that has an entry. */
export interface StoredRow extends Pick<RowKey, 'view' | 'row'> {
  /** What is there, by key; decoded when it is first asked for. Nobody may change it: others may read it, too. */
  read(): ReadonlyMap<string, LiveEntry>;
}

/** An application in an account, as the directory has it. */
export interface DirectoryEntry {
  readonly application: string;
  readonly account: string;
  readonly clusters: readonly string[];
  readonly namespaces: readonly string[];
}

/** What an application has in an account. */
export type DirectoryNames = Pick<DirectoryEntry, 'clusters' | 'namespaces'>;

/** What is about to be written for an object. */
export interface ExpectedWrite {
  readonly object: ObjectKey;
  /** What its application will have in the directory; undefined where it is in none. */
  readonly application?: DirectoryEntry | undefined;
  /** The rows in which it will have entries. */
  readonly rows: readonly RowKey[];
}

/**
 * Cached objects, the rows that views read, and the directory of applications. Writers need no lock: whatever they write
 * carries a revision, and the higher one stays. Every change of an item is one conditional write.
 */
export interface CacheStore {
  /**
   * Begins to read what writing this will read, and forgets what it read after ten seconds, or when this process writes it. For writers
   * alone: they write on condition that nobody did since. What fails is read again when it is needed.
   */
  readAhead(expected: ExpectedWrite): void;
  /**
   * Caches an object, unless something newer is known of it: a later revision, or its deletion at this or a later one.
   *
   * @returns whether the store has it as it was given. Repeating it is harmless and, without `over`, answers the same.
   * @throws ItemTooLargeError
   */
  putObject(object: NewObject, options?: ObjectWriteOptions): Promise<boolean>;
  /**
   * Deletes an object unless a later revision is cached, and remembers for 24 hours that nothing up to `revision` may come back,
   * whether the object was there or not.
   *
   * @returns false when a later revision is cached, or something else than `over`.
   */
  deleteObject(key: ObjectKey, revision: Revision, options?: ObjectWriteOptions): Promise<boolean>;
  /**
   * Objects by their keys, in the order of these; undefined for those that are not there. Eventually consistent unless asked
   * otherwise.
   *
   * @param options.toWrite for a writer of what it reads: consistent, or what was read ahead. Default false.
   */
  getObjects(
    keys: readonly ObjectKey[],
    options?: { readonly consistent?: boolean; readonly toWrite?: boolean },
  ): Promise<readonly (StoredObject | undefined)[]>;
  /**
   * The objects of a kind, page by page. Eventually consistent: for views.
   *
   * @param options.outside leave out those of this application.
   */
  listObjects(
    account: string,
    kind: string,
    options?: { readonly namespace?: string | undefined; readonly outside?: string | undefined },
  ): AsyncIterable<readonly StoredObject[]>;
  /** What is cached of a kind without the bodies, page by page. */
  listHeads(account: string, kind: string, options?: HeadOptions): AsyncIterable<readonly ObjectHead[]>;
  /** The epoch of an account, of all its agents and of operations alike; undefined before its first. Consistent. */
  getEpoch(account: string): Promise<AccountEpoch | undefined>;
  /**
   * Raises the epoch of an account, unless somebody raised it as far meanwhile.
   *
   * @returns the one in force: this or a later one.
   */
  raiseEpoch(account: string, epoch: AccountEpoch): Promise<AccountEpoch>;
  /**
   * Asks that all that is cached of an account be compared with its cluster: see `AccountEpoch`.
   *
   * @returns false where it has no epoch, so that there is nothing to compare.
   */
  requestComparison(account: string, nowMs: number): Promise<boolean>;
  /**
   * Whether this process met something of the account's that another release wrote, and that cannot be read: it counts as absent, and all is to be
   * cached anew. True once for each account.
   */
  takeUnreadable(account: string): boolean;
  /** Kinds of which an account has, or had, objects in the cache. */
  listKinds(account: string): Promise<readonly string[]>;
  /** Notes which namespaces are cached of an account: to be called after such an object was written or deleted. */
  recordNamespaces(account: string): Promise<void>;
  /** What was noted of these accounts, with one read. Eventually consistent. */
  listNamespaces(accounts: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;

  /**
   * Changes rows of an application or a namespace by the rule of `mergeRow`. Several rows share an item: the more changes come
   * with one call, the less is read and written for each. An item that nothing changes is only read; one that another writer
   * wrote in between is read again. A call that fails half-way is to be repeated.
   *
   * @returns how many items were written.
   * @throws RowContendedError when others were faster each time.
   * @throws ItemTooLargeError
   */
  mergeRows(place: RowPlace, changes: readonly RowChanges[]): Promise<number>;
  /** A row, or undefined when nothing is in it. Eventually consistent unless asked otherwise. */
  getRow(key: RowKey, options?: { readonly consistent?: boolean }): Promise<StoredRow | undefined>;
  /**
   * The rows of an application or a namespace, page by page, in no order. The next page is on its way while one is used.
   *
   * @param options.view only rows of this view.
   * @param options.consistent default false: eventually consistent, for views.
   */
  listRows(
    place: RowPlace,
    options?: { readonly view?: string; readonly consistent?: boolean },
  ): AsyncIterable<readonly StoredRow[]>;

  /**
   * Notes what an application has in an account: to be called beside or before writing rows with it. It writes only what is new, and
   * for two minutes it does not even read what it knows.
   *
   * @returns names for which the directory has no room, of an application with millions of them: all others are noted.
   * @throws ItemTooLargeError for an application whose own name leaves no room.
   */
  recordApplication(application: string, account: string, names: DirectoryNames): Promise<readonly string[]>;
  /**
   * Takes from the directory what an application does not have any more in an account. What is not left is not listed from now
   * on, and dropped by a call at least 5 minutes later if it is not left then, either: writers who were about to use it have
   * done so. An application of which nothing is left in the account is taken out.
   *
   * @param place.departed names of objects that left. One that is not recorded now may be by the writer who cached the object and
   *   has yet to record it: that waits for a later call, too.
   * @param readLeft finds out what is left; called after the directory was read, perhaps several times.
   * @returns whether something waits for such a later call.
   */
  pruneApplication(
    place: Pick<DirectoryEntry, 'application' | 'account'> & {
      readonly departed?: DirectoryNames | undefined;
    },
    readLeft: () => Promise<DirectoryNames>,
  ): Promise<boolean>;
  /** The directory: every application in every account. Eventually consistent unless asked otherwise. */
  listApplications(options?: { readonly consistent?: boolean }): Promise<readonly DirectoryEntry[]>;
  /** The accounts in which an application is. Eventually consistent unless asked otherwise. */
  listAccounts(
    application: string,
    options?: { readonly consistent?: boolean },
  ): Promise<readonly DirectoryEntry[]>;

  /**
   * Removes what an account has in the cache, step by step: call it until it is done, and leave at least 5 minutes before the
   * last call. Nobody should cache anything for the account any more; what comes late is found by the last call.
   *
   * @param options.limit how many items a call removes at most; default 1000.
   * @returns how many items it removed, and whether nothing is left.
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

/** Names by which DynamoDB refuses what is asked of it beyond a table's, a partition's or an account's limits. */
const throttles: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
]);

/** Whether a call of the store failed since it was asked for too much at once: nothing was done, and later it will be. */
export function isThrottle(error: unknown): boolean {
  return error instanceof Error && throttles.has(error.name);
}

/** Thrown when rows could not be written because others wrote it again and again. Nothing was lost: try again. */
export class RowContendedError extends Error {
  override name = 'RowContendedError';
}
