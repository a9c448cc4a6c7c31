import {
  type CacheStore,
  isThrottle,
  type ObjectKey,
  RowContendedError,
  type StoredObject,
} from '#caching/store/cache-store.ts';
import type { WritePace } from '#caching/store/write-pace.ts';
import { type BackOff, retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { decodeFacts } from '../rows/facts-codec.ts';
import { getRowName } from '../rows/row-names.ts';

/** What the writer needs of an account. */
export type WriterAccount = Pick<KubernetesAccount, 'name' | 'kindRegistry'> & {
  readonly caching: Pick<KubernetesAccount['caching'], 'allApplicationRelationships'>;
};

/** What one call of the writer works with. */
export interface WriterContext {
  /** For reading row by row; all else is done by `call`. */
  readonly cache: CacheStore;
  /** Calls the cache: see {@link createCaller}. */
  readonly call: <T>(send: (cache: CacheStore) => Promise<T>) => Promise<T>;
  readonly account: WriterAccount;
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

const triesMax = 4;
/** 200 ms, then 400, then 600, each give or take half. */
const backOff: BackOff = { firstMs: 300, fixedShare: 1 / 3, growth: 'linear' };
/** Tries of a call that the store refuses for being asked too much, and the pauses between them: 8 to 15 seconds in all. */
const throttled = { triesMax: 6, backOff: { firstMs: 500, fixedShare: 0.5 } };
/** The same for who holds a lease, and so has all the time that there is: what a list has must be written, and the next run would begin with it again. */
const throttledHolder = {
  triesMax: Number.POSITIVE_INFINITY,
  backOff: { firstMs: 200, mostMs: 5_000, growth: 'linear', fixedShare: 0.5 } satisfies BackOff,
};

/** How a writer calls the cache. */
export interface CallerOptions {
  readonly pace: WritePace;
  /** Throws when the writer may not do anything any more: until then throttles are waited out. Default: it may always, and gives up after some tries. */
  readonly ensureHeld?: (() => void) | undefined;
}

/**
 * Makes what calls the cache for a writer: it begins nothing that the writer may not do any more, paces itself, and waits throttles out. The client's own
 * repeats are over within seconds, and a list of thousands of objects asks for more than a partition gives until each of its writers
 * waits. Nobody waits for a writer but those who wait for the cache.
 */
export function createCaller(
  { cache, clock, randomness }: Pick<WriterContext, 'cache' | 'clock' | 'randomness'>,
  { pace, ensureHeld }: CallerOptions,
): WriterContext['call'] {
  const tries = ensureHeld === undefined ? throttled : throttledHolder;
  return (send) =>
    retry({ ...tries, clock, randomness, isRetryable: isThrottle }, () =>
      pace.run(async () => {
        ensureHeld?.();
        return send(cache);
      }),
    );
}

/** The key of an object of the account. */
export function toObjectKey(
  { name: account }: Pick<WriterAccount, 'name'>,
  { kind, namespace, name }: Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>,
): ObjectKey {
  return { account, kind, namespace, name };
}

/** What is cached of these objects now, by the names of their rows. What is not there has no member. */
export async function readKnownObjects(
  { call }: Pick<WriterContext, 'call'>,
  keys: readonly ObjectKey[],
): Promise<Map<string, KnownObject>> {
  const known = new Map<string, KnownObject>();
  if (keys.length === 0) return known;
  for (const stored of await call((cache) => cache.getObjects(keys, { toWrite: true }))) {
    if (stored === undefined) continue;
    known.set(getRowName(stored.key), { stored, facts: decodeFacts(stored.readBody()) });
  }
  return known;
}

/** Repeats what others kept from being written, a few times, after pauses of random length. */
export async function untilWritten<T>(
  { call, clock, randomness }: Pick<WriterContext, 'call' | 'clock' | 'randomness'>,
  write: (cache: CacheStore) => Promise<T>,
): Promise<T> {
  const isRetryable = (error: unknown): boolean => error instanceof RowContendedError;
  return retry({ backOff, triesMax, clock, randomness, isRetryable }, () => call(write));
}
