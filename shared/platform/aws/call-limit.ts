import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { within } from '#core/deadline.ts';

/** How patient calls of a client are. */
export interface CallTimeouts {
  /** Milliseconds until a connection is there. */
  readonly connectMs: number;
  /** Milliseconds of one try. */
  readonly tryMs: number;
  /** Tries of one call. */
  readonly triesMax: number;
  /** Milliseconds of a call with all its tries, the pauses between them, and the reading of the answer. */
  readonly callMs: number;
  /** Milliseconds between two tries at most, a random part of which is waited; left out, the SDK's own, which grows to seconds. */
  readonly pauseMs?: number;
}

/** Repeats what may pass, after random pauses that do not grow: the whole call is to be short. */
export function createRetryStrategy(
  { triesMax, pauseMs = 0 }: Pick<CallTimeouts, 'triesMax' | 'pauseMs'>,
  randomness: Pick<Randomness, 'fraction'>,
): ConfiguredRetryStrategy {
  return new ConfiguredRetryStrategy(triesMax, () => Math.floor(getRandomMs(pauseMs, randomness)));
}

/** As far as a client's way of sending can be changed. */
interface AdjustableClient {
  readonly middlewareStack: {
    add(
      middleware: <I extends object, O>(next: (args: I) => Promise<O>) => (args: I) => Promise<O>,
      options: { step: 'initialize'; priority: 'high'; name: string },
    ): void;
  };
}

/** Milliseconds that a process may count against a call at once: where its loop stood still for longer, the call did not take that long. */
const countedMs = 500;

/**
 * Ends each call of a client when its time is over, whatever it waits for: a try, the rest of an answer, credentials.
 *
 * @returns the client. Its calls throw a TimeoutError then.
 */
export function limitCalls<C extends AdjustableClient>(
  client: C,
  { callMs, clock }: Pick<CallTimeouts, 'callMs'> & { readonly clock: Pick<Clock, 'sleep'> },
): C {
  const patient = { sleep: (ms: number, signal?: AbortSignal) => sleepCounted(clock, ms, signal) };
  client.middlewareStack.add(
    (next) => (args) => within(patient, { ms: callMs, what: 'a call of an AWS service' }, () => next(args)),
    { step: 'initialize', priority: 'high', name: 'limitCalls' },
  );
  return client;
}

async function sleepCounted(clock: Pick<Clock, 'sleep'>, ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0; left -= countedMs) await clock.sleep(Math.min(left, countedMs), signal);
}
