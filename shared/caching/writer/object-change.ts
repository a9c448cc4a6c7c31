import { getObjectName, type NamedObject } from '../store/object-names.ts';
import type { Revision } from '../store/revision.ts';

/** A change of an account's object. */
export interface ObjectChange<Facts = unknown> extends NamedObject {
  /** When it changed: the epoch and the object's position; for an object missing from a list, the list's. */
  readonly revision: Revision;
  /** When this was observed: the list's revision, or that up to which the stream was read; at least `revision`. */
  readonly seenAt: Revision;
  /** Undefined for an object that is gone or not kept any more. */
  readonly facts: Facts | undefined;
}

/** The latest change of each object. */
export function toLastChanges<Facts>(changes: readonly ObjectChange<Facts>[]): Iterable<ObjectChange<Facts>> {
  const last = new Map<string, ObjectChange<Facts>>();
  for (const change of changes) {
    const known = last.get(getObjectName(change));
    if (known === undefined || known.revision <= change.revision) last.set(getObjectName(change), change);
  }
  return last.values();
}

/** An object about to be written. */
export interface ExpectedObject<Facts> extends NamedObject {
  readonly facts?: Facts;
}

/** The outcome of a write. */
export interface WriteOutcome {
  /** Objects that changed in the cache. */
  readonly changes: number;
  /** Applications from which something was removed and that must be checked again at least five minutes later. */
  readonly waiting: readonly string[];
  /**
   * Readable names of what is too large to be cached or shown; usually empty. Objects by their full names (`replicaSet web-v003 in shop`),
   * applications (`application web`), and names of their clusters.
   */
  readonly dropped: readonly string[];
  /** Proof by a change that the platform went back in time, if all changes are from lists: see `findProof`. Usually undefined. */
  readonly proof: string | undefined;
}

/** Writes changes of objects into the cache: the objects, the rows of views, the directory of applications. */
export interface CacheWriter<Facts> {
  /**
   * Begins the reads that writing an object will need, while its writer waits for something else.
   *
   * @param object with its future facts; without them it is expected to keep its cached place.
   */
  expect(object: ExpectedObject<Facts>): Promise<void>;
  /**
   * Writes the last change of each object. Calls may be repeated, late and concurrent: the later revision stays.
   *
   * @param options.ensureHeld called before each write; an error that it throws ends the call. Default: does nothing.
   */
  write(
    changes: readonly ObjectChange<Facts>[],
    options?: { readonly ensureHeld?: () => void },
  ): Promise<WriteOutcome>;
  /**
   * Takes from the directory what applications do not have any more.
   *
   * @returns those that must be checked again at least five minutes later.
   */
  prune(applications: readonly string[]): Promise<readonly string[]>;
}
