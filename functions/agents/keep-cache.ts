import { cacheProgressMessageSchema } from '../../shared/agent-protocol/cache-messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { cacheHandler } from '../../shared/runtime/http/agent-cache.ts';
import { keepCache } from '../../shared/runtime/http/agent-cache-lease.ts';

/** PUT /agent/v1/caches/{account}/claims: keeps the lease, tells how far the cache has come, or ends it. */
export const handler = cacheHandler(async function keepAgentCache(call) {
  return keepCache(call, parseWith(cacheProgressMessageSchema, call.request.parseJson(), ''));
});
