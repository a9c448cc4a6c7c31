import { Breaker } from '#core/breaker.ts';
import type { Clock } from '#core/clock.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import type { OperationQueue } from './operation-queue.ts';

/** A bus behind a circuit breaker: while it is unavailable calls fail at once. */
export function guardBus(bus: EventBus, clock: Pick<Clock, 'monotonic'>): EventBus {
  const breaker = new Breaker({ clock, subject: 'the event bus' });
  return { publish: (events) => breaker.run(() => bus.publish(events)) };
}

/** A queue with a circuit breaker for sending. Hiding messages has none: each message is one worker's own. */
export function guardQueue(queue: OperationQueue, clock: Pick<Clock, 'monotonic'>): OperationQueue {
  const breaker = new Breaker({ clock, subject: 'the queue of operations' });
  return {
    send: (message) => breaker.run(() => queue.send(message)),
    extendVisibility: (receiptHandle, seconds) => queue.extendVisibility(receiptHandle, seconds),
  };
}
