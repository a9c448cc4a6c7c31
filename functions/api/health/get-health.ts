import { openBaseContext } from '../../../shared/runtime/context/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/http/open-handler.ts';

/** GET /health: up as long as functions run; sick accounts do not change it, and no cluster is called. */
export const handler = openHandler(openBaseContext, async function getHealth() {
  return ok({ status: 'UP' });
});
