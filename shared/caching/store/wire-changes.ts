import type { CacheStore } from './cache-store.ts';

/** A change of an object of an account, in the form in which a process without a store sends it: as its provider's receiver expects it. */
export interface WireChange {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  /** Empty for what is in none. */
  readonly location: string;
  readonly name: string;
  /** The epoch; left out: that of the batch. */
  readonly epoch?: number | undefined;
  /** The position of the change, in decimal digits: see `toRevision`. */
  readonly version: string;
  /** Up to which position this was seen to be so; left out: the same. */
  readonly seenVersion?: string | undefined;
  /** JSON text of the facts cached of it; left out for deleted objects. */
  readonly facts?: string | undefined;
}

/** Changes of one account, one for each object. */
export interface WireChanges {
  /** The highest of their epochs. */
  readonly epoch: number;
  readonly changes: readonly WireChange[];
}

/** The result of writing changes, for the process that sent them. */
export interface WireOutcome {
  /** Objects whose cached form changed. */
  readonly changes: number;
  /** Applications to be pruned again at least five minutes later. */
  readonly waiting: readonly string[];
  /** What is too large to be cached, in plain words. */
  readonly dropped: readonly string[];
  /** Proof that the platform went back in time; undefined when there is none. */
  readonly proof?: string | undefined;
}

/** Where a process without a store sends changes. */
export interface ChangeSender {
  /**
   * Resolves when all changes are written. Repeating it is harmless.
   *
   * @param ensureHeld called before anything is sent; an error that it throws ends the call. Default: no check, and few tries.
   */
  write(account: string, changes: WireChanges, ensureHeld?: () => void): Promise<WireOutcome>;
  /** As `CacheWriter.prune`: removes from the directory what applications no longer have. */
  prune(account: string, applications: readonly string[]): Promise<readonly string[]>;
}

/** The account whose changes arrive, and where to write them. */
export interface ReceivingAccount {
  readonly account: string;
  readonly cache: CacheStore;
}

/** Takes changes that another process sent, and trusts nothing in them. */
export interface ChangeReceiver {
  /** Writes changes into the cache. @throws InvalidInputError with the index and field of an invalid change: then nothing is written. */
  write(place: ReceivingAccount, changes: WireChanges): Promise<WireOutcome>;
  /** Removes from the directory what applications no longer have. @returns those to be pruned again */
  prune(place: ReceivingAccount, applications: readonly string[]): Promise<readonly string[]>;
}
