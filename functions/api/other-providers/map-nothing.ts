import { openBaseContext } from '../../../shared/runtime/base-context.ts';
import { ok, openHandler } from '../../../shared/runtime/open-handler.ts';

/**
 * Maps, by provider, of what only providers have that are not there:
 *
 * - GET /certificates
 * - GET /networks
 */
export const handler = openHandler(openBaseContext, async function mapNothing() {
  return ok({});
});
