import { apiHandler, ok } from '../../../shared/runtime/api-handler.ts';
import { openBaseContext } from '../../../shared/runtime/base-context.ts';

/**
 * Maps, by provider, of what only providers have that are not there:
 *
 * - GET /certificates
 * - GET /networks
 */
export const handler = apiHandler(openBaseContext, async function mapNothing() {
  return ok({});
});
