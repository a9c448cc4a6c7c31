import {
  type CacheStore,
  type ObjectKey,
  RowContendedError,
  type StoredObject,
} from '../../../core/cache/cache-store.ts';
import type { Clock, Randomness } from '../../../core/clock.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { decodeFacts } from '../rows/facts-codec.ts';
import { getRowName } from '../rows/row-names.ts';

/** What the writer needs of an account. */
export type WritingAccount = Pick<KubernetesAccount, 'name' | 'kindRegistry'> & {
  readonly caching: Pick<KubernetesAccount['caching'], 'allApplicationRelationships'>;
};

/** The part of the cache that the writer uses. */
export type WritingStore = Pick<
  CacheStore,
  | 'putObject'
  | 'deleteObject'
  | 'getObjects'
  | 'mergeRows'
  | 'getRow'
  | 'listRows'
  | 'noteApplication'
  | 'pruneApplication'
>;

/** What one call of the writer works with. */
export interface Writing {
  readonly cache: WritingStore;
  readonly account: WritingAccount;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Collects what was too large, by full name. */
  readonly dropped: Set<string>;
  /** Collects what changes prove: see {@link WriteOutcome.proof}. */
  readonly proofs: string[];
}

/** What is cached of an object. */
export interface KnownObject {
  readonly stored: StoredObject;
  /** Undefined where they are of another version of their form. */
  readonly facts: ObjectFacts | undefined;
}

/** Requests of one call of the writer that are under way at a time. */
export const writingConcurrency = 16;

const attemptsMax = 4;
const pauseMs = 200;

/** The same store, which begins nothing that the writer may not do any more. @param ensureHeld throws when it may not */
export function fence(cache: CacheStore, ensureHeld: () => void): WritingStore {
  const use = (): CacheStore => {
    ensureHeld();
    return cache;
  };
  return {
    putObject: async (...call) => use().putObject(...call),
    deleteObject: async (...call) => use().deleteObject(...call),
    getObjects: async (...call) => use().getObjects(...call),
    mergeRows: async (...call) => use().mergeRows(...call),
    getRow: async (...call) => use().getRow(...call),
    listRows: (...call) => use().listRows(...call),
    noteApplication: async (...call) => use().noteApplication(...call),
    pruneApplication: async (...call) => use().pruneApplication(...call),
  };
}

/** The key of an object of the account. */
export function toObjectKey(
  { name: account }: Pick<WritingAccount, 'name'>,
  { kind, namespace, name }: Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>,
): ObjectKey {
  return { account, kind, namespace, name };
}

/** What is cached of these objects now, by the names of their rows. What is not there has no member. */
export async function readKnownObjects(
  { cache }: Pick<Writing, 'cache'>,
  keys: readonly ObjectKey[],
): Promise<Map<string, KnownObject>> {
  const known = new Map<string, KnownObject>();
  if (keys.length === 0) return known;
  for (const stored of await cache.getObjects(keys, { consistent: true })) {
    if (stored === undefined) continue;
    known.set(getRowName(stored.key), { stored, facts: decodeFacts(stored.readBody()) });
  }
  return known;
}

/** Repeats what others kept from being written, a few times, after pauses of random length. */
export async function untilWritten<T>(
  { clock, randomness }: Pick<Writing, 'clock' | 'randomness'>,
  write: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof RowContendedError) || attempt === attemptsMax) throw error;
      await clock.sleep(pauseMs * attempt * (0.5 + randomness.fraction()));
    }
  }
}
