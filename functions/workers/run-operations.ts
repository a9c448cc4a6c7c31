import { processHint } from '../../shared/core/process-hint.ts';
import { openOperationsContext } from '../../shared/runtime/operations-context.ts';
import { queueHandler } from '../../shared/runtime/queue-handler.ts';

/** Queue `operations`: runs the task that each message names. */
export const handler = queueHandler(openOperationsContext, async function runOperations(message, context) {
  await processHint(context, message, {
    findOperation: (provider, name) => context.providers.findOperation(provider, name),
    stop: message.stop,
  });
});
