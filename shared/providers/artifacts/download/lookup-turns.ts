import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { createConcurrencyLimit } from '#core/concurrency.ts';

/**
 * Look-ups of names at a time in the whole process. Until the name's servers answer, and some never do, each occupies one of the four
 * threads that file reads and decompression share.
 */
export const lookupsPerProcessMax = 2;

/** Look-ups of names at a time for one account. An account that waits for silent servers leaves the process another turn. */
export const lookupsPerAccountMax = 1;

/** Runs work when its turn comes, first come, first served. */
export interface Turns {
  /**
   * @param isPast returns whether no caller waits for the work any more: then it is not started.
   * @throws what the work throws, and an error with the code `ETIMEDOUT` for work that is not started.
   */
  run<T>(work: () => Promise<T>, isPast: () => boolean): Promise<T>;
}

/** Turns of which `turnsMax` are taken at a time. */
export function createTurns(turnsMax: number): Turns {
  const limit = createConcurrencyLimit(turnsMax);
  return {
    run: (work, isPast) =>
      limit(async () => {
        if (isPast()) throw Object.assign(new Error('The turn came too late'), { code: 'ETIMEDOUT' });
        return work();
      }),
  };
}

const turnsOfProcess = createTurns(lookupsPerProcessMax);

/** Asks the system's resolver for every address of a name. */
type LookUp = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * The system's resolver for one account, taking turns with other accounts.
 *
 * @param timeoutMs how long callers wait for an answer: a look-up whose turn comes later is skipped.
 */
export function createSystemResolver(timeoutMs: number): LookUp {
  const turnsOfAccount = createTurns(lookupsPerAccountMax);
  return (hostname) => {
    const startedAtMs = performance.now();
    const isPast = () => performance.now() - startedAtMs > timeoutMs;
    return turnsOfAccount.run(
      () => turnsOfProcess.run(() => lookup(hostname, { all: true }), isPast),
      isPast,
    );
  };
}
