import type { CacheStore } from './cache-store.ts';

/**
 * What became of an object of an account, in the form in which a process hands it on that has no store: as its provider's receiver
 * understands it.
 */
export interface WireChange {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  /** Empty for what belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
  /** The epoch; absent: that of the batch. */
  readonly epoch?: number | undefined;
  /** The resource version at which it became so, in decimal digits. */
  readonly version: string;
  /** Up to which resource version it was seen to be so; absent: the same. */
  readonly seenVersion?: string | undefined;
  /** JSON text of what is cached of it; absent for what is gone. */
  readonly facts?: string | undefined;
}

/** Changes of one account, of each object one. */
export interface WireChanges {
  /** The highest of their epochs. */
  readonly epoch: number;
  readonly changes: readonly WireChange[];
}

/** What writing changes came to, for who handed them on. */
export interface WireOutcome {
  /** Objects that the cache has otherwise than before. */
  readonly changes: number;
  /** Applications that are to be looked at again at least five minutes later. */
  readonly waiting: readonly string[];
  /** What is too large to be cached, in words for people. */
  readonly dropped: readonly string[];
  /** What was proved of a cluster that went back in time; undefined when nothing was. */
  readonly proof?: string | undefined;
}

/** Where changes are handed to by a process that has no store. */
export interface ChangeSender {
  /**
   * Resolves when all of them are written. Repeating it is harmless.
   *
   * @param ensureHeld called before anything is sent; what it throws ends it. Default: nothing is in the way, and tries are few.
   */
  write(account: string, changes: WireChanges, ensureHeld?: () => void): Promise<WireOutcome>;
  /** As `CacheWriter.prune`: takes from the directory what applications do not have any more. */
  prune(account: string, applications: readonly string[]): Promise<readonly string[]>;
}

/** Whose changes come, and where to. */
export interface ReceivingAccount {
  readonly account: string;
  readonly cache: CacheStore;
}

/** Takes changes that another process has handed on, of whom nothing is believed. */
export interface ChangeReceiver {
  /**
   * Writes changes into the cache.
   *
   * @throws InvalidInputError naming index and field where one is none: then nothing is written.
   */
  write(place: ReceivingAccount, changes: WireChanges): Promise<WireOutcome>;
  /** Takes from the directory what applications do not have any more. @returns those to be looked at again */
  prune(place: ReceivingAccount, applications: readonly string[]): Promise<readonly string[]>;
}
