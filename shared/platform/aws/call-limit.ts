import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { within } from '#core/deadline.ts';

/** Time-outs and retries of a client's calls. */
export interface CallTimeouts {
  /** Milliseconds until it is connected. */
  readonly connectMs: number;
  /** Milliseconds of one try. */
  readonly tryMs: number;
  /** Tries of one call. */
  readonly triesMax: number;
  /** Milliseconds of a call with all its tries, the pauses between them, and reading the answer. */
  readonly callMs: number;
  /** Milliseconds between two tries at most, of which it waits a random part; left out, the SDK's own, which grow to seconds. */
  readonly pauseMs?: number;
}

/** Retries passing failures, after random pauses that do not grow: the whole call must be short. */
export function createRetryStrategy(
  { triesMax, pauseMs = 0 }: Pick<CallTimeouts, 'triesMax' | 'pauseMs'>,
  randomness: Pick<Randomness, 'fraction'>,
): ConfiguredRetryStrategy {
  return new ConfiguredRetryStrategy(triesMax, () => Math.floor(getRandomMs(pauseMs, randomness)));
}

/** The part of a client through which its sending can be changed. */
interface AdjustableClient {
  readonly middlewareStack: {
    add(
      middleware: <I extends object, O>(next: (args: I) => Promise<O>) => (args: I) => Promise<O>,
      options: { step: 'initialize'; priority: 'high'; name: string },
    ): void;
  };
}

/** Milliseconds counted against a call at a time at most: if its process stood still for longer, the call did not take that long. */
const countedMs = 500;

/** Ends each call of a client when its time is over, whatever it waits for. @returns the client: its calls then throw a TimeoutError */
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
