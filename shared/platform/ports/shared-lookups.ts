import { getLongestPauseMs, getPauseMs, getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import {
  type Lookup,
  type LookupKey,
  type LookupStore,
  lookupReasonMax,
  lookupValueMax,
  ServiceBusyError,
} from './lookup.ts';

/** An answer, and when it was given. */
export interface Found {
  readonly value: string;
  /** Wall time in milliseconds. */
  readonly asOfMs: number;
}

/** What to find. */
export interface LookupRequest {
  readonly key: LookupKey;
  /** Its name in the log: `the EKS cluster "shop"`. */
  readonly what: string;
  /** Prepares what each process needs itself to ask, before it makes others wait. */
  readonly prepare: () => Promise<unknown>;
  /** Asks the service. @throws ServiceBusyError where the same request may be answered later, any other error where not. */
  readonly ask: () => Promise<string>;
  /** An answer that did not work: only a later one will do. Default: any will. */
  readonly doubted?: Pick<Found, 'asOfMs'> | undefined;
}

interface SharedLookupsOptions {
  readonly store: LookupStore;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
}

/** Milliseconds after which an answer in use is asked for again, give or take a fifth: a day. */
export const lookupLifetimeMs = 24 * 3_600_000;

/** Milliseconds for which no other process asks: a request, with its wait for a turn, takes no longer unless its process died. */
export const lookupClaimMs = 12_000;

/** Milliseconds to wait for an answer that another process asks for, or that a busy service may still give; longer than a claim. */
export const lookupTimeoutMs = 15_000;

/** Milliseconds after an answer, and after a refusal, in which no process asks again … */
export const lookupPauseMs = 10_000;

/** … and at most, while the same answer keeps being doubted, or the service is busy. */
export const lookupPauseMsMax = 120_000;

/** Pauses before a busy service is asked again. */
const busyBackOff = { firstMs: 1_000, mostMs: lookupPauseMsMax, fixedShare: 0.5 };

/** Milliseconds after which a doubted answer is no repetition of the one before. */
const repeatMs = 600_000;

/** Pauses between two reads of another process's answer: 100 ms at first and a second at last, give or take half. */
const pollBackOff = { firstMs: 150, mostMs: 1_500, fixedShare: 1 / 3 };

/**
 * One process at a time asks an AWS service for a fact, and all others read its answer: the services allow few such requests a second.
 * While the service is busy or unavailable, its last answer stays in use. Without the store, each process asks for itself.
 */
export class SharedLookups {
  readonly #options: SharedLookupsOptions;
  /** By key, and by what is doubted: simultaneous equal requests share the answer. */
  readonly #pending = new Map<string, Promise<Found>>();

  constructor(options: SharedLookupsOptions) {
    this.#options = options;
  }

  /** The known answer, or else a new one. @throws what `prepare` and `ask` throw, here or in the process that asked a moment ago. */
  find(request: LookupRequest): Promise<Found> {
    const id = JSON.stringify([request.key, request.doubted?.asOfMs]);
    const pending = this.#pending.get(id) ?? this.#find(request).finally(() => this.#pending.delete(id));
    this.#pending.set(id, pending);
    return pending;
  }

  async #find(request: LookupRequest): Promise<Found> {
    const { clock, randomness } = this.#options;
    const patientUntilMs = clock.monotonic() + lookupTimeoutMs;
    for (let looks = 1; ; looks += 1) {
      const seen = await this.#unlessAway(() => this.#options.store.find(request.key));
      if (seen === 'away') return this.#askAlone(request);
      const found = this.#select(request, seen);
      if (found !== undefined) return found;
      const waitMs = (seen?.notBeforeMs ?? 0) - clock.now();
      const isPatient = clock.monotonic() < patientUntilMs;
      if (waitMs <= 0) {
        const answer = await this.#claim(request, seen).catch((error: unknown) => {
          if (!isPatient || isHopeless(request, error)) throw error;
        });
        if (answer !== undefined) return answer;
      } else if (!isPatient || isHopeless(request, toError(request, seen))) {
        throw toError(request, seen);
      }
      const pauseMs = getPauseMs(pollBackOff, looks, randomness);
      await clock.sleep(waitMs > 0 ? Math.min(pauseMs, waitMs) : pauseMs);
    }
  }

  /** The known answer, if it suffices. An old one is asked for again in the background. */
  #select(request: LookupRequest, seen: Lookup | undefined): Found | undefined {
    if (seen?.value === undefined) return undefined;
    const { clock, randomness } = this.#options;
    const now = clock.now();
    const found = { value: seen.value, asOfMs: seen.asOfMs };
    if (request.doubted !== undefined) {
      const isLater = seen.asOfMs > request.doubted.asOfMs;
      return isLater || (seen.state === 'answered' && now < seen.notBeforeMs) ? found : undefined;
    }
    const isOld = now - seen.asOfMs >= getRandomMs(1.2 * lookupLifetimeMs, randomness, 2 / 3);
    if (isOld && now >= seen.notBeforeMs) void this.#renew(request, seen);
    return found;
  }

  /** Never rejects. */
  async #renew(request: LookupRequest, seen: Lookup): Promise<void> {
    try {
      await this.#claim(request, seen);
    } catch (error) {
      this.#options.log.warn('what is known of an account in AWS cannot be renewed, and stays in use', {
        what: request.what,
        error: getErrorMessage(error),
      });
    }
  }

  /** The answer; undefined when another process asks. */
  async #claim(request: LookupRequest, seen: Lookup | undefined): Promise<Found | undefined> {
    await request.prepare();
    const { store, clock } = this.#options;
    const next = { ...toBase(seen), state: 'asking', notBeforeMs: clock.now() + lookupClaimMs } as const;
    const claimed = await this.#unlessAway(() => store.replace(request.key, { seen, next }));
    if (claimed === 'away') return this.#askAlone(request);
    return claimed && this.#ask(request, claimed);
  }

  async #ask(request: LookupRequest, claimed: Lookup): Promise<Found> {
    try {
      const value = await request.ask();
      const asOfMs = this.#options.clock.now();
      await this.#tell(request, claimed, toAnswered(claimed, { value, asOfMs }));
      return { value, asOfMs };
    } catch (error) {
      await this.#tell(request, claimed, this.#toFailed(claimed, error));
      throw error;
    }
  }

  #toFailed(claimed: Lookup, error: unknown): Omit<Lookup, 'versionNumber'> {
    const { clock, randomness } = this.#options;
    const isBusy = error instanceof ServiceBusyError;
    const busyMs = getPauseMs(busyBackOff, claimed.repeats + 1, randomness);
    return {
      ...toBase(claimed),
      state: isBusy ? 'busy' : 'refused',
      reason: getErrorMessage(error).slice(0, lookupReasonMax),
      repeats: isBusy ? claimed.repeats + 1 : 0,
      notBeforeMs: clock.now() + (isBusy ? Math.ceil(busyMs) : lookupPauseMs),
    };
  }

  /** Shares an answer; the answer counts even if that fails. */
  async #tell({ key }: LookupRequest, seen: Lookup, next: Omit<Lookup, 'versionNumber'>): Promise<void> {
    await this.#unlessAway(() => this.#options.store.replace(key, { seen, next }));
  }

  async #askAlone({ prepare, ask }: LookupRequest): Promise<Found> {
    await prepare();
    return { value: await ask(), asOfMs: this.#options.clock.now() };
  }

  async #unlessAway<T>(call: () => Promise<T>): Promise<T | 'away'> {
    try {
      return await call();
    } catch (error) {
      this.#options.log.warn('what is known of accounts in AWS cannot be shared', {
        error: getErrorMessage(error),
      });
      return 'away';
    }
  }
}

/** Whether no answer can come in the caller's time. A caller with a doubted answer has less of it. */
function isHopeless({ doubted }: LookupRequest, error: unknown): boolean {
  if (error instanceof StillAskingError) return false;
  return doubted !== undefined || !(error instanceof ServiceBusyError);
}

/** Another process asks. */
class StillAskingError extends Error {
  override name = 'StillAskingError';
}

/** The error for an outcome that another process stored. */
function toError({ what }: LookupRequest, seen: Lookup | undefined): Error {
  if (seen?.state === 'refused') return new Error(seen.reason);
  if (seen?.state === 'busy') return new ServiceBusyError(seen.reason);
  return new StillAskingError(`${what}: another process asks for it, and has no answer yet`);
}

function toBase(seen: Lookup | undefined): Omit<Lookup, 'versionNumber' | 'state' | 'notBeforeMs'> {
  const { value, asOfMs = 0, reason = '', repeats = 0 } = seen ?? {};
  return { value, asOfMs, reason, repeats };
}

function toAnswered(before: Lookup, { value, asOfMs }: Found): Omit<Lookup, 'versionNumber'> {
  const isRepeat = value === before.value && asOfMs - before.asOfMs < repeatMs;
  const repeats = isRepeat ? before.repeats + 1 : 0;
  const pauseMs = getLongestPauseMs({ firstMs: lookupPauseMs, mostMs: lookupPauseMsMax }, repeats + 1);
  // Too large to be shared: the next process asks for itself.
  const kept = value.length <= lookupValueMax ? value : undefined;
  const notBeforeMs = kept === undefined ? 0 : asOfMs + pauseMs;
  return { state: 'answered', value: kept, asOfMs, notBeforeMs, reason: '', repeats };
}
