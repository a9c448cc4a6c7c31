import { isThrottle } from '../../../core/cache/cache-store.ts';
import type { Clock, Randomness } from '../../../core/clock.ts';
import type { WritingStore } from './writing.ts';

/** Pauses after which a call is made again that the store refused for being asked too much, milliseconds, less up to a half. */
const pausesMs = [500, 1_000, 2_000, 4_000, 8_000] as const;

/**
 * The same store, which waits throttles out: the client's own repeats are over within seconds, and a list of thousands of objects
 * asks for more than a partition gives until each of its writers waits. Nobody waits for a writer but those who wait for the cache.
 */
export function waitOutThrottles(
  store: WritingStore,
  { clock, randomness }: { readonly clock: Clock; readonly randomness: Randomness },
): WritingStore {
  const untilServed = async <T>(call: () => Promise<T>): Promise<T> => {
    for (const pauseMs of pausesMs) {
      try {
        return await call();
      } catch (error) {
        if (!isThrottle(error)) throw error;
        await clock.sleep(pauseMs * (0.5 + randomness.fraction() / 2));
      }
    }
    return call();
  };
  return {
    putObject: (...call) => untilServed(() => store.putObject(...call)),
    deleteObject: (...call) => untilServed(() => store.deleteObject(...call)),
    getObjects: (...call) => untilServed(() => store.getObjects(...call)),
    mergeRows: (...call) => untilServed(() => store.mergeRows(...call)),
    getRow: (...call) => untilServed(() => store.getRow(...call)),
    listRows: (...call) => store.listRows(...call),
    noteApplication: (...call) => untilServed(() => store.noteApplication(...call)),
    pruneApplication: (...call) => untilServed(() => store.pruneApplication(...call)),
  };
}
