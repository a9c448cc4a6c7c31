import { cacheHandler } from '#agents/http/agent-cache.ts';
import { keepCache } from '#agents/http/agent-cache-lease.ts';
import { cacheProgressMessageSchema } from '#agents/protocol/cache-messages.ts';
import { parseWith } from '#settings/coerce.ts';

/** PUT /agent/v1/caches/{account}/claims: keeps the lease, tells how far the cache has come, or ends it. */
export const handler = cacheHandler(async function keepAgentCache(call) {
  return keepCache(call, parseWith(cacheProgressMessageSchema, call.request.parseJson(), ''));
});
