import type { Revision } from '#caching/store/revision.ts';
import type { ObjectFacts } from '../rows/facts.ts';

/** What became of an object of an account. */
export interface ObjectChange {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  /** When it became so: the epoch and the object's resource version; of what a list lacks, that of the list. */
  readonly revision: Revision;
  /** When it was seen to be so: that of the list, or that up to which the stream was read; at least `revision`. */
  readonly seenAt: Revision;
  /** Undefined for what is gone, or is not kept any more. */
  readonly facts: ObjectFacts | undefined;
}

/** An object that is about to be written. */
export interface ExpectedObject extends Pick<ObjectChange, 'kind' | 'namespace' | 'name'> {
  readonly facts?: ObjectFacts;
}

/** What writing came to. */
export interface WriteOutcome {
  /** Objects that the cache has otherwise than before. */
  readonly changes: number;
  /** Applications from which something was removed that must be looked at again at least five minutes later. */
  readonly waiting: readonly string[];
  /**
   * What is too large to be cached, or to be shown, in words for people; mostly nothing. Objects by their full names
   * (`replicaSet web-v003 in shop`), applications (`application web`), and names of clusters of these.
   */
  readonly dropped: readonly string[];
  /**
   * What a change proved, if all of them are of lists, about a cluster that went back in time: see `findProof`. Undefined, mostly, when
   * nothing did.
   */
  readonly proof: string | undefined;
}

/** Writes what became of objects into the cache: the objects, the rows of views, the directory of applications. */
export interface CacheWriter {
  /**
   * Begins to read what writing an object will read, beside what its writer waits for meanwhile.
   *
   * @param object with the facts that it will have; without them it is expected to stand where what is cached of it does.
   */
  expect(object: ExpectedObject): Promise<void>;
  /**
   * Writes changes, of each object the last. It may be repeated, come late and run beside others: the later revision stays.
   *
   * @param options.ensureHeld called before each write; what it throws ends it. Default: nothing is in the way.
   */
  write(
    changes: readonly ObjectChange[],
    options?: { readonly ensureHeld?: () => void },
  ): Promise<WriteOutcome>;
  /**
   * Takes from the directory what applications do not have any more.
   *
   * @returns those that must be looked at again at least five minutes later.
   */
  prune(applications: readonly string[]): Promise<readonly string[]>;
}
