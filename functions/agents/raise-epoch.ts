import { cacheHandler, raiseEpoch } from '#agents/http/agent-cache.ts';
import { epochSchema } from '#agents/protocol/cache-messages.ts';
import { ok } from '#http/api-handler.ts';
import { parseWith } from '#settings/coerce.ts';

/** PUT /agent/v1/caches/{account}/epoch: raises the epoch, for the cluster is another one or has gone back in time. */
export const handler = cacheHandler(async function raiseAgentEpoch(call) {
  return ok(await raiseEpoch(call, parseWith(epochSchema, call.request.parseJson(), '')));
});
