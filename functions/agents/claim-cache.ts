import { cacheHandler } from '#agents/http/agent-cache.ts';
import { claimCache } from '#agents/http/agent-cache-lease.ts';
import { claimSchema } from '#agents/protocol/cache-messages.ts';
import { parseWith } from '#settings/coerce.ts';

/** POST /agent/v1/caches/{account}/claims: takes the lease on keeping an account cached. */
export const handler = cacheHandler(async function claimAgentCache(call) {
  return claimCache(call, parseWith(claimSchema, call.request.parseJson(), ''));
});
