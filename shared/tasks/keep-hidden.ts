import type { Clock } from '#core/clock.ts';
import { waits, within } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { OperationQueue } from './operation-queue.ts';
import { leaseDurationMs } from './task.ts';

/** What hiding a message needs. */
export interface HidingSystem {
  readonly queue: Pick<OperationQueue, 'extendVisibility'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Seconds that a message stays hidden after its worker's last sign of life. */
const visibilitySeconds = 60;

/** Milliseconds between two signs of life: as often as a lease is renewed. */
const beatMs = leaseDurationMs / 4;

/** Milliseconds that each call may take. */
const hideMs = 5_000;

/**
 * Keeps a received message hidden until disposed. It is independent of the worker's lease: while the queue is unavailable the message may
 * come again, without effect, since the task is held.
 */
export function keepHidden(system: HidingSystem, receiptHandle: string): Disposable {
  const stopped = new AbortController();
  void beat();
  return { [Symbol.dispose]: () => stopped.abort() };

  async function beat(): Promise<void> {
    while (await waits(system.clock, beatMs, stopped.signal)) {
      await hideMessage(system, receiptHandle, visibilitySeconds);
    }
  }
}

/** Hides a received message for this many seconds from now. Never rejects: on failure it comes back when it would have anyway. */
export async function hideMessage(
  { queue, clock, log }: HidingSystem,
  receiptHandle: string,
  seconds: number,
): Promise<void> {
  const deadline = { ms: hideMs, what: 'hiding a message' };
  try {
    await within(clock, deadline, () => queue.extendVisibility(receiptHandle, seconds));
  } catch (error) {
    log.warn('the visibility of a message could not be changed', { cause: getErrorMessage(error) });
  }
}
