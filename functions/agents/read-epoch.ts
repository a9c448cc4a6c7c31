import { cacheHandler, readEpoch } from '#agents/http/agent-cache.ts';
import { ok } from '#http/api-handler.ts';

/** GET /agent/v1/caches/{account}/epoch: the epoch in force, and which kinds are cached. */
export const handler = cacheHandler(async function readAgentEpoch(call) {
  return ok(await readEpoch(call));
});
