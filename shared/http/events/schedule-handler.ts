import type { Context, EventBridgeEvent } from 'aws-lambda';
import type { Logger } from '#core/logger.ts';
import { makeFunction, type ServiceFunction } from '#platform/services/function.ts';
import { runWithLogFields, toInvocationFields } from '#platform/services/logger.ts';
import type { Services } from '#platform/services/services.ts';

/** A Lambda function that an EventBridge rule starts. */
export type ScheduleFunction = ServiceFunction<
  (event: EventBridgeEvent<string, unknown>, context: Context) => Promise<void>
>;

/**
 * Makes a Lambda function from a schedule's logic. Failures are logged and thrown: the rule's metrics count them.
 *
 * @param run also receives the event: a turn of the schedule, or one of our own events
 */
export function scheduleHandler<C extends { readonly log: Logger }>(
  open: (services: Services) => C | Promise<C>,
  run: (services: C, event: EventBridgeEvent<string, unknown>) => Promise<void>,
): ScheduleFunction {
  return makeFunction((all) => async (event, lambda) => {
    const services = await open(all);
    await runWithLogFields(toInvocationFields(lambda), async () => {
      try {
        await run(services, event);
      } catch (error) {
        services.log.error('scheduled run failed', { error });
        throw error;
      }
    });
  });
}
