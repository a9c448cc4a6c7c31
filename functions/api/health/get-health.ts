import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openTaskContext } from '../../../shared/runtime/task-context.ts';

/** GET /health: up as long as functions run; sick accounts do not change it, and no cluster is called. */
export const handler = apiHandler(openTaskContext, async function getHealth() {
  return ok({ status: 'UP' });
});
