import type { Context, EventBridgeEvent } from 'aws-lambda';
import type { Logger } from '../../core/logger.ts';
import { runWithLogFields, toInvocationFields } from '../context/logger.ts';

/** A Lambda function that an EventBridge rule starts. */
export type ScheduleFunction = (event: EventBridgeEvent<string, unknown>, context: Context) => Promise<void>;

/** Makes a Lambda function of what a schedule does. Failures are logged and thrown: the rule's metrics count them. */
export function scheduleHandler<C extends { readonly log: Logger }>(
  open: () => C | Promise<C>,
  run: (context: C) => Promise<void>,
): ScheduleFunction {
  return async (_event, lambda) => {
    const context = await open();
    await runWithLogFields(toInvocationFields(lambda), async () => {
      try {
        await run(context);
      } catch (error) {
        context.log.error('scheduled run failed', { error });
        throw error;
      }
    });
  };
}
