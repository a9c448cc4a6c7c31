import { type BackOff, retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import {
  type CacheStore,
  isThrottle,
  type ObjectKey,
  RowContendedError,
  type StoredObject,
} from '../store/cache-store.ts';
import { getObjectName, type NamedObject } from '../store/object-names.ts';
import type { WritePace } from '../store/write-pace.ts';
import type { CacheModel } from './cache-model.ts';

/** The parts of a cache writer. */
export interface CacheWriterOptions<Facts = unknown> {
  /** For reading row by row; everything else uses `WriterContext.call`. */
  readonly cache: CacheStore;
  /** Name of the account. */
  readonly account: string;
  readonly model: CacheModel<Facts>;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** The tools of one call of the writer. */
export interface WriterContext<Facts = unknown> extends CacheWriterOptions<Facts> {
  /** Calls the cache: see {@link createCaller}. */
  readonly call: <T>(send: (cache: CacheStore) => Promise<T>) => Promise<T>;
  /** Collects the full names of what was too large. */
  readonly dropped: Set<string>;
  /** What changes proved: see {@link WriteOutcome.proof}. */
  proof: string | undefined;
}

/** The cached state of an object. */
export interface KnownObject<Facts> {
  readonly stored: StoredObject;
  /** Undefined if they have another version of their form. */
  readonly facts: Facts | undefined;
}

/** Concurrent requests of one call of the writer. */
export const writingConcurrency = 16;

const triesMax = 4;
/** 200 ms, then 400, then 600, each plus or minus half. */
const backOff: BackOff = { firstMs: 300, fixedShare: 1 / 3, growth: 'linear' };
/** Tries of a call that the store throttles, and the pauses between them: 8 to 15 seconds in total. */
const throttled = { triesMax: 6, backOff: { firstMs: 500, fixedShare: 0.5 } };
/** The same for the holder of a lease, whose time is unlimited: otherwise the next run would list and write the same again. */
const throttledHolder = {
  triesMax: Number.POSITIVE_INFINITY,
  backOff: { firstMs: 200, mostMs: 5_000, growth: 'linear', fixedShare: 0.5 } satisfies BackOff,
};

/** How a writer calls the cache. */
export interface CallerOptions {
  readonly pace: WritePace;
  /** Throws once the writer must stop: until then it waits out throttles. Default: it never must, but gives up after some tries. */
  readonly ensureHeld?: (() => void) | undefined;
}

/**
 * Creates the function with which a writer calls the cache: it starts nothing once the writer must stop, paces itself, and waits out
 * throttles. The client's own retries end within seconds, and a list of thousands of objects exceeds a partition's throughput until each of
 * its writers waits. Only callers that wait for the cache wait for a writer.
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
export function toObjectKey(account: string, { kind, location, name }: NamedObject): ObjectKey {
  return { account, kind, location, name };
}

/** The cached state of these objects, by their names. Missing objects have no member. */
export async function readKnownObjects<Facts>(
  { call, model }: Pick<WriterContext<Facts>, 'call' | 'model'>,
  keys: readonly ObjectKey[],
): Promise<Map<string, KnownObject<Facts>>> {
  const known = new Map<string, KnownObject<Facts>>();
  if (keys.length === 0) return known;
  for (const stored of await call((cache) => cache.getObjects(keys, { toWrite: true }))) {
    if (stored === undefined) continue;
    known.set(getObjectName(stored.key), { stored, facts: model.decode(stored.readBody()) });
  }
  return known;
}

/** Retries writes that met concurrent ones, a few times, after pauses of random length. */
export async function untilWritten<T>(
  { call, clock, randomness }: Pick<WriterContext, 'call' | 'clock' | 'randomness'>,
  write: (cache: CacheStore) => Promise<T>,
): Promise<T> {
  const isRetryable = (error: unknown): boolean => error instanceof RowContendedError;
  return retry({ backOff, triesMax, clock, randomness, isRetryable }, () => call(write));
}
