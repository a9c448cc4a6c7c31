import { claimSchema } from '../../shared/agent-protocol/cache-messages.ts';
import { parseWith } from '../../shared/core/settings/coerce.ts';
import { cacheHandler } from '../../shared/runtime/http/agent-cache.ts';
import { claimCache } from '../../shared/runtime/http/agent-cache-lease.ts';

/** POST /agent/v1/caches/{account}/claims: takes the lease on keeping an account cached. */
export const handler = cacheHandler(async function claimAgentCache(call) {
  return claimCache(call, parseWith(claimSchema, call.request.parseJson(), ''));
});
