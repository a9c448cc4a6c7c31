import type { CachingResult } from '../scheduling/caching-agent.ts';
import type { ObjectChange } from '../writer/object-change.ts';

/** A kind of objects that is read by itself. */
export interface ScopedKind {
  /** Spinnaker's name: `replicaSet`. */
  readonly kind: string;
  /** Its name and version, as the platform serves it. */
  readonly id: string;
  /** Whether its objects are in locations, which can be read one by one. */
  readonly isDivided: boolean;
}

/** Objects of a kind in one location, or in all. */
export interface Scope {
  readonly kind: string;
  /** Empty for all locations, and for a kind that is in none. */
  readonly location: string;
}

/** How reading a scope ended. */
export interface ReadOutcome {
  /**
   * `listed`: all pages were passed on, and other objects do not exist as of `position`. `caughtUp`: all changes were. `expired`: the
   * platform has forgotten the changes since the position, or the rest of the list. `future`: the platform is behind the position: it is
   * another one, or was restored from a backup. `forbidden`: the account may not list or watch the kind. `gone`: the platform does not
   * serve it. `broken`, `aborted`: it ended midway.
   */
  readonly outcome:
    | 'listed'
    | 'caughtUp'
    | 'expired'
    | 'future'
    | 'forbidden'
    | 'gone'
    | 'broken'
    | 'aborted';
  /** Where the next catch-up begins: everything up to it has been passed on. Undefined if only a list helps. */
  readonly position: string | undefined;
  /** Everything up to this time was passed on, wall time in milliseconds; undefined if this does not show it. */
  readonly asOfMs: number | undefined;
  /** The platform's or the connection's error, for `expired`, `forbidden`, `gone` and `broken`. */
  readonly error?: Error | undefined;
}

/** A page of a list. */
export interface FoundPage<Facts> {
  /** Objects of the page, those that are not kept included. */
  readonly count: number;
  /** The changes of the first objects that are kept. @param most objects to look at */
  read(most: number): readonly ObjectChange<Facts>[];
  /** Called when the page has been read: the memory of its answer can be used for another one. */
  release(): void;
}

/** Changes of a scope. */
export interface FoundChanges<Facts> {
  /** In order; empty if only the position or the as-of time advances. An object that is not kept counts as gone. */
  readonly changes: readonly ObjectChange<Facts>[];
  /** Objects created, less those deleted, kept or not. */
  readonly added: number;
  /** Everything up to it has been reported. */
  readonly position: string;
}

/** A catch-up with a scope. */
export interface CatchUpRequest<Facts> extends Scope {
  readonly position: string | undefined;
  /** Whether to take longer, so that the position of what does not change advances, too. */
  readonly awaitsBookmark: boolean;
  /** Called with changes, in order; more are read once it resolves. */
  onChanges(found: FoundChanges<Facts>): Promise<void>;
}

/** Progress of a watch. */
export interface WatchProgress<Facts> extends FoundChanges<Facts> {
  /** Everything up to this time, wall time in milliseconds, has been reported; undefined if nothing newer is known. */
  readonly asOfMs: number | undefined;
}

/** A watch of a scope. */
export interface WatchRequest<Facts> extends Scope {
  readonly position: string;
  readonly signal: AbortSignal;
  /** Called with progress; more is read from the platform once it resolves. */
  onProgress(progress: WatchProgress<Facts>): Promise<void>;
  /** Called with what proves on demand how current the watch is, and reports that as progress. */
  onProvable(prove: () => Promise<void>): void;
  /** Called with each failure after which the watch is retried: `failures` in a row, from 1. */
  onTrouble(error: Error, failures: number): void;
}

/** A source at work, in one run or watch. */
export interface OpenSource<Facts> {
  readonly kinds: readonly ScopedKind[];
  /** Identifies what chooses objects besides rules; when it changes, all is compared soon. Empty if nothing does. */
  readonly choice: string;
  /** The existing locations that the account may use; undefined if it may not list them. */
  listLocations(): Promise<readonly string[] | undefined>;
  /** Lists a scope, page by page; the next page is read once `onPage` resolves. @throws what `onPage` throws */
  list(scope: Scope, onPage: (page: FoundPage<Facts>) => Promise<void>): Promise<ReadOutcome>;
  /** Finds what changed since a position. @throws what `onChanges` throws */
  catchUp(request: CatchUpRequest<Facts>): Promise<ReadOutcome>;
  /** Watches until it is aborted or cannot continue. @throws what `onProgress` throws */
  watch(request: WatchRequest<Facts>): Promise<unknown>;
  /** Whether a scope that may not be watched may be listed. */
  canList(scope: Scope): Promise<boolean>;
  /** Whether the cached objects of a kind stay although the platform answered that it does not serve it. */
  isServed(kind: string): Promise<boolean>;
}

/** How a provider reads an account's platform that has positions, for the caching agents that keep it cached. */
export interface ScopeSource<Facts> {
  /** Identifies the rules that choose what is cached: if they change, everything is listed again, in a new epoch. */
  readonly rules: string;
  /** Whether locations are always read one by one. Otherwise they are where all of them at once may not be read. */
  readonly readsByLocation: boolean;
  /** Whether locations are found on the platform, so that there may be new ones at any time. */
  readonly findsLocations: boolean;
  /** What a run reports where locations must be read one by one and may not be listed. */
  readonly unknownLocations: NonNullable<CachingResult['details']>;
  /** Milliseconds between two checks of a watch for other kinds. */
  readonly kindsIntervalMs: number;
  /** Whether this caching agent evicts cached objects of a kind that it does not read. */
  isOwn(kind: string): boolean;
  /** How many objects of a kind are cached; undefined for no limit. */
  findLimit(kind: string): number | undefined;
  /** Identifies the platform; empty where that may not be read. */
  readIdentity(signal: AbortSignal): Promise<string>;
  /** The kinds that the platform serves now, of those to be cached. */
  selectKinds(signal: AbortSignal): Promise<readonly ScopedKind[]>;
  /** Prepares for reading. @throws Error with a readable message when the platform cannot be read */
  open(start: { readonly epoch: number; readonly signal: AbortSignal }): Promise<OpenSource<Facts>>;
}
