import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openBaseContext } from '../../../shared/runtime/base-context.ts';

/** GET /health: up as long as functions run; sick accounts do not change it, and no cluster is called. */
export const handler = apiHandler(openBaseContext, async function getHealth() {
  return ok({ status: 'UP' });
});
